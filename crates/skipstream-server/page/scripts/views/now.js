// What is being learned at this moment.

import { ask } from "../api.js";
import { curve, sparkline } from "../charts/curve.js";
import { h, wordLink } from "../dom.js";
import { ago, bytes, many, number, short } from "../format.js";
import { live } from "../live.js";
import { start } from "./start.js";

const mostChips = 60;
// What has arrived is remembered across views: whoever comes back has missed nothing.
const arrived = [];
const gone = [];
let arrivedInAll = 0;

live.addEventListener("arrived", ({ detail }) => {
  arrivedInAll += detail.n;
  arrived.unshift(...detail.words.filter((word) => !arrived.includes(word)));
  arrived.length = Math.min(arrived.length, mostChips);
});
live.addEventListener("evicted", ({ detail }) => {
  gone.unshift(...detail.words);
  gone.length = Math.min(gone.length, 12);
});

export function now({ root, signal }) {
  const isEmpty = () => live.stats !== null && live.stats.logged === 0 && (live.stats.snapshot?.vocabulary ?? 0) === 0;
  let shown = null;
  const show = () => {
    const wanted = live.stats === null ? "nothing" : isEmpty() ? "start" : "figures";
    if (wanted === shown) return;
    shown = wanted;
    root.replaceChildren();
    if (wanted === "start") start({ root, signal });
    if (wanted === "figures") figures({ root, signal });
  };
  show();
  live.addEventListener("stats", show, { signal });
}

function figures({ root, signal }) {
  const rate = figure("Words a second");
  const loss = figure("Loss");
  const vocabulary = figure("Vocabulary");
  const queue = figure("Queue");
  const lines = figure("Lines learned");
  const lossChart = h("div", { class: "chart loss" });
  const chips = h("ul", { class: "chips stream" });
  const left = h("p", { class: "gone" });
  const arrivals = h("span", { class: "hint" });
  const rateChart = h("div", { class: "chart" });
  rate.after.append(rateChart);
  vocabulary.after.append(vocabulary.level);
  queue.after.append(queue.level);

  root.append(
    h("h1", { class: "unseen" }, "What is being learned now"),
    h("dl", { class: "figures" }, rate.root, loss.root, vocabulary.root, queue.root, lines.root),
    h("div", { class: "now" },
      h("section", { "aria-labelledby": "loss-title" },
        h("div", { class: "head" }, h("h2", { id: "loss-title" }, "Loss"), h("span", { class: "hint" }, "by words learned; lower is better")),
        lossChart),
      h("section", { "aria-labelledby": "new-title" },
        h("div", { class: "head" }, h("h2", { id: "new-title" }, "New words"), arrivals),
        chips, left)));

  const drawLoss = curve(lossChart, {
    signal, empty: "The curve begins with the first words that are trained.", formatX: short,
    describe: (points) => `The loss went from ${points[0].y.toFixed(2)} to ${points.at(-1).y.toFixed(2)} over ${short(points.at(-1).x)} words.`,
  });
  const drawRate = sparkline(rateChart, { signal, describe: (values) => `Words a second over the last ${values.length} seconds` });

  const update = () => {
    const stats = live.stats;
    rate.value.textContent = short(Math.round(stats.words_per_second));
    rate.under.textContent = "";
    drawRate(live.rates);
    loss.value.textContent = typeof stats.loss === "number" ? stats.loss.toFixed(3) : "–";
    loss.under.textContent = `${many(stats.words, "word")} read`;
    vocabulary.value.textContent = number(stats.vocabulary);
    const most = stats.max_vocabulary;
    vocabulary.under.textContent = [most ? `of ${number(most)}` : "", stats.evictions > 0 ? `${short(stats.evictions)} dropped` : ""].filter(Boolean).join(", ");
    vocabulary.level.hidden = !most;
    vocabulary.fill(most ? stats.vocabulary / most : 0);
    queue.value.textContent = bytes(stats.queue.bytes);
    queue.under.textContent = `of ${bytes(stats.queue.limit_bytes)}`;
    queue.fill(stats.queue.bytes / stats.queue.limit_bytes, true);
    lines.value.textContent = number(stats.learned);
    const snapshot = stats.snapshot;
    lines.under.textContent = [`of ${number(stats.logged)} logged`, snapshot ? `published ${ago(snapshot.time)}` : ""].filter(Boolean).join(", ");
    drawLoss(stats.losses.map(({ words, loss: y }) => ({ x: words, y })));
  };
  update();
  live.addEventListener("stats", update, { signal });

  const add = (words, isNew) => {
    const before = new Map([...chips.children].map((chip) => [chip.textContent, chip]));
    const items = arrived.map((word) => before.get(word) ?? h("li", {}, wordLink(word, { class: isNew && words.includes(word) ? "fresh arriving" : "" })));
    chips.replaceChildren(...items);
    arrivals.textContent = arrivedInAll > 0 ? `${number(arrivedInAll)} since this page was opened` : "they show up here as they arrive";
    left.replaceChildren(...(gone.length > 0 ? ["Dropped: ", gone.map((word) => wordLink(word))].flat() : []));
  };
  add([], false);
  live.addEventListener("arrived", ({ detail }) => {
    add(detail.words, true);
    // What is no longer new becomes quiet again.
    setTimeout(() => chips.querySelectorAll(".fresh").forEach((chip) => detail.words.includes(chip.textContent) && chip.classList.remove("fresh", "arriving")), 6000);
  }, { signal });
  live.addEventListener("evicted", () => add([], false), { signal });
  // Who comes late sees the newest words that are there already.
  if (arrived.length === 0) newest(signal).then((words) => arrived.push(...words.filter((word) => !arrived.includes(word)))).then(() => add([], false)).catch(() => {});
}

/** Words of the last day, the newest first. */
async function newest(signal) {
  const { words } = await ask("/v1/emerging", { query: { since: "24h", n: mostChips, min_count: 1 }, signal });
  const isNew = words.filter((one) => one.new).sort((one, other) => Date.parse(other.first_seen) - Date.parse(one.first_seen));
  return isNew.map((one) => one.word);
}

/** A number with what it is, what it is out of, and room for more. */
function figure(label) {
  const value = h("div", { class: "value" });
  const under = h("div", { class: "under" });
  const inner = h("span", {});
  const level = h("span", { class: "level", "aria-hidden": "true" }, inner);
  const after = h("div", {});
  const fill = (share, warns = false) => {
    inner.style.width = `${Math.min(1, share || 0) * 100}%`;
    level.classList.toggle("high", warns && share > 0.8);
  };
  return { root: h("div", {}, h("dt", {}, label), h("dd", {}, value, after, under)), value, under, after, level, fill };
}
