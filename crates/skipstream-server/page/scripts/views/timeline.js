// How a word changed from one snapshot to the next.

import { ask, wordPath } from "../api.js";
import { sparkline } from "../charts/curve.js";
import { h, table, th, wordLink } from "../dom.js";
import { countTitle, exact, moment, number, share } from "../format.js";
import { live } from "../live.js";
import { fill } from "../messages.js";
import { to } from "../route.js";

/**
 * @typedef {{ name: string | null, time: string, known: boolean, count: number, share: number, movement: number | null,
 *   neighbors: { word: string }[] }} HistoryPoint
 */

const neighborsShown = 8;

/** @param {Element} root @param {string} word @param {AbortSignal} signal */
export function timeline(root, word, signal) {
  const refresh = () =>
    fill(root, signal, async () => {
      const { points } = await ask(`${wordPath(word)}/history`, { query: { n: neighborsShown }, signal });
      return history(points, signal);
    });
  // Highlight a word in all rows: this shows how long it has been near.
  const highlight = (/** @type {Event} */ { target, type }) => {
    const link = target instanceof Element && target.closest(".listed a");
    if (!link) return;
    for (const other of root.querySelectorAll(".listed a")) {
      other.classList.toggle("same", /over|in$/.test(type) && other.textContent === link.textContent);
    }
  };
  for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) root.addEventListener(type, highlight);
  live.on("kept", refresh, signal);
  refresh();
}

/** @param {HistoryPoint[]} points @param {AbortSignal} signal */
function history(points, signal) {
  const rows = points.some((point) => point.known) && historyTable(points);
  if (points.length < 2) {
    const link = h("a", { href: to("change") }, "Changes");
    const how = "There are no snapshots yet, so only the current state is shown. The service takes them regularly; ";
    return [h("p.hint", how, "you can also save one under ", link, "."), rows];
  }
  const shares = points.map((point) => (point.known ? point.share : null));
  const movements = points.map((point) => point.movement ?? null);
  const sparks = [
    spark("Share of text", shares, share, signal),
    spark("Movement since the previous snapshot", movements, (value) => value.toFixed(2), signal),
  ];
  return [h("div.sparks", sparks), rows];
}

/**
 * @param {string} caption
 * @param {(number | null)[]} values
 * @param {(value: number) => string} format
 * @param {AbortSignal} signal
 */
function spark(caption, values, format, signal) {
  const chart = h("div.chart");
  const last = values.findLast((value) => value !== null) ?? null;
  const describe = () =>
    `${caption}: ${values.map((value) => (value === null ? "unknown" : format(value))).join(", ")}`;
  if (last === null) chart.append(h("p.hint", "not known yet"));
  else sparkline(chart, { signal, marks: true, describe })(values);
  return h("figure", h("figcaption", caption, last !== null && `: ${format(last)} now`), chart);
}

/**
 * The newest row first. Neighbors that the previous snapshot did not have are highlighted.
 * @param {HistoryPoint[]} points
 */
function historyTable(points) {
  const rows = points.map((point, index) => {
    const previous = points[index - 1]?.known ? points[index - 1].neighbors.map(({ word }) => word) : null;
    const isNew = (/** @type {string} */ word) => previous !== null && !previous.includes(word);
    const title = [point.name, exact(point.time)].filter(Boolean).join(", ");
    const when = index === points.length - 1 ? "Now" : moment(point.time);
    const neighbors = point.neighbors?.map(({ word }) =>
      wordLink(word, isNew(word) ? { class: "came", title: "new since the previous snapshot" } : {}),
    );
    return h(
      "tr",
      h("td", h("time", { datetime: point.time, title }, when), isNamed(point) && h("div.hint", point.name)),
      h("td.number.soft.wide", point.known ? number(point.count) : "–"),
      h("td.number", typeof point.movement === "number" ? point.movement.toFixed(2) : "–"),
      h("td.listed", point.known ? neighbors : h("span.soft", "not in the vocabulary")),
    );
  });
  const nearest = ["Nearest words, ", h("span.came", "new ones highlighted")];
  return table(
    { class: "timeline" },
    [
      th("When"),
      th(h("span", { title: countTitle }, "Occurrences"), "number wide"),
      th("Movement", "number"),
      th(nearest),
    ],
    rows.reverse(),
  );
}

/**
 * Whether a person named the snapshot; the service names snapshots after their time.
 * @param {{ name: string | null }} snapshot
 */
export function isNamed({ name }) {
  return Boolean(name) && !/^\d{4}-?\d{2}-?\d{2}T/.test(name ?? "");
}
