// Elements from plain values. Text is always set as text: a word of the stream is never read as markup.

/** An element: `h("a", { href: "#/", onclick: f }, "text", other)`. Nothing is added for null, undefined and false. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An element of SVG. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** A link to a word. */
export function wordLink(word, attributes = {}) {
  return h("a", { ...attributes, class: `word ${attributes.class ?? ""}`.trim(), href: wordHref(word), dir: "auto" }, word);
}

export function wordHref(word) {
  return `#/word/${encodeURIComponent(word)}`;
}

/** Reads a sentence to whoever cannot see what changed. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** A bar as long as its share, from 0 to 1; below 0 there is nothing to show but that. */
export function bar(share) {
  const inner = h("span", { class: share < 0 ? "below" : "" });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span", { class: "meter", "aria-hidden": "true" }, inner);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
