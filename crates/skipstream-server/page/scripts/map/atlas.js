// A map of words with its buttons, its messages and, for whoever cannot see it, its words as a list.

import { ask, explain } from "../api.js";
import { announce, h, wordHref, wordLink } from "../dom.js";
import { number } from "../format.js";
import { live } from "../live.js";
import { go } from "../route.js";
import { Plane } from "./plane.js";

// t-SNE costs the service about a second of work, so it is asked for less often.
const refreshEvery = { pca: 4000, tsne: 20_000 };

/**
 * Puts a map into an element. `settings` says what to show each time the map is asked for: `{ n, around, method }`;
 * `isLive` whether it follows what is learned. Gives a function that shows what the settings say now.
 */
export function atlas({ root, signal, isSmall = false, settings, isLive = () => true }) {
  const inks = {};
  const probe = h("span", { class: "inks", "aria-hidden": "true" });
  for (const name of ["ink", "accent", "paper", "dot"]) {
    inks[name] = h("span", { class: name });
    probe.append(inks[name]);
  }
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-roledescription": "map" });
  const message = h("p", { class: "empty" }, "Drawing…");
  const list = h("ul", { class: "chips" });
  const button = (label, text, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const plane = new Plane(canvas, inks, { signal, isSmall, pick: (word) => go(wordHref(word)), aim: (word) => announce(word) });
  const zoom = h("div", { class: "zoom" },
    button("Zoom out", "−", () => plane.zoomBy(1 / 1.5)),
    button("Show everything", "Fit", () => plane.fit()),
    button("Zoom in", "+", () => plane.zoomBy(1.5)));
  root.replaceChildren(
    h("div", { class: `plane ${isSmall ? "small" : "full"}` }, canvas, message, zoom, probe),
    h("details", {}, h("summary", {}, "These words as a list"), list));

  let updated = 0;
  let asking = new AbortController();
  signal.addEventListener("abort", () => asking.abort());

  async function refresh({ fits = true } = {}) {
    asking.abort();
    asking = new AbortController();
    updated = Date.now();
    const { n, around, method } = settings();
    try {
      const { points } = await ask("/v1/map", { query: { n, around, method }, signal: asking.signal });
      message.hidden = points.length > 1;
      message.textContent = "There are not enough words yet for a map.";
      canvas.setAttribute("aria-label",
        `Map of ${number(points.length)} words${around ? ` around ${around}` : ""}. Arrow keys move it, plus and minus zoom, Enter opens the word in the middle.`);
      if (fits) plane.fit();
      plane.show(points, around);
      list.replaceChildren(...points.map(({ word }) => h("li", {}, wordLink(word))));
    } catch (failure) {
      if (failure.name === "AbortError") return;
      plane.show([], null);
      list.replaceChildren();
      message.hidden = false;
      message.textContent = failure.code === "unknown-word" ? `“${around}” is not known.` : explain(failure);
    }
  }

  live.addEventListener("published", () => {
    const isDue = Date.now() - updated >= (refreshEvery[settings().method] ?? 4000);
    if (isLive() && isDue && !list.contains(document.activeElement)) refresh({ fits: false });
  }, { signal });
  // For whoever looks over the shoulder of the page: tests, and a console.
  canvas.whereIs = (word) => plane.find(word);
  refresh();
  return refresh;
}
