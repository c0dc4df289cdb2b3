// The little Markdown that descriptions of routes are written in: paragraphs, lists, tables, code and strong words.

import { h } from "../dom.js";

/** A description as elements. */
export function markdown(text) {
  return text.trim().split(/\n\s*\n/).map((block) => {
    const lines = block.split("\n").map((line) => line.trim());
    if (lines.length > 1 && lines.every((line) => line.startsWith("|"))) return table(lines);
    if (lines.every((line) => /^([-*]|\d+\.) /.test(line))) return h("ul", { class: "points" }, lines.map((line) => h("li", {}, inline(line.replace(/^\S+ /, "")))));
    return h("p", {}, inline(lines.join(" ")));
  });
}

function table(lines) {
  const cells = (line) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  const [head, , ...rows] = lines.map(cells);
  return h("table", {},
    h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, inline(cell))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, inline(cell)))))));
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    return part.startsWith("**") ? h("strong", {}, part.slice(2, -2)) : part;
  });
}
