// A box to paste text into, and to see it learned.

import { ask, explain } from "../api.js";
import { h, wordLink } from "../dom.js";
import { bytes, many, number } from "../format.js";

const wordsOffered = 12;

export function text({ root, signal }) {
  const area = h("textarea", { id: "paste", "aria-describedby": "paste-hint", placeholder: "Paste or write here, one sentence or paragraph a line.", spellcheck: "false", dir: "auto" });
  const size = h("span", { class: "hint", id: "paste-hint" }, "Nothing yet");
  const button = h("button", { type: "submit", class: "primary", disabled: true }, "Learn this");
  const out = h("div", { role: "status" });
  const found = h("div", {});
  const form = h("form", { class: "paste" },
    h("h1", {}, "Add text"),
    h("p", { class: "soft" }, "It is written to the log, then learned with everything else. What was learned cannot be taken back."),
    h("label", { class: "unseen", for: "paste" }, "Text to learn"),
    area, h("div", { class: "row" }, size, button), out, found);
  root.append(form);

  // The same text, sent again after an answer was lost, is learned once.
  let sending = { text: null, key: null };

  area.addEventListener("input", () => {
    const lines = area.value === "" ? 0 : area.value.replace(/\n$/, "").split("\n").length;
    size.textContent = lines === 0 ? "Nothing yet" : `${many(lines, "line")}, ${bytes(new TextEncoder().encode(area.value).length)}`;
    button.disabled = area.value.trim() === "";
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !button.disabled) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = area.value;
    if (sending.text !== given) sending = { text: given, key: randomKey() };
    button.disabled = true;
    found.replaceChildren();
    const steps = h("ol", { class: "steps" });
    out.replaceChildren(steps);
    let last = step(steps, "Sending");
    try {
      const logged = await ask("/v1/text", { method: "POST", body: given, headers: { "content-type": "text/plain; charset=utf-8", "idempotency-key": sending.key }, signal });
      const lines = logged.first === logged.last ? `line ${number(logged.last)}` : `lines ${number(logged.first)} to ${number(logged.last)}`;
      done(last, `Logged as ${lines}: safe on disk`);
      last = step(steps, "Learning");
      await learned(logged.seq, signal);
      done(last, "Learned: it is in what is asked from now on");
      sending = { text: null, key: null };
      area.value = "";
      size.textContent = "Nothing yet";
      await offer(found, given, signal);
    } catch (failure) {
      if (failure.name === "AbortError") return;
      last.remove();
      out.append(h("p", { class: "note bad" }, explain(failure), accepted(failure)));
      button.disabled = false;
    }
  });
}

function step(steps, label) {
  const item = h("li", { class: "doing" }, `${label}…`);
  steps.append(item);
  return item;
}

function done(item, label) {
  item.className = "done";
  item.textContent = label;
}

/** Waits until a line is learned, however long that takes. */
async function learned(seq, signal) {
  for (;;) {
    const answer = await ask(`/v1/text/${seq}/wait`, { query: { timeout: 20 }, signal });
    if (answer.learned) return;
  }
}

function accepted({ accepted: part }) {
  return part && part.lines > 0 ? ` The first ${many(part.lines, "line")} of it had been accepted before that.` : "";
}

/** Words of the text that the model knows, with their nearest ones: the longest first, since they say the most. */
async function offer(root, given, signal) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  const words = [...segmenter.segment(given.slice(0, 20_000))].filter((one) => one.isWordLike).map((one) => one.segment);
  const candidates = [...new Set(words.flatMap((word) => [word, word.toLowerCase()]))].sort((one, other) => other.length - one.length).slice(0, 60);
  if (candidates.length === 0) return;
  const { results } = await ask("/v1/neighbors", { method: "POST", json: { words: candidates, n: 4 }, signal });
  const known = results.filter(({ neighbors }) => neighbors).slice(0, wordsOffered);
  root.replaceChildren(known.length === 0
    ? h("p", { class: "hint" }, "None of its words is in the vocabulary yet: a word has to be seen a few times before it is kept.")
    : h("section", { class: "learned" }, h("h2", {}, "Words of it, and what is near them now"),
      h("table", {}, h("tbody", {}, known.map(({ word, neighbors }) => h("tr", {}, h("td", {}, wordLink(word)), h("td", { class: "listed soft" }, neighbors.map((one) => wordLink(one.word)))))))));
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
