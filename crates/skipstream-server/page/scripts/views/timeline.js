// How a word changed from one kept snapshot to the next.

import { ask, explain, wordPath } from "../api.js";
import { sparkline } from "../charts/curve.js";
import { h, wordLink } from "../dom.js";
import { exact, moment, number, share } from "../format.js";
import { live } from "../live.js";

const neighborsShown = 8;

export function timeline({ root, word, signal }) {
  async function refresh() {
    try {
      const { points } = await ask(`${wordPath(word)}/history`, { query: { n: neighborsShown }, signal });
      root.replaceChildren(...drawn(points, signal));
    } catch (failure) {
      if (failure.name !== "AbortError") root.replaceChildren(h("p", { class: "note bad" }, explain(failure)));
    }
  }
  // The same word in other rows shows how long it has been near.
  for (const [event, isOver] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
    root.addEventListener(event, ({ target }) => {
      const link = target.closest?.(".listed a");
      if (!link) return;
      for (const other of root.querySelectorAll(".listed a")) other.classList.toggle("same", isOver && other.textContent === link.textContent);
    });
  }
  live.addEventListener("kept", refresh, { signal });
  refresh();
}

function drawn(points, signal) {
  const known = points.filter((point) => point.known);
  const parts = [];
  if (points.length < 2) {
    parts.push(h("p", { class: "hint" }, "No snapshot has been kept so far, so there is only the present to see. One is kept every so often, or by name under ",
      h("a", { href: "#/change" }, "Change"), "."));
  } else {
    parts.push(h("div", { class: "sparks" },
      spark("Share of the text", points.map((point) => (point.known ? point.share : null)), share, signal),
      spark("Movement since the one before", points.map((point) => point.movement ?? null), (value) => value.toFixed(2), signal)));
  }
  if (known.length > 0) parts.push(table(points));
  return parts;
}

function spark(caption, values, format, signal) {
  const chart = h("div", { class: "chart" });
  const given = values.filter((value) => value !== null);
  const last = given.at(-1);
  const figure = h("figure", {}, h("figcaption", {}, caption, last === undefined ? "" : `: ${format(last)} now`), chart);
  if (given.length === 0) chart.append(h("p", { class: "hint" }, "not known yet"));
  else sparkline(chart, { signal, marks: true, describe: (all) => `${caption}: ${all.map((value) => (value === null ? "unknown" : format(value))).join(", ")}` })(values);
  return figure;
}

/** The newest first, as one reads a log; a neighbour that the snapshot before did not have stands out. */
function table(points) {
  const head = h("tr", {},
    h("th", { scope: "col" }, "When"),
    h("th", { scope: "col", class: "number wide" }, "Count"),
    h("th", { scope: "col", class: "number" }, "Movement"),
    h("th", { scope: "col" }, "Nearest words, ", h("span", { class: "came" }, "new ones marked")));
  const rows = points.map((point, index) => {
    const isLast = index === points.length - 1;
    const before = index > 0 && points[index - 1].known ? new Set(points[index - 1].neighbors.map((one) => one.word)) : null;
    const time = h("time", { datetime: point.time, title: [point.name, exact(point.time)].filter(Boolean).join(", ") }, isLast ? "Now" : moment(point.time));
    const words = point.known
      ? point.neighbors.map(({ word }) => wordLink(word, before && !before.has(word) ? { class: "came", title: "not among them before" } : {}))
      : h("span", { class: "soft" }, "not known then");
    return h("tr", {},
      h("td", {}, time, isNamed(point) && h("div", { class: "hint" }, point.name)),
      h("td", { class: "number soft wide" }, point.known ? number(point.count) : "–"),
      h("td", { class: "number" }, typeof point.movement === "number" ? point.movement.toFixed(2) : "–"),
      h("td", { class: "listed" }, words));
  });
  return h("table", { class: "timeline" }, h("thead", {}, head), h("tbody", {}, rows.reverse()));
}

/** Whether a person gave the name; the others are called after their time. */
export function isNamed({ name }) {
  return Boolean(name) && !/^\d{4}-?\d{2}-?\d{2}T/.test(name);
}
