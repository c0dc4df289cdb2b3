// Words with how similar they are, as a table of bars.

import { bar, h, wordLink } from "./dom.js";
import { ago, exact, short, similarity } from "./format.js";

/** A table of neighbours. Counts and times are left out where they are not known. */
export function neighborTable(neighbors, label) {
  const hasCounts = neighbors.some(({ count }) => count !== undefined);
  const hasTimes = neighbors.some(({ first_seen: time }) => time !== undefined && time !== null);
  const head = h("tr", {},
    h("th", { scope: "col" }, "Word"),
    h("th", { scope: "col", class: "bar" }, h("span", { class: "unseen" }, "Bar")),
    h("th", { scope: "col", class: "number" }, "Similarity"),
    hasCounts && h("th", { scope: "col", class: "number" }, "Count"),
    hasTimes && h("th", { scope: "col", class: "number wide" }, "First seen"));
  const rows = neighbors.map((one) => h("tr", {},
    h("td", {}, wordLink(one.word)),
    h("td", { class: "bar" }, bar(one.similarity)),
    h("td", { class: "number" }, similarity(one.similarity)),
    hasCounts && h("td", { class: "number soft" }, short(one.count)),
    hasTimes && h("td", { class: "number soft wide", title: exact(one.first_seen) }, ago(one.first_seen))));
  return h("table", { class: "bars", "aria-label": label }, h("thead", {}, head), h("tbody", {}, rows));
}
