// What the service is learning at this moment.

import { ask } from "../api.js";
import { curve, sparkline } from "../charts/curve.js";
import { h, replace, section, wordLink } from "../dom.js";
import { ago, bytes, many, number, short } from "../format.js";
import { live } from "../live.js";
import { start } from "./start.js";

/**
 * @typedef {{
 *   time: string, words_per_second: number, loss: number | null, vocabulary: number, resident_bytes: number | null,
 *   requests_per_second: number, latency_ms: number | null, disk_bytes: number, disk_free_bytes: number | null,
 * }} Sample
 */
/** @typedef {{ label: string, unit: string, value: (sample: Sample) => number | null, format: (value: number) => string }} Series */

const mostArrived = 60;
const mostGone = 60;
const freshFor = 6000;
const historyEvery = 10_000;

const fullVocabulary =
  "It grows until it is full, and then stays full: a new word takes the place of one that has become too rare.";

/** What can be drawn over time. @type {Series[]} */
const series = [
  { label: "Loss", unit: "lower is better", value: (one) => one.loss, format: (value) => value.toFixed(2) },
  { label: "Speed", unit: "words per second", value: (one) => one.words_per_second, format: short },
  { label: "Vocabulary", unit: fullVocabulary, value: (one) => one.vocabulary, format: short },
  { label: "Memory", unit: "resident memory of the process", value: (one) => one.resident_bytes, format: bytes },
  {
    label: "Requests",
    unit: "per second",
    value: (one) => one.requests_per_second,
    format: (value) => `${Number(value.toPrecision(2))}`,
  },
  { label: "Latency", unit: "mean time until a response starts", value: (one) => one.latency_ms, format: milliseconds },
];

// Remembered across views, so that nothing is missed while another one is open. The newest come first.
/** @type {string[]} */
let arrived = [];
/** @type {string[]} */
let gone = [];
let nArrived = 0;
let nReturned = 0;
let nGone = 0;

live.on("arrived", ({ n, words, returned }) => {
  nArrived += n;
  nReturned += returned;
  arrived = [...new Set([...words, ...arrived])].slice(0, mostArrived);
});
live.on("evicted", ({ n, words }) => {
  nGone += n;
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
    if (isEmpty) return start(root);
    const { chart, figures: measured } = overTime(signal);
    replace(
      root,
      h("h1.unseen", "Learning now"),
      warning(signal),
      figures(signal, measured),
      h("div.now", chart, newWords(signal)),
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

/** What is probably wrong with the text. @param {AbortSignal} signal */
function warning(signal) {
  const element = h("p.note", { role: "status" });
  follow((stats) => {
    element.hidden = !stats.warning;
    element.textContent = stats.warning ? `Warning: ${stats.warning}.` : "";
  }, signal);
  return element;
}

/** @param {AbortSignal} signal @param {Element[]} measured */
function figures(signal, measured) {
  const rateChart = h("div.chart");
  const [usedVocabulary, usedQueue] = [level(), level()];
  const rate = figure("Words per second", rateChart);
  const loss = figure("Loss");
  const vocabulary = figure("Vocabulary", usedVocabulary.root);
  const queue = figure("Queue", usedQueue.root);
  const lines = figure("Lines learned");
  const sources = figure("Sources");
  const sink = figure("Sink");
  const describe = (/** @type {unknown[]} */ rates) => `Words per second over the last ${rates.length} seconds`;
  const drawRate = sparkline(rateChart, { signal, describe });
  vocabulary.root.title = fullVocabulary;

  follow((stats) => {
    rate.show(short(stats.words_per_second));
    drawRate(live.rates);
    loss.show(typeof stats.loss === "number" ? stats.loss.toFixed(3) : "–", `${many(stats.words, "word")} read`);
    const most = stats.max_vocabulary;
    const departures = stats.evictions > 0 && `${short(stats.evictions)} departures`;
    vocabulary.show(number(stats.vocabulary), most && `of ${number(most)}`, departures);
    usedVocabulary.root.hidden = !most;
    usedVocabulary.fill(most ? stats.vocabulary / most : 0);
    queue.show(bytes(stats.queue.bytes), `of ${bytes(stats.queue.limit_bytes)}`);
    usedQueue.fill(stats.queue.bytes / stats.queue.limit_bytes, true);
    const published = stats.snapshot && `published ${ago(stats.snapshot.time)}`;
    lines.show(number(stats.learned), `of ${number(stats.logged)} logged`, published);
    const brokers = stats.sources ?? [];
    const reading = brokers.filter(({ state }) => state === "reading").length;
    sources.root.hidden = brokers.length === 0;
    sources.show(`${reading} of ${brokers.length} reading`, ...brokers.map(describeSource));
    sink.root.hidden = !stats.sink;
    if (stats.sink) sink.show(stats.sink.state, describeSink(stats.sink));
  }, signal);
  return h(
    "dl.figures",
    rate.root,
    loss.root,
    vocabulary.root,
    queue.root,
    lines.root,
    sources.root,
    sink.root,
    measured,
  );
}

/** A broker that the service reads. @param {NonNullable<import("../live.js").Stats["sources"]>[number]} source */
function describeSource({ url, state, problem, messages, lag }) {
  if (problem) return `${url} is ${state}: ${problem}`;
  return `${url}: ${many(messages, "message")}${lag ? `, ${short(lag)} behind` : ""}`;
}

/** The broker that gets events. @param {NonNullable<import("../live.js").Stats["sink"]>} sink */
function describeSink({ url, problem, messages, waiting }) {
  if (problem) return `${url}: ${problem}; ${many(waiting, "event")} wait`;
  return `${url}: ${many(messages, "message")}${waiting ? `, ${short(waiting)} wait` : ""}`;
}

/** What the service measures every few seconds: a chart over hours, and figures. @param {AbortSignal} signal */
function overTime(signal) {
  let chosen = series[0];
  /** @type {Sample[]} */
  let samples = [];
  const chart = h("div.chart.over-time");
  const unit = h("p.hint");
  const choice = h(
    "fieldset.segments",
    { "aria-label": "What to draw" },
    series.map(({ label }, index) =>
      h("label", h("input", { type: "radio", name: "series", value: index, checked: index === 0 }), label),
    ),
  );
  const draw = curve(chart, {
    signal,
    empty: "The curve starts with the first measurements.",
    formatY: () => chosen.format,
    describe: (points) => {
      const [first, last] = [points[0].y, points[points.length - 1].y].map((value) => chosen.format(value));
      return `${chosen.label} went from ${first} to ${last} since ${ago(samples[0].time)}.`;
    },
  });
  const show = () => {
    unit.textContent = chosen.unit;
    draw(
      samples.flatMap((sample) => {
        const y = chosen.value(sample);
        return y === null ? [] : [{ x: Date.parse(sample.time), y }];
      }),
    );
  };
  choice.addEventListener("change", (event) => {
    chosen = series[Number(/** @type {HTMLInputElement} */ (event.target).value)];
    show();
  });

  const usedMemory = level();
  const memory = figure("Memory", usedMemory.root);
  const [requests, latency, disk, saved] = ["Requests", "Latency", "Disk", "Checkpoint"].map((label) => figure(label));
  const load = async () => {
    ({ samples } = await ask("/v1/stats/history", { signal }));
    show();
    const last = samples.at(-1);
    const bound = live.stats?.memory?.bound_bytes ?? 0;
    if (!last) return;
    memory.show(
      last.resident_bytes === null ? "–" : bytes(last.resident_bytes),
      bound > 0 && `of at most ${bytes(bound)}`,
    );
    usedMemory.fill(bound > 0 ? (last.resident_bytes ?? 0) / bound : 0, true);
    requests.show(`${Number(last.requests_per_second.toPrecision(2))} /s`, "without uploads");
    latency.show(last.latency_ms === null ? "–" : milliseconds(last.latency_ms), "mean until a response starts");
    const free = last.disk_free_bytes;
    disk.show(bytes(last.disk_bytes), free !== null && `${bytes(free)} free`);
  };
  follow((stats) => {
    const { checkpoint } = stats;
    saved.show(checkpoint ? ago(checkpoint.time) : "–", checkpoint ? `at line ${number(checkpoint.seq)}` : "none yet");
  }, signal);
  const reload = () => load().catch(() => {});
  const timer = setInterval(reload, historyEvery);
  signal.addEventListener("abort", () => clearInterval(timer));
  reload();
  const all = [memory, requests, latency, disk, saved].map(({ root }) => root);
  return { chart: section("Over time", choice, chart, unit), figures: all };
}

/** @param {AbortSignal} signal */
function newWords(signal) {
  const chips = h("ul.chips.stream");
  const count = h("span.hint");
  const summary = h("summary");
  const goneList = h("ul.chips");
  const dropped = h("details.gone", { hidden: true }, summary, goneList);

  /** @param {string[]} fresh */
  function show(fresh) {
    const before = new Map([...chips.children].map((chip) => [chip.textContent, chip]));
    const chip = (/** @type {string} */ word) =>
      h("li", wordLink(word, { class: fresh.includes(word) ? "fresh arriving" : "" }));
    replace(
      chips,
      arrived.map((word) => before.get(word) ?? chip(word)),
    );
    const returned = nReturned > 0 ? `, ${number(nReturned)} of them returned` : "";
    const since = `${number(nArrived)} since you opened this page${returned}`;
    count.textContent = nArrived > 0 ? since : "shown once they occur often enough";
    dropped.hidden = gone.length === 0;
    summary.textContent = `${many(nGone, "word")} evicted since you opened this page`;
    const items = gone.map((word) => h("li", wordLink(word)));
    replace(goneList, items);
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
      const known = await newest(signal);
      // Words that arrived in the meantime stay.
      arrived = [...new Set([...arrived, ...known])].slice(0, mostArrived);
      show([]);
    };
    // Without them the list starts empty.
    fillIn().catch(() => {});
  }
  return section("New words", count, chips, dropped);
}

/** Words of the last day, the newest first. @param {AbortSignal} signal @returns {Promise<string[]>} */
async function newest(signal) {
  const { words } = await ask("/v1/emerging", { query: { since: "24h", n: mostArrived }, signal });
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

/** 1.2 ms @param {number} value */
function milliseconds(value) {
  return `${Number(value.toPrecision(2))} ms`;
}
