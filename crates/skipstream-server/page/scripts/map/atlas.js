// A map of words with its buttons, its messages and, for people who cannot see it, the words as a list.

import { ask, explain, Failure, isAbort } from "../api.js";
import { announce, h, replace, wordLink } from "../dom.js";
import { number } from "../format.js";
import { live } from "../live.js";
import { go, to } from "../route.js";
import { Plane } from "./plane.js";

// t-SNE costs the service about a second of work, so it is updated less often.
const refreshEvery = { pca: 4000, tsne: 20_000 };

/**
 * Puts a map into an element. `settings` says what to show each time the map is loaded, `isLive` whether it is updated
 * as the service learns. Returns a function that loads the map again.
 * @param {{
 *   root: Element, signal: AbortSignal, isSmall?: boolean, isLive?: () => boolean,
 *   settings: () => { n: number, around: string | null, method: "pca" | "tsne" },
 * }} options
 */
export function atlas({ root, signal, isSmall = false, settings, isLive = () => true }) {
  const canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map" });
  const message = h("p.empty", "Drawing…");
  const list = h("ul.chips");
  const plane = new Plane(canvas, { signal, isSmall, pick: (word) => go(to("word", word)), aim: announce });
  const button = (/** @type {string} */ label, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick }, text);
  replace(
    root,
    h(
      "div.plane",
      { class: isSmall ? "small" : "full" },
      canvas,
      message,
      h(
        "div.zoom",
        button("Zoom out", "−", () => plane.zoomBy(1 / 1.5)),
        button("Fit to view", "Fit", () => plane.fit()),
        button("Zoom in", "+", () => plane.zoomBy(1.5)),
      ),
    ),
    h("details", h("summary", "List of these words"), list),
  );
  // For tests and the console.
  Object.assign(canvas, { whereIs: (/** @type {string} */ word) => plane.find(word) });

  let updated = 0;
  let request = new AbortController();
  signal.addEventListener("abort", () => request.abort());

  async function refresh({ fits = true } = {}) {
    request.abort();
    request = new AbortController();
    updated = Date.now();
    const { n, around, method } = settings();
    try {
      const { points } = await ask("/v1/map", { query: { n, around, method }, signal: request.signal });
      if (fits) plane.fit();
      show(points, around, points.length > 1 ? "" : "There are not enough words for a map yet.");
    } catch (error) {
      if (isAbort(error)) return;
      const isUnknown = error instanceof Failure && error.code === "unknown-word";
      show([], null, isUnknown ? `“${around}” is not in the vocabulary.` : explain(error));
    }
  }

  /** @param {import("./plane.js").WordPoint[]} points @param {string | null} around @param {string} text */
  function show(points, around, text) {
    message.textContent = text;
    message.hidden = text === "";
    const what = `Map of ${number(points.length)} words${around ? ` around ${around}` : ""}`;
    const keys = "Arrow keys pan, plus and minus zoom, Enter opens the word in the centre.";
    canvas.setAttribute("aria-label", `${what}. ${keys}`);
    plane.show(points, around);
    replace(list, ...points.map(({ word }) => h("li", wordLink(word))));
  }

  const onPublished = () => {
    const isDue = Date.now() - updated >= refreshEvery[settings().method];
    if (isLive() && isDue && !list.contains(document.activeElement)) refresh({ fits: false });
  };
  live.on("published", onPublished, signal);
  refresh();
  return refresh;
}
