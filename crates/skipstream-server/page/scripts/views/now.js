// What the service is learning at this moment.

import { ask } from "../api.js";
import { curve, sparkline } from "../charts/curve.js";
import { h, replace, section, wordLink } from "../dom.js";
import { ago, bytes, many, number, short } from "../format.js";
import { live } from "../live.js";
import { start } from "./start.js";

const mostArrived = 60;
const mostGone = 12;
const freshFor = 6000;

// Remembered across views, so that nothing is missed while another one is open. The newest come first.
/** @type {string[]} */
let arrived = [];
/** @type {string[]} */
let gone = [];
let nArrived = 0;

live.on("arrived", ({ n, words }) => {
  nArrived += n;
  arrived = [...new Set([...words, ...arrived])].slice(0, mostArrived);
});
live.on("evicted", ({ words }) => {
  gone = [...words, ...gone].slice(0, mostGone);
});

/** @param {import("../views.js").Context} context */
export function now({ root, signal }) {
  let shown = "";
  const show = () => {
    if (live.stats === null) return;
    const isEmpty = live.stats.logged === 0 && (live.stats.snapshot?.vocabulary ?? 0) === 0;
    const wanted = isEmpty ? "start" : "figures";
    if (wanted === shown) return;
    shown = wanted;
    if (isEmpty) start(root);
    else
      replace(
        root,
        h("h1.unseen", "Learning now"),
        figures(signal),
        h("div.now", lossSection(signal), newWords(signal)),
      );
  };
  show();
  live.on("stats", show, signal);
}

/**
 * Calls a function with the statistics, now and whenever they change.
 * @param {(stats: import("../live.js").Stats) => void} update
 * @param {AbortSignal} signal
 */
function follow(update, signal) {
  const call = () => live.stats && update(live.stats);
  call();
  live.on("stats", call, signal);
}

/** @param {AbortSignal} signal */
function figures(signal) {
  const rateChart = h("div.chart");
  const [usedVocabulary, usedQueue] = [level(), level()];
  const rate = figure("Words per second", rateChart);
  const loss = figure("Loss");
  const vocabulary = figure("Vocabulary", usedVocabulary.root);
  const queue = figure("Queue", usedQueue.root);
  const lines = figure("Lines learned");
  const describe = (/** @type {unknown[]} */ rates) => `Words per second over the last ${rates.length} seconds`;
  const drawRate = sparkline(rateChart, { signal, describe });

  follow((stats) => {
    rate.show(short(stats.words_per_second));
    drawRate(live.rates);
    loss.show(typeof stats.loss === "number" ? stats.loss.toFixed(3) : "–", `${many(stats.words, "word")} read`);
    const most = stats.max_vocabulary;
    const evicted = stats.evictions > 0 && `${short(stats.evictions)} evicted`;
    vocabulary.show(number(stats.vocabulary), most && `of ${number(most)}`, evicted);
    usedVocabulary.root.hidden = !most;
    usedVocabulary.fill(most ? stats.vocabulary / most : 0);
    queue.show(bytes(stats.queue.bytes), `of ${bytes(stats.queue.limit_bytes)}`);
    usedQueue.fill(stats.queue.bytes / stats.queue.limit_bytes, true);
    const published = stats.snapshot && `published ${ago(stats.snapshot.time)}`;
    lines.show(number(stats.learned), `of ${number(stats.logged)} logged`, published);
  }, signal);
  return h("dl.figures", rate.root, loss.root, vocabulary.root, queue.root, lines.root);
}

/** @param {AbortSignal} signal */
function lossSection(signal) {
  const chart = h("div.chart.loss");
  const draw = curve(chart, {
    signal,
    empty: "The curve starts with the first batch of text.",
    formatX: short,
    describe: (points) => {
      const [first, last] = [points[0], points[points.length - 1]];
      return `The loss went from ${first.y.toFixed(2)} to ${last.y.toFixed(2)} over ${short(last.x)} words.`;
    },
  });
  follow(({ losses }) => draw(losses.map(({ words, loss }) => ({ x: words, y: loss }))), signal);
  return section("Loss", h("span.hint", "by words read; lower is better"), chart);
}

/** @param {AbortSignal} signal */
function newWords(signal) {
  const chips = h("ul.chips.stream");
  const count = h("span.hint");
  const dropped = h("p.gone");

  /** @param {string[]} fresh */
  function show(fresh) {
    const before = new Map([...chips.children].map((chip) => [chip.textContent, chip]));
    const chip = (/** @type {string} */ word) =>
      h("li", wordLink(word, { class: fresh.includes(word) ? "fresh arriving" : "" }));
    replace(
      chips,
      arrived.map((word) => before.get(word) ?? chip(word)),
    );
    const since = `${number(nArrived)} since you opened this page`;
    count.textContent = nArrived > 0 ? since : "shown here as they are learned";
    replace(dropped, gone.length > 0 && ["Evicted: ", gone.map((word) => wordLink(word))]);
  }

  show([]);
  live.on("evicted", () => show([]), signal);
  const onArrived = (/** @type {{ words: string[] }} */ { words }) => {
    show(words);
    setTimeout(() => {
      for (const link of chips.querySelectorAll(".fresh")) {
        if (words.includes(link.textContent ?? "")) link.classList.remove("fresh", "arriving");
      }
    }, freshFor);
  };
  live.on("arrived", onArrived, signal);
  if (arrived.length === 0) {
    const fillIn = async () => {
      arrived = [...new Set([...arrived, ...(await newest(signal))])];
      show([]);
    };
    // Without them the list starts empty.
    fillIn().catch(() => {});
  }
  return section("New words", count, chips, dropped);
}

/** Words of the last day, the newest first. @param {AbortSignal} signal @returns {Promise<string[]>} */
async function newest(signal) {
  const { words } = await ask("/v1/emerging", { query: { since: "24h", n: mostArrived, min_count: 1 }, signal });
  /** @type {{ word: string, new: boolean, first_seen: string }[]} */
  const isNew = words.filter((/** @type {{ new: boolean }} */ one) => one.new);
  return isNew.sort((x, y) => Date.parse(y.first_seen) - Date.parse(x.first_seen)).map(({ word }) => word);
}

/** A number with its name, a chart or level, and notes below. @param {string} label @param {Element} [chart] */
function figure(label, chart) {
  const value = h("div.value");
  const under = h("div.under");
  /** @type {(text: string, ...notes: (string | number | false | null)[]) => void} */
  const show = (text, ...notes) => {
    value.textContent = text;
    under.textContent = notes.filter(Boolean).join(", ");
  };
  return { root: h("div", h("dt", label), h("dd", value, h("div", chart), under)), show };
}

/** A horizontal bar that shows how much of a limit is used. */
function level() {
  const inner = h("span");
  const root = h("span.level", { "aria-hidden": "true" }, inner);
  const fill = (/** @type {number} */ share, warns = false) => {
    inner.style.width = `${Math.min(1, share || 0) * 100}%`;
    root.classList.toggle("high", warns && share > 0.8);
  };
  return { root, fill };
}
