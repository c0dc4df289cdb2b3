// What is new and what moved since a time or snapshot of your choice.

import { ask, explain, isAbort } from "../api.js";
import { chips, h, replace, section, table, th, wordLink } from "../dom.js";
import { ago, exact, moment, number, share, short } from "../format.js";
import { live } from "../live.js";
import { fill, hint, note, problem } from "../messages.js";
import { replaceAddress, to } from "../route.js";
import { isNamed } from "./timeline.js";

/** @typedef {import("../api.js").Snapshot} Snapshot */
/** @typedef {{ word: string, since: string, neighbors_before: string[], neighbors_after: string[] }} Drift */

const spans = { "1h": "1 hour ago", "24h": "24 hours ago", "7d": "7 days ago", "30d": "30 days ago" };
const mostDrifts = 20;
const neighborsShown = 5;
const factorTitle = "How many times as frequent as before, at the lower end of the range that the counts allow (95 %)";
/** @type {Record<string, string>} */
const warningTexts = {
  "too-little-text": "There is too little new text to tell movement from chance.",
  "not-one-model": "The snapshot does not look like an earlier state of this model, so the comparison may mean little.",
  swapped: "Most words are rarer now than in the snapshot, so the comparison may mean little.",
};
const surpriseTitle = "How much farther it moved than words of the same frequency do, in standard deviations";

/** Movements of watched words since the page was opened, the newest first. @type {(Drift & { heard: string })[]} */
let drifts = [];
live.on("drift", (drift) => {
  drifts = [{ ...drift, heard: new Date().toISOString() }, ...drifts].slice(0, mostDrifts);
});

/** @param {import("../views.js").Context} context */
export function change({ root, query, signal }) {
  let since = query.get("since") ?? "24h";
  const choice = h("select", { id: "since" }, options([], since));
  const [emerging, movers, snapshots, watched] = [h("div"), h("div"), h("div"), h("div")];
  const compareWith = h("div.since", h("label", { for: "since" }, "Compare with"), choice);
  replace(
    root,
    h("div.head", h("h1", "Changes"), compareWith),
    h(
      "div.stack",
      h(
        "div.columns",
        section("Emerging", h("span.hint", "much more frequent than before"), emerging),
        section("Movers", h("span.hint", "with other neighbors than before"), movers),
      ),
      h(
        "div.columns",
        section("Snapshots", null, snapshots, saveForm(signal)),
        section("Watched words", null, watched),
      ),
    ),
  );

  const load = () => {
    const asked = { query: { since, n: 20 }, signal };
    fill(emerging, signal, async () => emergingTable(await ask("/v1/emerging", asked)));
    fill(movers, signal, async () => moversTable(await ask("/v1/movers", asked)));
  };
  const loadSnapshots = () =>
    fill(snapshots, signal, async () => {
      const answer = await ask("/v1/snapshots", { signal });
      replace(choice, options(answer.snapshots, since));
      return snapshotTable(answer.snapshots, loadSnapshots, signal);
    });
  const loadWatched = () => fill(watched, signal, async () => watchedWords(await ask("/v1/watch", { signal })));
  choice.addEventListener("change", () => {
    since = choice.value;
    replaceAddress(to("change", null, { since }));
    load();
  });
  live.on("kept", loadSnapshots, signal);
  live.on("rolled_back", load, signal);
  live.on("drift", loadWatched, signal);
  load();
  loadSnapshots();
  loadWatched();
}

/** @param {Snapshot[]} snapshots @param {string} since */
function options(snapshots, since) {
  const option = (/** @type {string} */ value, /** @type {string} */ label) =>
    h("option", { value, selected: value === since }, label);
  const isListed = since in spans || snapshots.some(({ name }) => name === since);
  const named = snapshots.map((one) => option(one.name, isNamed(one) ? one.name : `snapshot of ${moment(one.time)}`));
  return [
    Object.entries(spans).map(([value, label]) => option(value, label)),
    !isListed && option(since, since),
    named.length > 0 && h("optgroup", { label: "Snapshots" }, named.reverse()),
  ];
}

/**
 * @param {{
 *   since: { name: string | null, time: string },
 *   note: string | null,
 *   words: {
 *     word: string, new: boolean, factor: number | null, share: number, share_before: number, count: number, before: number,
 *     documents: number, first_seen: string,
 *   }[],
 * }} answer
 */
function emergingTable(answer) {
  const { words, since } = answer;
  const compared = hint(
    since.name === null ? "There is no snapshot yet: these are new words." : comparedWith(since.time, answer.note),
  );
  if (words.length === 0) return [note("No word became much more frequent since then."), compared];
  const rows = words.map((one) =>
    h(
      "tr",
      h("td", wordLink(one.word), one.new && [" ", h("span.badge", "new")]),
      h("td.number", one.factor === null ? "–" : `×${factor(one.factor)}`),
      h("td.number.soft", `${share(one.share_before)} → ${share(one.share)}`),
      h("td.number.soft.wide", { title: exact(one.first_seen) }, number(one.count - one.before)),
      h("td.number.soft.wide", number(one.documents)),
    ),
  );
  const headings = [
    th("Word"),
    th(h("span", { title: factorTitle }, "At least"), "number"),
    th("Share of the text", "number"),
    th("Times since", "number wide"),
    th("Lines", "number wide"),
  ];
  return [table({ class: "emerging", "aria-label": "Emerging words" }, headings, rows), compared];
}

/** @param {number} value */
const factor = (value) => (value < 10 ? value.toFixed(1) : short(value));

/** @param {string} time @param {string | null} note */
const comparedWith = (time, note) =>
  note === null
    ? `Compared with the snapshot of ${exact(time)}.`
    : `No snapshot is that old: compared with the oldest, of ${exact(time)}.`;

/**
 * @param {{
 *   since: { time: string } | null,
 *   note: string | null,
 *   warnings: string[],
 *   movers: {
 *     word: string, cosine: number, surprise: number, above_floor: boolean, neighbors_before: string[], neighbors_after: string[],
 *   }[],
 * }} answer
 */
function moversTable({ movers, since, note: reason, warnings }) {
  if (since === null) return note("There is no snapshot to compare with yet.");
  const notes = warnings.map((warning) => note(warningTexts[warning] ?? warning));
  if (movers.length === 0) {
    const none = "No word with new occurrences moved measurably.";
    return [notes.length > 0 ? notes : note(none), hint(comparedWith(since.time, reason))];
  }
  const rows = movers.map((one) =>
    h(
      "tr",
      { class: one.above_floor ? "" : "faint" },
      h("td", wordLink(one.word)),
      h("td.listed", h("div.soft", links(one.neighbors_before)), h("div", arrow(), links(one.neighbors_after))),
      h("td.number", { title: `cosine ${one.cosine.toFixed(3)}` }, `${one.surprise.toFixed(1)} σ`),
    ),
  );
  const faint = movers.every((one) => one.above_floor) ? "" : " Words in grey moved no farther than chance explains.";
  return [
    notes,
    table(
      { class: "moved", "aria-label": "Words that moved" },
      [th("Word"), th("Neighbors before → now"), th(h("span", { title: surpriseTitle }, "Beyond chance"), "number")],
      rows,
    ),
    hint(`${comparedWith(since.time, reason)}${faint}`),
  ];
}

/** @param {string[]} words */
const links = (words) => words.slice(0, neighborsShown).map((word) => wordLink(word));

const arrow = () => h("span.arrow", { "aria-hidden": "true" }, "→ ");

/** @param {Snapshot[]} snapshots @param {() => void} reload @param {AbortSignal} signal */
function snapshotTable(snapshots, reload, signal) {
  if (snapshots.length === 0) return hint("None yet. The service takes them regularly while it receives new text.");
  const rows = snapshots.toReversed().map((one) => {
    const time = moment(one.time);
    return h(
      "tr",
      h("td", { title: exact(one.time) }, isNamed(one) ? [one.name, h("span.soft", `, ${time}`)] : time),
      h("td.number.soft", number(one.vocabulary)),
      h("td.number.soft.wide", number(one.seq)),
      h("td.number", one.state && returnButton(one, reload, signal), deleteButton(one.name, reload, signal)),
    );
  });
  return table(
    {},
    [th("When"), th("Words", "number"), th("Line", "number wide"), th(h("span.unseen", "Actions"))],
    rows,
  );
}

/** @param {string} name @param {() => void} reload @param {AbortSignal} signal */
function deleteButton(name, reload, signal) {
  return carefulButton("Delete", "Confirm delete", `Delete the snapshot ${name}`, async () => {
    await ask(`/v1/snapshots/${encodeURIComponent(name)}`, { method: "DELETE", signal });
    reload();
  });
}

/** @param {Snapshot} snapshot @param {() => void} reload @param {AbortSignal} signal */
function returnButton({ name, seq }, reload, signal) {
  const label = `Return to the snapshot ${name}, and skip all text after line ${number(seq)}`;
  return carefulButton("Return", "Confirm return", label, async () => {
    await ask("/v1/rollback", { method: "POST", json: { snapshot: name }, signal });
    reload();
  });
}

/**
 * A button that has to be pressed twice, because what it does cannot be undone.
 * @param {string} text
 * @param {string} sure
 * @param {string} label
 * @param {() => Promise<void>} act
 */
function carefulButton(text, sure, label, act) {
  const button = h("button.quiet", { type: "button", "aria-label": label, title: label }, text);
  let isSure = false;
  button.addEventListener("blur", () => {
    isSure = false;
    button.textContent = text;
  });
  button.addEventListener("click", async () => {
    if (!isSure) {
      isSure = true;
      button.textContent = sure;
      return;
    }
    try {
      await act();
    } catch (error) {
      button.textContent = explain(error);
    }
  });
  return button;
}

/** @param {AbortSignal} signal */
function saveForm(signal) {
  const name = h("input", {
    type: "text",
    required: true,
    pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}",
    placeholder: "before-launch",
    title: "Up to 64 letters, digits, dots, dashes and underscores",
    autocapitalize: "none",
    spellcheck: "false",
  });
  const state = h("input", { type: "checkbox" });
  const out = h("div", { role: "status" });
  const onsubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await ask("/v1/snapshots", { method: "POST", json: { name: name.value, state: state.checked }, signal });
      replace(out, h("p.note.good", `Saved as ${name.value}.`));
      name.value = "";
      live.dispatchEvent(new CustomEvent("kept"));
    } catch (error) {
      if (!isAbort(error)) replace(out, problem(error));
    }
  };
  const form = h(
    "form.keep",
    { onsubmit },
    h("label", "Save a snapshot as", name),
    h("div.choices", h("label", state, "with its state, to return to it")),
    h("button", { type: "submit" }, "Save"),
  );
  return [form, out];
}

/** @param {{ words: string[] }} answer */
function watchedWords({ words }) {
  if (words.length === 0) return hint("None. Open a word and press Watch to be notified when it moves.");
  const items = drifts.map((one) =>
    h(
      "li",
      h("p", wordLink(one.word), " moved", h("span.soft", `, ${ago(one.heard)}, compared with ${one.since}`)),
      h("p.listed.soft", links(one.neighbors_before)),
      h("p.listed", arrow(), links(one.neighbors_after)),
    ),
  );
  return [chips(words), items.length > 0 && h("ul.drifts", items)];
}
