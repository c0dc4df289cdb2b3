// One word: facts, neighbors, a map of its surroundings, and how it changed.

import { ask, Failure, isAbort, wordPath } from "../api.js";
import { chips, h, replace, section } from "../dom.js";
import { ago, countTitle, exact, many, number, share } from "../format.js";
import { live } from "../live.js";
import { atlas } from "../map/atlas.js";
import { note, problem } from "../messages.js";
import { neighborTable } from "../neighbors.js";
import { go, to } from "../route.js";
import { timeline } from "./timeline.js";

// Once it is shown, the word follows what is published, but no faster than people read.
const refreshEvery = 4000;

/** @param {import("../views.js").Context} context */
export function word({ root, argument, signal }) {
  if (argument === null) go(to(""));
  else showWord(argument, root, signal);
}

/** @param {string} argument @param {Element} root @param {AbortSignal} signal */
function showWord(argument, root, signal) {
  const facts = h("dl.facts");
  const neighbors = h("div");
  const [surroundings, history] = [h("div"), h("div")];
  const sizes = [10, 25, 50, 100].map((n) => h("option", { value: n }, `${n} nearest`));
  const amount = h("select", { "aria-label": "Number of neighbors" }, sizes);
  const withRare = h("input", { type: "checkbox" });
  const rareLabel = h("label", withRare, "Include rare words");
  const choices = h("div.choices", rareLabel, amount);
  const watch = h("button", { type: "button", "aria-pressed": "false", hidden: true }, "Watch");
  const actions = h(
    "div.actions",
    watch,
    h("a", { href: to("map", argument) }, "Map"),
    h("a", { href: to("analogies", null, { c: argument }) }, "Analogy"),
  );
  const card = h(
    "div",
    h("div.title", h("h1", { class: lengthClass(argument), dir: "auto" }, argument), actions),
    facts,
    h(
      "div.stack",
      h("div.columns", section("Nearest words", choices, neighbors), section("Surroundings", null, surroundings)),
      section("Timeline", h("span.hint", "one row per snapshot"), history),
    ),
  );
  let isShown = false;
  let updated = 0;

  async function refresh() {
    updated = Date.now();
    try {
      const query = { n: amount.value, min_count: withRare.checked ? 0 : null };
      const [info, { neighbors: near, min_count: least }] = await Promise.all([
        ask(wordPath(argument), { signal }),
        ask(`${wordPath(argument)}/neighbors`, { query, signal }),
      ]);
      replace(facts, factsOf(info));
      if (!withRare.checked) rareLabel.title = `Words with fewer than ${many(least, "occurrence")}`;
      const isAlone = near.length === 0;
      replace(
        neighbors,
        isAlone
          ? note("There are no other words yet that occurred often enough.")
          : neighborTable(near, `Words nearest to ${argument}`),
      );
      if (!isShown) showCard();
    } catch (error) {
      if (isAbort(error) || isShown) return;
      const isUnknown = error instanceof Failure && error.code === "unknown-word";
      const near = isUnknown ? await nearestBySpelling(argument, signal) : [];
      if (!signal.aborted) replace(root, isUnknown ? unknown(argument, error, near) : problem(error));
    }
  }

  function showCard() {
    isShown = true;
    replace(root, card);
    atlas({ root: surroundings, signal, isSmall: true, settings: () => ({ n: 40, around: argument, method: "pca" }) });
    timeline(history, argument, signal);
    watching(watch, argument, signal);
  }

  amount.addEventListener("change", refresh);
  withRare.addEventListener("change", refresh);
  const onPublished = () => {
    // Drawing the table again would lose a selection or the focus in it.
    const isInUse = neighbors.contains(document.activeElement) || document.getSelection()?.isCollapsed === false;
    if (!isShown || (Date.now() - updated >= refreshEvery && !isInUse)) refresh();
  };
  live.on("published", onPublished, signal);
  live.on("state", () => live.state === "open" && !isShown && refresh(), signal);
  refresh();
}

/** @param {string} word */
const lengthClass = (word) => (word.length > 24 ? "long" : "");

/** @param {{ count: number, rank: number, share: number, first_seen: string | null, last_seen: string | null }} info */
function factsOf({ count, rank, share: part, first_seen: first, last_seen: last }) {
  const fact = (/** @type {string} */ label, /** @type {string} */ value, title = "") =>
    h("div", { title }, h("dt", label), h("dd", value));
  return [
    fact("Occurrences since admitted", number(count), countTitle),
    fact("Share of text", share(part)),
    fact("Rank", number(rank)),
    first && fact("First seen", ago(first), exact(first)),
    last && fact("Last seen", ago(last), exact(last)),
  ];
}

/**
 * The neighbors of an unknown word, estimated from its spelling. Empty if the service makes no estimates.
 * @param {string} word @param {AbortSignal} signal
 * @returns {Promise<import("../api.js").Neighbor[]>}
 */
async function nearestBySpelling(word, signal) {
  try {
    return (await ask(`${wordPath(word)}/neighbors`, { query: { subwords: "true" }, signal })).neighbors;
  } catch {
    return [];
  }
}

/** @param {string} word @param {Failure} failure @param {import("../api.js").Neighbor[]} near */
function unknown(word, { suggestions }, near) {
  return h(
    "div.start",
    h("h1", { class: lengthClass(word) }, "“", h("bdi", word), "” is not in the vocabulary"),
    h("p", "It has not occurred in the text, or too rarely to be kept. If it occurs, it is shown here."),
    suggestions.length > 0 && section("Did you mean", null, chips(suggestions)),
    near.length > 0 &&
      section(
        "Nearest words",
        h("span.hint", "estimated from its spelling"),
        neighborTable(near, `Words nearest to the estimate of ${word}`),
      ),
  );
}

/**
 * Makes the button watch the word: the service then sends an event when it moves.
 * @param {HTMLButtonElement} button
 * @param {string} word
 * @param {AbortSignal} signal
 */
async function watching(button, word, signal) {
  const show = (/** @type {boolean} */ isWatched) => {
    button.setAttribute("aria-pressed", String(isWatched));
    button.textContent = isWatched ? "Watching" : "Watch";
    button.title = isWatched ? "You are notified when this word moves. Click to stop." : "Notify when this word moves";
    button.hidden = false;
  };
  try {
    const { words } = await ask("/v1/watch", { signal });
    show(words.includes(word));
  } catch {
    // Without the list, the button stays hidden.
    return;
  }
  button.addEventListener("click", async () => {
    const isWatched = button.getAttribute("aria-pressed") === "true";
    try {
      await ask(`/v1/watch/${encodeURIComponent(word)}`, { method: isWatched ? "DELETE" : "PUT", signal });
      show(!isWatched);
    } catch (error) {
      if (!isAbort(error)) button.after(...problem(error).filter((part) => part instanceof Node));
    }
  });
}
