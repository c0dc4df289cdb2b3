// What is new and what moved, since a moment of one's choice.

import { ask, explain } from "../api.js";
import { bar, h, wordLink } from "../dom.js";
import { ago, exact, moment, number, short } from "../format.js";
import { live } from "../live.js";
import { say, to } from "../route.js";
import { isNamed } from "./timeline.js";

const spans = { "1h": "the last hour", "24h": "the last 24 hours", "7d": "the last 7 days", "30d": "the last 30 days" };

// What was told of watched words since the page was opened, the newest first.
const drifts = [];
live.addEventListener("drift", ({ detail }) => {
  drifts.unshift({ ...detail, heard: new Date().toISOString() });
  drifts.length = Math.min(drifts.length, 20);
});

export function change({ root, query, signal }) {
  let since = query.get("since") ?? "24h";
  const choice = h("select", { id: "since" });
  const emerging = h("div", {});
  const movers = h("div", {});
  const kept = h("div", {});
  const watched = h("div", {});
  root.append(
    h("div", { class: "head" }, h("h1", {}, "Change"), h("div", { class: "since" }, h("label", { for: "since" }, "Since"), choice)),
    h("div", { class: "stack" },
      h("div", { class: "columns" },
        h("section", { "aria-labelledby": "emerging-title" }, h("div", { class: "head" }, h("h2", { id: "emerging-title" }, "Emerging"), h("span", { class: "hint" }, "much more frequent than before")), emerging),
        h("section", { "aria-labelledby": "movers-title" }, h("div", { class: "head" }, h("h2", { id: "movers-title" }, "Movers"), h("span", { class: "hint" }, "in other company than before")), movers)),
      h("div", { class: "columns" },
        h("section", { "aria-labelledby": "kept-title" }, h("h2", { id: "kept-title" }, "Kept snapshots"), kept, keepForm(signal)),
        h("section", { "aria-labelledby": "watched-title" }, h("h2", { id: "watched-title" }, "Watched words"), watched))));

  const load = () => {
    fill(emerging, signal, async () => emergingTable(await ask("/v1/emerging", { query: { since, n: 20 }, signal })));
    fill(movers, signal, async () => moversTable(await ask("/v1/movers", { query: { since, n: 20 }, signal })));
  };
  const loadKept = () => fill(kept, signal, async () => {
    const { snapshots } = await ask("/v1/snapshots", { signal });
    choice.replaceChildren(...options(snapshots, since));
    return keptTable(snapshots, loadKept, signal);
  });
  choice.replaceChildren(...options([], since));
  choice.addEventListener("change", () => {
    since = choice.value;
    say(to("change", null, { since }));
    load();
  });
  live.addEventListener("kept", loadKept, { signal });
  const loadWatched = () => fill(watched, signal, async () => watchedWords(await ask("/v1/watch", { signal })));
  live.addEventListener("drift", loadWatched, { signal });
  loadWatched();
  load();
  loadKept();
}

function options(snapshots, since) {
  const names = snapshots.map(({ name }) => name);
  const option = (value, label) => h("option", { value, selected: value === since }, label);
  const given = since in spans || names.includes(since) ? [] : [option(since, since)];
  const list = snapshots.map((one) => option(one.name, isNamed(one) ? one.name : `snapshot of ${moment(one.time)}`)).reverse();
  return [...Object.entries(spans).map(([value, label]) => option(value, label)), ...given, list.length > 0 ? h("optgroup", { label: "Kept snapshots" }, list) : null].filter(Boolean);
}

function emergingTable({ words }) {
  if (words.length === 0) return h("p", { class: "note" }, "Nothing has come up since then.");
  const best = Math.max(...words.map(({ score }) => score));
  return h("table", { class: "bars", "aria-label": "Emerging words" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Word"), h("th", { scope: "col", class: "bar" }, "Strength"), h("th", { scope: "col", class: "number" }, "Count"), h("th", { scope: "col", class: "number" }, "First seen"))),
    h("tbody", {}, words.map((one) => h("tr", {},
      h("td", {}, wordLink(one.word), one.new && [" ", h("span", { class: "badge" }, "new")]),
      h("td", { class: "bar", title: `score ${one.score.toFixed(1)}` }, bar(one.score / best), h("span", { class: "unseen" }, one.score.toFixed(1))),
      h("td", { class: "number soft" }, short(one.count)),
      h("td", { class: "number soft", title: exact(one.first_seen) }, ago(one.first_seen))))));
}

function moversTable({ movers, since }) {
  if (since === null) return h("p", { class: "note" }, "No snapshot has been kept so far to compare with.");
  if (movers.length === 0) return h("p", { class: "note" }, "No word was known both then and now.");
  const isAnyFaint = movers.some((one) => !one.above_floor);
  const list = (words) => words.slice(0, 5).map((one) => wordLink(one.word ?? one));
  return [
    h("table", { class: "moved", "aria-label": "Words that moved" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Word"), h("th", { scope: "col" }, "Before, then now"), h("th", { scope: "col", class: "number" }, "Moved"))),
      h("tbody", {}, movers.map((one) => h("tr", { class: one.above_floor ? "" : "faint" },
        h("td", {}, wordLink(one.word)),
        h("td", { class: "listed" }, h("div", { class: "soft" }, list(one.neighbors_before)), h("div", {}, h("span", { class: "arrow", "aria-hidden": "true" }, "→ "), list(one.neighbors_after))),
        h("td", { class: "number", title: `cosine ${one.cosine.toFixed(3)}` }, (1 - one.cosine).toFixed(2)))))),
    h("p", { class: "hint" }, `Against the snapshot of ${exact(since.time)}.${isAnyFaint ? " Words in grey moved no farther than chance alone may take a word." : ""}`),
  ].filter(Boolean);
}

function keptTable(snapshots, reload, signal) {
  if (snapshots.length === 0) return h("p", { class: "hint" }, "None so far. The service keeps one every so often while there is new text.");
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When"), h("th", { scope: "col", class: "number" }, "Words"), h("th", { scope: "col", class: "number wide" }, "Line"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Delete")))),
    h("tbody", {}, [...snapshots].reverse().map((one) => h("tr", {},
      h("td", { title: exact(one.time) }, isNamed(one) ? [one.name, h("span", { class: "soft" }, `, ${moment(one.time)}`)] : moment(one.time)),
      h("td", { class: "number soft" }, number(one.vocabulary)),
      h("td", { class: "number soft wide" }, number(one.seq)),
      h("td", { class: "number" }, remove(one.name, reload, signal))))));
}

/** A button that deletes when it is pressed twice: there is no way back. */
function remove(name, reload, signal) {
  const button = h("button", { type: "button", class: "quiet", "aria-label": `Delete the snapshot ${name}` }, "Delete");
  let isSure = false;
  button.addEventListener("blur", () => {
    isSure = false;
    button.textContent = "Delete";
  });
  button.addEventListener("click", async () => {
    if (!isSure) {
      isSure = true;
      button.textContent = "Really delete";
      return;
    }
    try {
      await ask(`/v1/snapshots/${encodeURIComponent(name)}`, { method: "DELETE", signal });
      reload();
    } catch (failure) {
      button.textContent = explain(failure);
    }
  });
  return button;
}

function keepForm(signal) {
  const name = h("input", { type: "text", required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}", placeholder: "before-launch", title: "Letters, digits, dots, dashes and underscores, 64 at the most", autocapitalize: "none", spellcheck: "false" });
  const out = h("div", { role: "status" });
  const form = h("form", { class: "keep" }, h("label", {}, "Keep the present as", name), h("button", { type: "submit" }, "Keep"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await ask("/v1/snapshots", { method: "POST", json: { name: name.value }, signal });
      out.replaceChildren(h("p", { class: "note good" }, `Kept as ${name.value}.`));
      name.value = "";
      live.dispatchEvent(new CustomEvent("kept"));
    } catch (failure) {
      if (failure.name !== "AbortError") out.replaceChildren(h("p", { class: "note bad" }, explain(failure)));
    }
  });
  return [form, out];
}

function watchedWords({ words }) {
  if (words.length === 0) return h("p", { class: "hint" }, "None. Open a word and press Watch: the service then tells when it moves.");
  return [
    h("ul", { class: "chips" }, words.map((word) => h("li", {}, wordLink(word)))),
    drifts.length > 0 && h("ul", { class: "drifts" }, drifts.map((one) => h("li", {},
      h("p", {}, wordLink(one.word), " moved", h("span", { class: "soft" }, `, ${ago(one.heard)}, against ${one.since}`)),
      h("p", { class: "listed soft" }, one.neighbors_before.map((word) => wordLink(word))),
      h("p", { class: "listed" }, h("span", { class: "arrow", "aria-hidden": "true" }, "→ "), one.neighbors_after.map((word) => wordLink(word)))))),
  ].filter(Boolean);
}

async function fill(element, signal, make) {
  try {
    element.replaceChildren(...[await make()].flat());
  } catch (failure) {
    if (failure.name === "AbortError" || signal.aborted) return;
    element.replaceChildren(h("p", { class: failure.status === 404 ? "note" : "note bad" }, explain(failure)));
  }
}
