// Text or files to be learned, and how that goes.

import { ask, Failure, isAbort } from "../api.js";
import { command, sendCommand } from "../commands.js";
import { h, replace, section, wordLink } from "../dom.js";
import { bytes, many, number } from "../format.js";
import { hint, note, problem } from "../messages.js";

const wordsOffered = 12;
const noText = "No text yet";

/** @param {import("../views.js").Context} context */
export function text({ root, signal }) {
  const area = h("textarea", {
    id: "paste",
    "aria-describedby": "paste-hint",
    placeholder: "Paste or type text, one sentence or paragraph per line, or drop a file here.",
    spellcheck: "false",
    dir: "auto",
  });
  const size = h("span.hint", { id: "paste-hint" }, noText);
  const button = h("button.primary", { type: "submit", disabled: true }, "Learn this text");
  const out = h("div", { role: "status" });
  const found = h("div");
  const picker = h("input", { type: "file", "aria-label": "File to learn", accept: ".txt,.gz,.jsonl,.ndjson,text/*" });
  const form = h(
    "form.paste",
    h("h1", "Add text"),
    h("p.soft", "The text is written to the log, then learned with everything else. You cannot undo this."),
    h("label.unseen", { for: "paste" }, "Text to learn"),
    area,
    h("div.row", size, picker, button),
    out,
    found,
    h("div.other", h("h2", "From the command line"), command(sendCommand("corpus.txt"))),
  );
  root.append(form);

  // Text that is sent again because the response was lost is learned once.
  /** @type {{ text: string | File, key: string }} */
  let sending = { text: "", key: "" };
  /** A file to send instead of the text. @type {File | null} */
  let file = null;

  const showSize = () => {
    const lines = area.value === "" ? 0 : area.value.replace(/\n$/, "").split("\n").length;
    const length = bytes(new TextEncoder().encode(area.value).length);
    const typed = lines === 0 ? noText : `${many(lines, "line")}, ${length}`;
    size.textContent = file ? `${file.name}, ${bytes(file.size)}` : typed;
    area.hidden = file !== null;
    button.disabled = file === null && area.value.trim() === "";
    button.textContent = file ? "Learn this file" : "Learn this text";
  };
  const choose = (/** @type {File | null} */ chosen) => {
    file = chosen;
    showSize();
  };
  picker.addEventListener("change", () => choose(picker.files?.[0] ?? null));
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("dropping");
  });
  form.addEventListener("dragleave", () => form.classList.remove("dropping"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("dropping");
    const dropped = event.dataTransfer?.files[0];
    if (dropped) choose(dropped);
  });
  area.addEventListener("input", showSize);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !button.disabled) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = file ?? area.value;
    if (sending.text !== given) sending = { text: given, key: randomKey() };
    button.disabled = true;
    replace(found);
    const steps = h("ol.steps");
    replace(out, steps);
    let last = addStep(steps, "Sending");
    try {
      const headers = { ...headersOf(given), "idempotency-key": sending.key };
      const logged = await ask("/v1/text", { method: "POST", body: given, headers, signal });
      const { first, last: end } = logged;
      const lines = first === end ? `line ${number(end)}` : `lines ${number(first)} to ${number(end)}`;
      complete(last, end === null ? "There were no lines" : `Logged as ${lines}, safe on disk`);
      last = addStep(steps, "Learning");
      await learned(logged.seq, signal);
      complete(last, "Learned and available to queries");
      if (logged.warning) out.append(note(`Warning: ${logged.warning}.`));
      sending = { text: "", key: "" };
      area.value = "";
      picker.value = "";
      choose(null);
      if (typeof given === "string") replace(found, await neighborsOf(given, signal));
    } catch (error) {
      if (isAbort(error)) return;
      last.remove();
      const lines = error instanceof Failure ? (error.accepted?.lines ?? 0) : 0;
      const accepted = lines > 0 && ` The first ${many(lines, "line")} had been accepted before.`;
      out.append(h("div", problem(error, accepted)));
      button.disabled = false;
    }
  });
}

/** The headers of an upload, by the name of its file. @param {string | File} body @returns {Record<string, string>} */
function headersOf(body) {
  const name = typeof body === "string" ? "" : body.name;
  const isRecords = /\.(jsonl|ndjson)(\.gz)?$/i.test(name);
  const type = isRecords ? "application/x-ndjson" : "text/plain; charset=utf-8";
  return { "content-type": type, ...(name.endsWith(".gz") && { "content-encoding": "gzip" }) };
}

/** @param {Element} steps @param {string} label */
function addStep(steps, label) {
  const item = h("li.doing", `${label}…`);
  steps.append(item);
  return item;
}

/** @param {Element} item @param {string} label */
function complete(item, label) {
  item.className = "done";
  item.textContent = label;
}

/** Waits until a line is learned, however long that takes. @param {number} seq @param {AbortSignal} signal */
async function learned(seq, signal) {
  let answer;
  do answer = await ask(`/v1/text/${seq}/wait`, { query: { timeout: 20 }, signal });
  while (!answer.learned);
}

/**
 * Known words of the text with their neighbors. Long words first, since they say the most.
 * @param {string} given
 * @param {AbortSignal} signal
 */
async function neighborsOf(given, signal) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  const words = [...segmenter.segment(given.slice(0, 20_000))].filter((one) => one.isWordLike);
  const spellings = new Set(words.flatMap(({ segment }) => [segment, segment.toLowerCase()]));
  const candidates = [...spellings].sort((one, other) => other.length - one.length).slice(0, 60);
  if (candidates.length === 0) return null;
  const answer = await ask("/v1/neighbors", { method: "POST", json: { words: candidates, n: 4 }, signal });
  /** @type {{ word: string, neighbors: { word: string }[] | null }[]} */
  const results = answer.results;
  const rows = results.flatMap(({ word, neighbors }) =>
    neighbors
      ? [
          h(
            "tr",
            h("td", wordLink(word)),
            h(
              "td.listed.soft",
              neighbors.map((one) => wordLink(one.word)),
            ),
          ),
        ]
      : [],
  );
  if (rows.length === 0)
    return hint("None of these words is in the vocabulary yet. A word has to occur a few times first.");
  const list = h("table", h("tbody", rows.slice(0, wordsOffered)));
  return h("div.learned", section("Words of your text and their neighbors", null, list));
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
