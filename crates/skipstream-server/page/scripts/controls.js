// Words under control: the lists, and a form for administrators.

import { ask, isAbort } from "./api.js";
import { chips, h, replace, section } from "./dom.js";
import { fill, hint, problem } from "./messages.js";

/** @typedef {{ pinned: string[], blocked: string[], kept_out: number, merged: Record<string, string> }} Lists */

/** What can be done, and what it does to a word. */
const actions = [
  ["pin", "Pin", "it never leaves"],
  ["unpin", "Unpin", "it may leave again"],
  ["block", "Block", "it leaves, and is not learned"],
  ["unblock", "Unblock", "it is learned again"],
  ["merge", "Merge", "it counts as the other word from now on"],
  ["unmerge", "Unmerge", "it is a word of its own again"],
  ["forget", "Forget", "it is deleted from every file of the service, which cannot be undone"],
];

/** @param {AbortSignal} signal */
export function controls(signal) {
  const lists = h("div");
  const load = () => fill(lists, signal, async () => listed(await ask("/v1/controls", { signal })));
  load();
  return section("Words under control", h("span.hint", "needs the role admin"), lists, form(load, signal));
}

/** @param {Lists} lists */
function listed({ pinned, blocked, kept_out, merged }) {
  const pairs = Object.entries(merged).map(([word, into]) => h("li", `${word} → ${into}`));
  const parts = [
    pinned.length > 0 && [h("h3", "Pinned"), chips(pinned)],
    blocked.length > 0 && [h("h3", "Blocked"), h("p", blocked.join(", "))],
    pairs.length > 0 && [h("h3", "Merged"), h("ul", pairs)],
    kept_out > 0 && h("p", `Forgotten and kept out: ${kept_out}`),
  ];
  return parts.some(Boolean)
    ? parts
    : hint("None. Pinned words never leave the vocabulary; blocked ones never enter it.");
}

/** @param {() => void} reload @param {AbortSignal} signal */
function form(reload, signal) {
  const options = actions.map(([value, title, effect]) => h("option", { value }, `${title}: ${effect}`));
  const action = h("select", options);
  const word = h("input", { type: "text", required: true, autocapitalize: "none", spellcheck: "false" });
  const into = h("input", { type: "text", autocapitalize: "none", spellcheck: "false" });
  const other = h("label", { hidden: true }, "Into", into);
  const keepOut = h("input", { type: "checkbox" });
  const again = h("div.choices", { hidden: true }, h("label", keepOut, "Keep it out if it occurs again"));
  const out = h("div", { role: "status" });
  action.addEventListener("change", () => {
    other.hidden = action.value !== "merge";
    into.required = action.value === "merge";
    again.hidden = action.value !== "forget";
  });
  const onsubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const body = {
      word: word.value,
      ...(action.value === "merge" && { into: into.value }),
      ...(action.value === "forget" && { keep_out: keepOut.checked }),
    };
    replace(out, hint("Waiting until the text before it is learned…"));
    try {
      const answer = await ask("/v1/controls", {
        method: "POST",
        json: { controls: [{ [action.value]: body }] },
        signal,
      });
      replace(out, h("p.note.good", told(answer.controls[0])));
      word.value = "";
      reload();
    } catch (error) {
      if (!isAbort(error)) replace(out, problem(error));
    }
  };
  const fields = [h("label", "Do", action), h("label", "Word", word), other, again];
  return [h("form.keep", { onsubmit }, fields, h("button", { type: "submit" }, "Apply")), out];
}

/** @param {{ word: string, changed: boolean, left: number | null }} one */
function told({ word, changed, left }) {
  if (!changed) return `Nothing to change for ${word}.`;
  return left === null ? `Done: ${word}.` : `Done: ${word} had a count of ${left} and left the vocabulary.`;
}
