// The subset of Markdown in descriptions of routes: paragraphs, lists, tables, code and bold text.

import { h, table, th } from "../dom.js";

/** A description as elements. @param {string} text */
export function markdown(text) {
  const blocks = text.trim().split(/\n\s*\n/);
  return blocks.map((block) => {
    const lines = block.split("\n").map((line) => line.trim());
    if (lines.length > 1 && lines.every((line) => line.startsWith("|"))) return markdownTable(lines);
    if (lines.every((line) => /^([-*]|\d+\.) /.test(line))) {
      const items = lines.map((line) => h("li", inline(line.replace(/^\S+ /, ""))));
      return h("ul.points", items);
    }
    return h("p", inline(lines.join(" ")));
  });
}

/** @param {string[]} lines */
function markdownTable(lines) {
  const cells = (/** @type {string} */ line) => line.split("|").slice(1, -1);
  const headings = cells(lines[0]).map((cell) => th(inline(cell.trim())));
  const rows = lines.slice(2).map((line) => {
    const row = cells(line).map((cell) => h("td", inline(cell.trim())));
    return h("tr", row);
  });
  return table({}, headings, rows);
}

/** @param {string} text */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return h("code", part.slice(1, -1));
    return part.startsWith("**") ? h("strong", part.slice(2, -2)) : part;
  });
}
