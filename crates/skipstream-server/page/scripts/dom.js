// Elements from plain values. Text is always set as text: a word of the stream is never parsed as markup.

import { to } from "./route.js";

/** @typedef {Node | string | null | undefined | false | Child[]} Child */
/** @typedef {{ [name: string]: string | number | boolean | null | undefined | ((event: any) => unknown) }} Attributes */
/** @typedef {Attributes | Child} Part */

let sections = 0;

/**
 * An element: `h("a.word", { href: "#/", onclick: f }, "text", other)`. Attributes and children that are null, undefined
 * or false are left out.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name | `${Name}.${string}`} selector
 * @param {...Part} parts
 */
export function h(selector, ...parts) {
  const [name, ...classes] = selector.split(".");
  const element = /** @type {HTMLElementTagNameMap[Name]} */ (document.createElement(name));
  return fill(element, classes, parts);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name | `${Name}.${string}`} selector
 * @param {...Part} parts
 */
export function s(selector, ...parts) {
  const [name, ...classes] = selector.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  return fill(/** @type {SVGElementTagNameMap[Name]} */ (element), classes, parts);
}

/** @template {Element} E @param {E} element @param {string[]} classes @param {Part[]} parts */
function fill(element, classes, parts) {
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  for (const part of parts) {
    if (part && typeof part === "object" && !(part instanceof Node) && !Array.isArray(part)) setAll(element, part);
    else element.append(...nodes(part));
  }
  return element;
}

/** @param {Element} element @param {Attributes} attributes */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...String(value).split(" ").filter(Boolean));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** The nodes of a child, which may be a list of lists. @param {Child} child @returns {(Node | string)[]} */
function nodes(child) {
  if (Array.isArray(child)) return child.flatMap(nodes);
  return child === null || child === undefined || child === false ? [] : [child];
}

/** Replaces everything in an element. @param {Element} element @param {...Child} children */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/** The element of the page with this id. @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element #${id}`);
  return element;
}

/**
 * Part of a view: a heading, what is beside it, and the content.
 * @param {string} title
 * @param {Child} beside
 * @param {...Child} children
 */
export function section(title, beside, ...children) {
  sections += 1;
  const id = `section-${sections}`;
  return h("section", { "aria-labelledby": id }, h("div.head", h("h2", { id }, title), beside), children);
}

/**
 * A table with its headings, and rows.
 * @param {Attributes} attributes
 * @param {Child[]} headings
 * @param {Child[]} rows
 */
export function table(attributes, headings, rows) {
  return h("table", attributes, h("thead", h("tr", headings)), h("tbody", rows));
}

/** The heading of a column. @param {Child} content @param {string} classes */
export function th(content, classes = "") {
  return h("th", { scope: "col", class: classes }, content);
}

/** A link to a word. @param {string} word @param {Attributes} attributes */
export function wordLink(word, attributes = {}) {
  return h("a.word", attributes, { href: to("word", word), dir: "auto" }, word);
}

/** Words one after another. @param {string[]} words */
export function chips(words) {
  return h(
    "ul.chips",
    words.map((word) => h("li", wordLink(word))),
  );
}

/** Has a screen reader read a sentence. @param {string} text */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** A horizontal bar for a share from 0 to 1. A negative share gets a mark of its own. @param {number} share */
export function bar(share) {
  const inner = h("span", { class: share < 0 ? "below" : "" });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span.meter", { "aria-hidden": "true" }, inner);
}
