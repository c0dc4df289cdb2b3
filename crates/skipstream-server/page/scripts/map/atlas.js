// A map of words with its buttons, its messages and, for people who cannot see it, the words as a list.

import { ask, explain, Failure, isAbort, wordPath } from "../api.js";
import { announce, h, replace, wordLink } from "../dom.js";
import { number } from "../format.js";
import { live } from "../live.js";
import { go, to } from "../route.js";
import { Plane } from "./plane.js";

// t-SNE costs the service about a second of work, so it is updated less often.
const refreshEvery = { pca: 4000, tsne: 20_000 };
const lightAfter = 150;
const neighborsLit = 12;
const allWords = "List of these words";
const selectTitle = "Draw a line around words to list them (or hold Shift while dragging)";

/**
 * Puts a map into an element. `settings` says what to show each time the map is loaded, `isLive` whether it is updated
 * as the service learns. Returns a function that loads the map again.
 * @param {{
 *   root: Element, signal: AbortSignal, isSmall?: boolean, isLive?: () => boolean,
 *   settings: () => { n: number, around: string | null, method: "pca" | "tsne", skip?: number | null },
 * }} options
 */
export function atlas({ root, signal, isSmall = false, settings, isLive = () => true }) {
  const selecting = h("button", { type: "button", "aria-pressed": "false", title: selectTitle }, "Select");
  const isSelecting = () => selecting.getAttribute("aria-pressed") === "true";
  selecting.addEventListener("click", () => {
    selecting.setAttribute("aria-pressed", String(!isSelecting()));
    canvas.classList.toggle("selecting", isSelecting());
  });
  const canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map" });
  const message = h("p.empty", "Drawing…");
  const list = h("ul.chips");
  const summary = h("summary", allWords);
  const details = h("details", summary, list);
  const plane = new Plane(canvas, {
    signal,
    isSmall,
    isSelecting,
    pick: (word) => go(to("word", word)),
    light,
    aim: announce,
    select,
  });
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
        !isSmall && selecting,
        button("Zoom out", "−", () => plane.zoomBy(1 / 1.5)),
        button("Fit to view", "Fit", () => plane.fit()),
        button("Zoom in", "+", () => plane.zoomBy(1.5)),
      ),
    ),
    details,
  );
  // For tests and the console.
  Object.assign(canvas, {
    whereIs: (/** @type {string} */ word) => plane.find(word),
    highlighted: () => plane.highlighted,
  });

  /** @type {string[]} */
  let words = [];
  let updated = 0;
  let timer = 0;
  let request = new AbortController();
  signal.addEventListener("abort", () => request.abort());

  async function refresh({ fits = true } = {}) {
    request.abort();
    request = new AbortController();
    updated = Date.now();
    canvas.setAttribute("aria-busy", "true");
    const { around, ...query } = settings();
    try {
      const { points } = await ask("/v1/map", { query: { around, ...query }, signal: request.signal });
      if (fits) plane.fit();
      show(points, around, points.length > 1 ? "" : "There are not enough words for a map yet.");
    } catch (error) {
      if (isAbort(error)) return;
      const isUnknown = error instanceof Failure && error.code === "unknown-word";
      show([], null, isUnknown ? `“${around}” is not in the vocabulary.` : explain(error));
    }
  }

  /** Highlights the neighbors of a word after a moment, so that a pointer on its way asks for nothing. @param {string | null} word */
  function light(word) {
    clearTimeout(timer);
    if (word === null) return;
    timer = setTimeout(async () => {
      try {
        const { neighbors } = await ask(`${wordPath(word)}/neighbors`, { query: { n: neighborsLit }, signal });
        plane.highlight(
          word,
          neighbors.map((/** @type {import("../api.js").Neighbor} */ one) => one.word),
        );
      } catch {
        // Without its neighbors the word is highlighted alone.
      }
    }, lightAfter);
  }

  /** Lists the words that were encircled, or all words if there are none. @param {string[]} chosen */
  function select(chosen) {
    const isAll = chosen.length === 0;
    summary.textContent = isAll ? allWords : `${number(chosen.length)} selected words`;
    const items = (isAll ? words : chosen).map((word) => h("li", wordLink(word)));
    replace(list, items);
    if (isAll) return;
    details.open = true;
    announce(`${number(chosen.length)} words selected, listed below the map`);
  }

  /** @param {import("./plane.js").WordPoint[]} points @param {string | null} around @param {string} text */
  function show(points, around, text) {
    message.textContent = text;
    message.hidden = text === "";
    const what = `Map of ${number(points.length)} words${around ? ` around ${around}` : ""}`;
    const keys = "Arrow keys pan, plus and minus zoom, Enter opens the word in the center.";
    canvas.setAttribute("aria-label", `${what}. ${keys}`);
    canvas.setAttribute("aria-busy", "false");
    plane.show(points, around);
    words = points.map(({ word }) => word);
    select([]);
  }

  const onPublished = () => {
    const isDue = Date.now() - updated >= refreshEvery[settings().method];
    const isInUse = list.contains(document.activeElement) || isSelecting();
    if (isLive() && isDue && !isInUse) refresh({ fits: false });
  };
  live.on("published", onPublished, signal);
  refresh();
  return refresh;
}
