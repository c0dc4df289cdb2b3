// Words with their similarities, as a table of bars.

import { bar, h, table, th, wordLink } from "./dom.js";
import { ago, countTitle, exact, short, similarity } from "./format.js";

/**
 * A table of neighbors. Counts and times that are not known are left out.
 * @param {import("./api.js").Neighbor[]} neighbors
 * @param {string} label
 */
export function neighborTable(neighbors, label) {
  const hasCounts = neighbors.some(({ count }) => count !== undefined);
  const hasTimes = neighbors.some(({ first_seen: time }) => Boolean(time));
  const rows = neighbors.map(({ word, similarity: value, count = 0, first_seen: time }) =>
    h(
      "tr",
      h("td", wordLink(word)),
      h("td.bar", bar(value)),
      h("td.number", similarity(value)),
      hasCounts && h("td.number.soft", short(count)),
      hasTimes && h("td.number.soft.wide", time ? { title: exact(time) } : {}, time ? ago(time) : ""),
    ),
  );
  const headings = [
    th("Word"),
    th(h("span.unseen", "Bar"), "bar"),
    th("Similarity", "number"),
    hasCounts && th(h("span", { title: countTitle }, "Occurrences"), "number"),
    hasTimes && th("First seen", "number wide"),
  ];
  return table({ class: "bars", "aria-label": label }, headings, rows);
}
