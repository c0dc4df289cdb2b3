// Questions about several words: analogies, the similarity of two, the odd one out.

import { ask } from "../api.js";
import { combobox } from "../combobox.js";
import { h, replace, section, wordLink } from "../dom.js";
import { similarity } from "../format.js";
import { fill, note } from "../messages.js";
import { neighborTable } from "../neighbors.js";
import { replaceAddress, to } from "../route.js";

const examples = [
  { a: "man", b: "king", c: "woman" },
  { a: "france", b: "paris", c: "germany" },
  { a: "good", b: "better", c: "bad" },
];

/** @param {import("../views.js").Context} context */
export function analogies({ root, query, signal }) {
  const others = h("div.columns", expression(query, signal), pair(signal), odd(signal));
  replace(root, h("div.stack", analogy(query, signal), others));
}

/** @param {URLSearchParams} query @param {AbortSignal} signal */
function analogy(query, signal) {
  const [a, b, c] = [
    ["a", "Word"],
    ["b", "is to"],
    ["c", "as"],
  ].map(([name, label]) => {
    const box = combobox({ label, name, value: query.get(name) ?? "" });
    return { input: box.input, root: h("div.field", h("label", { "aria-hidden": "true" }, label), box.root) };
  });
  const sign = (/** @type {string} */ text) => h("span.sign", { "aria-hidden": "true" }, text);
  const answers = h("div.answers", { "aria-live": "polite" });
  const solveButton = h("button.primary", { type: "submit" }, "Solve");
  const form = h("form.equation", a.root, sign(":"), b.root, sign("="), c.root, sign(": ?"), solveButton);
  const links = examples.map((words) => {
    const onclick = (/** @type {Event} */ event) => {
      event.preventDefault();
      [a.input.value, b.input.value, c.input.value] = [words.a, words.b, words.c];
      solve();
    };
    return h("a", { href: to("analogies", null, words), onclick }, `${words.a} : ${words.b} = ${words.c} : ?`);
  });

  function solve() {
    const missing = [a, b, c].find(({ input }) => input.value.trim() === "");
    if (missing) return missing.input.focus();
    const words = { a: a.input.value.trim(), b: b.input.value.trim(), c: c.input.value.trim() };
    replaceAddress(to("analogies", null, words));
    fill(answers, signal, async () => {
      const found = await ask("/v1/analogy", { query: { ...words, n: 10 }, signal });
      if (found.answers.length === 0) return note("There are no other words yet.");
      return neighborTable(found.answers, `${words.a} is to ${words.b} as ${words.c} is to`);
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    solve();
  });
  if (["a", "b", "c"].every((name) => query.get(name))) solve();
  const lead = h("p.lead", h("i", "man"), " is to ", h("i", "king"), " as ", h("i", "woman"), " is to …");
  return h("section", h("h1", "Analogies"), lead, form, h("p.examples", "Examples", links), answers);
}

/** @param {URLSearchParams} query @param {AbortSignal} signal */
function expression(query, signal) {
  const input = h("input", {
    type: "text",
    "aria-label": "Words joined by plus and minus",
    placeholder: "king - man + woman",
    value: query.get("expression") ?? "",
    autocapitalize: "none",
    spellcheck: "false",
  });
  const out = h("div", { "aria-live": "polite" });
  const solve = () => {
    const typed = input.value.trim();
    if (typed === "") return input.focus();
    replaceAddress(to("analogies", null, { expression: typed }));
    fill(out, signal, async () => {
      const found = await ask("/v1/analogy", { query: { expression: typed, n: 10 }, signal });
      return neighborTable(found.answers, found.expression);
    });
  };
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    solve();
  };
  if (input.value !== "") solve();
  const form = h("form.equation", { onsubmit }, h("div.combobox", input), h("button", { type: "submit" }, "Compute"));
  return section("Sum of words", null, form, out);
}

/** @param {AbortSignal} signal */
function pair(signal) {
  const [one, other] = ["One word", "Another word"].map((label) => combobox({ label, placeholder: label }));
  const out = h("div", { "aria-live": "polite" });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const [a, b] = [one.input.value.trim(), other.input.value.trim()];
    if (a === "" || b === "") return (a === "" ? one : other).input.focus();
    fill(out, signal, async () => {
      const found = await ask("/v1/similarity", { query: { a, b }, signal });
      return h("p", h("span.big", similarity(found.similarity)), " between ", wordLink(a), " and ", wordLink(b));
    });
  };
  const fields = [one, other].map(({ root }) => h("div.field", root));
  const form = h("form.equation", { onsubmit }, fields, h("button", { type: "submit" }, "Compare"));
  return section("Similarity of two words", null, form, out);
}

/** @param {AbortSignal} signal */
function odd(signal) {
  const input = h("input", {
    type: "text",
    "aria-label": "Three or more words",
    placeholder: "breakfast lunch dinner engine",
    autocapitalize: "none",
    spellcheck: "false",
  });
  const out = h("div", { "aria-live": "polite" });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const words = input.value.split(/[\s,]+/).filter(Boolean);
    if (words.length < 3) return replace(out, note("Enter at least three words, separated by spaces."));
    fill(out, signal, async () => {
      const found = await ask("/v1/odd-one-out", { query: { word: words }, signal });
      /** @type {import("../api.js").Neighbor[]} */
      const ordered = found.words.toSorted((/** @type {any} */ x, /** @type {any} */ y) => y.similarity - x.similarity);
      const answer = h("p", h("span.big", wordLink(found.odd)), " is the odd one out.");
      return [answer, neighborTable(ordered, "Similarity of each word to the others")];
    });
  };
  const form = h("form.equation", { onsubmit }, h("div.combobox", input), h("button", { type: "submit" }, "Find"));
  return section("Odd one out", null, form, out);
}
