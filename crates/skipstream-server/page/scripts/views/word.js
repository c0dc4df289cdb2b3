// One word: what is known of it, its neighbours, where it lies, and how it changed.

import { ask, explain, wordPath } from "../api.js";
import { h, wordLink } from "../dom.js";
import { ago, exact, many, number, share } from "../format.js";
import { live } from "../live.js";
import { atlas } from "../map/atlas.js";
import { neighborTable } from "../neighbors.js";
import { go, to } from "../route.js";
import { timeline } from "./timeline.js";

// What is shown is brought up to date with what was published, but not more often than one can read it.
const refreshEvery = 4000;
// A vector that was learned from a few places lies where they happened to push it, often beside a word it has nothing to do with.
const rare = 5;

export function word({ root, argument, signal }) {
  if (argument === null) return go("#/");
  const facts = h("dl", { class: "facts" });
  const neighbors = h("div", {});
  const amount = h("select", { "aria-label": "How many neighbours" }, [10, 25, 50, 100].map((n) => h("option", { value: n }, `${n} nearest`)));
  const withRare = h("input", { type: "checkbox" });
  const history = h("div", {});
  const plane = h("div", {});
  const watch = h("button", { type: "button", "aria-pressed": "false", hidden: true }, "Watch");
  const card = h("div", {},
    h("div", { class: "title" },
      h("h1", { class: argument.length > 24 ? "long" : "", dir: "auto" }, argument),
      h("div", { class: "actions" },
        watch,
        h("a", { href: to("map", argument) }, "Map"),
        h("a", { href: to("analogies", null, { c: argument }) }, "Analogy"))),
    facts,
    h("div", { class: "stack" },
      h("div", { class: "columns" },
        h("section", { "aria-labelledby": "neighbors-title" },
          h("div", { class: "head" }, h("h2", { id: "neighbors-title" }, "Nearest words"),
            h("div", { class: "choices" }, h("label", { title: `Also those that were seen fewer than ${rare} times` }, withRare, "Rare ones too"), amount)), neighbors),
        h("section", { "aria-labelledby": "around-title" }, h("div", { class: "head" }, h("h2", { id: "around-title" }, "Around it")), plane)),
      h("section", { "aria-labelledby": "timeline-title" },
        h("div", { class: "head" }, h("h2", { id: "timeline-title" }, "Timeline"), h("span", { class: "hint" }, "at each kept snapshot")), history)));
  let isShown = false;
  let updated = 0;

  async function refresh() {
    updated = Date.now();
    try {
      const [info, near] = await Promise.all([
        ask(wordPath(argument), { signal }),
        nearest(argument, Number(amount.value), withRare.checked, signal),
      ]);
      facts.replaceChildren(...factsOf(info));
      neighbors.replaceChildren(near.length > 0
        ? neighborTable(near, `The words nearest to ${argument}`)
        : h("p", { class: "note" }, "There is no other word yet."));
      if (!isShown) {
        isShown = true;
        root.replaceChildren(card);
        atlas({ root: plane, signal, isSmall: true, settings: () => ({ n: 40, around: argument, method: "pca" }) });
        timeline({ root: history, word: argument, signal });
        watching(watch, argument, signal);
      }
    } catch (failure) {
      if (failure.name === "AbortError" || isShown) return;
      root.replaceChildren(failure.code === "unknown-word" ? unknown(argument, failure) : h("p", { class: "note bad" }, explain(failure)));
    }
  }

  amount.addEventListener("change", refresh);
  withRare.addEventListener("change", refresh);
  live.addEventListener("published", () => {
    // A selection or the keyboard's place in the table would be lost by drawing it anew.
    const isInUse = neighbors.contains(document.activeElement) || !document.getSelection().isCollapsed;
    if (Date.now() - updated >= refreshEvery && !(isShown && isInUse)) refresh();
  }, { signal });
  live.addEventListener("state", () => live.state === "open" && !isShown && refresh(), { signal });
  refresh();
}

/** The nearest words. Rare ones are left out where there are enough others. */
async function nearest(word, n, isWithRare, signal) {
  const { neighbors } = await ask(`${wordPath(word)}/neighbors`, { query: { n: isWithRare ? n : Math.min(1000, 20 * n) }, signal });
  const others = neighbors.filter(({ count }) => count >= rare);
  return (isWithRare || others.length < n ? neighbors : others).slice(0, n);
}

function factsOf({ count, rank, share: part, first_seen: first, last_seen: last }) {
  const fact = (label, value, title) => h("div", { title }, h("dt", {}, label), h("dd", {}, value));
  return [
    fact("Seen", many(count, "time")),
    fact("Share of the text", share(part)),
    fact("Rank", number(rank)),
    first && fact("First seen", ago(first), exact(first)),
    last && fact("Last seen", ago(last), exact(last)),
  ].filter(Boolean);
}

function unknown(word, failure) {
  return h("div", { class: "start" },
    h("h1", { class: word.length > 24 ? "long" : "" }, "“", h("bdi", {}, word), "” is not known"),
    h("p", {}, "It has not been in the text so far, or too rarely to be kept. If it arrives, it will show here."),
    failure.suggestions.length > 0 && h("section", {}, h("h2", {}, "Did you mean"), h("ul", { class: "chips" }, failure.suggestions.map((one) => h("li", {}, wordLink(one))))));
}

/** Watching a word: the service tells when it moves. */
async function watching(button, word, signal) {
  const show = (isWatched) => {
    button.setAttribute("aria-pressed", String(isWatched));
    button.textContent = isWatched ? "Watched" : "Watch";
    button.title = isWatched ? "The service tells when this word moves. Click to stop." : "Have the service tell when this word moves";
    button.hidden = false;
  };
  try {
    const { words } = await ask("/v1/watch", { signal });
    show(words.includes(word));
  } catch {
    // Without a list there is nothing to press.
    return;
  }
  button.addEventListener("click", async () => {
    const isWatched = button.getAttribute("aria-pressed") === "true";
    try {
      await ask(`/v1/watch/${encodeURIComponent(word)}`, { method: isWatched ? "DELETE" : "PUT", signal });
      show(!isWatched);
    } catch (failure) {
      if (failure.name !== "AbortError") button.title = button.textContent = explain(failure);
    }
  });
}
