// Questions about several words at once: analogies, how similar two are, which does not belong.

import { ask, explain } from "../api.js";
import { combobox } from "../combobox.js";
import { h, wordLink } from "../dom.js";
import { similarity } from "../format.js";
import { neighborTable } from "../neighbors.js";
import { say, to } from "../route.js";

const examples = [["man", "king", "woman"], ["france", "paris", "germany"], ["good", "better", "bad"]];

export function analogies({ root, query, signal }) {
  root.append(
    h("div", { class: "stack" },
      analogy({ query, signal }),
      h("div", { class: "columns" }, pair({ signal }), odd({ signal }))));
}

function analogy({ query, signal }) {
  const field = (name, label) => {
    const box = combobox({ label, name, value: query.get(name) ?? "" });
    return { input: box.input, root: h("div", { class: "field" }, h("label", { "aria-hidden": "true" }, label), box.root) };
  };
  const [a, b, c] = [field("a", "First"), field("b", "is to"), field("c", "as")];
  const answers = h("div", { class: "answers", "aria-live": "polite" });
  const form = h("form", { class: "equation" },
    a.root, h("span", { class: "sign", "aria-hidden": "true" }, ":"), b.root,
    h("span", { class: "sign", "aria-hidden": "true" }, "="), c.root, h("span", { class: "sign", "aria-hidden": "true" }, ": ?"),
    h("button", { type: "submit", class: "primary" }, "Solve"));
  const fill = (words) => words.forEach((word, index) => ([a, b, c][index].input.value = word));
  const hint = h("p", { class: "examples" }, "For example",
    examples.map((words) => h("a", { href: to("analogies", null, { a: words[0], b: words[1], c: words[2] }), onclick: (event) => {
      event.preventDefault();
      fill(words);
      solve();
    } }, `${words[0]} : ${words[1]} = ${words[2]} : ?`)));

  async function solve() {
    const words = { a: a.input.value.trim(), b: b.input.value.trim(), c: c.input.value.trim() };
    const missing = [a, b, c].find(({ input }) => input.value.trim() === "");
    if (missing) return missing.input.focus();
    say(to("analogies", null, words));
    await answer(answers, signal, async () => {
      const found = await ask("/v1/analogy", { query: { ...words, n: 10 }, signal });
      if (found.answers.length === 0) return h("p", { class: "note" }, "There is no other word yet.");
      return neighborTable(found.answers, `${words.a} is to ${words.b} as ${words.c} is to`);
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    solve();
  });
  if (query.get("a") && query.get("b") && query.get("c")) solve();
  return h("section", {}, h("h1", {}, "Analogies"), h("p", { class: "lead" }, "What is to the third word as the second is to the first?"), form, hint, answers);
}

function pair({ signal }) {
  const [one, other] = [combobox({ label: "One word", placeholder: "One word" }), combobox({ label: "Another word", placeholder: "Another word" })];
  const out = h("div", { "aria-live": "polite" });
  const form = h("form", { class: "equation" }, h("div", { class: "field" }, one.root), h("div", { class: "field" }, other.root), h("button", { type: "submit" }, "Compare"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [a, b] = [one.input.value.trim(), other.input.value.trim()];
    if (a === "" || b === "") return (a === "" ? one : other).input.focus();
    answer(out, signal, async () => {
      const found = await ask("/v1/similarity", { query: { a, b }, signal });
      return h("p", {}, h("span", { class: "big" }, similarity(found.similarity)), " between ", wordLink(a), " and ", wordLink(b));
    });
  });
  return h("section", { "aria-labelledby": "pair-title" }, h("h2", { id: "pair-title" }, "How similar are two words?"), form, out);
}

function odd({ signal }) {
  const input = h("input", { type: "text", "aria-label": "Three or more words", placeholder: "breakfast lunch dinner engine", autocapitalize: "none", spellcheck: "false" });
  const out = h("div", { "aria-live": "polite" });
  const form = h("form", { class: "equation" }, h("div", { class: "combobox" }, input), h("button", { type: "submit" }, "Find it"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = input.value.split(/[\s,]+/).filter(Boolean);
    if (words.length < 3) return out.replaceChildren(h("p", { class: "note" }, "Give at least three words, with spaces between them."));
    answer(out, signal, async () => {
      const found = await ask("/v1/odd-one-out", { query: { word: words }, signal });
      const ordered = [...found.words].sort((one, other) => other.similarity - one.similarity);
      return [h("p", {}, h("span", { class: "big" }, wordLink(found.odd)), " does not belong."), neighborTable(ordered, "How well each belongs to the others")];
    });
  });
  return h("section", { "aria-labelledby": "odd-title" }, h("h2", { id: "odd-title" }, "Which does not belong?"), form, out);
}

/** Shows what a question gives, or why it gives nothing. */
async function answer(out, signal, question) {
  try {
    out.replaceChildren(...[await question()].flat());
  } catch (failure) {
    if (failure.name === "AbortError" || signal.aborted) return;
    const suggestions = failure.suggestions.length > 0 && h("ul", { class: "chips" }, failure.suggestions.map((word) => h("li", {}, wordLink(word))));
    out.replaceChildren(h("p", { class: "note bad" }, explain(failure)), ...(suggestions ? [suggestions] : []));
  }
}
