// The frame around the views: which is shown, the search, the connection, the token.

import { hasToken, useToken } from "./api.js";
import { combobox } from "./combobox.js";
import { announce, h, wordHref } from "./dom.js";
import { ago, exact, number } from "./format.js";
import { live } from "./live.js";
import { go, here } from "./route.js";
import { analogies } from "./views/analogies.js";
import { change } from "./views/change.js";
import { mapView } from "./views/map.js";
import { now } from "./views/now.js";
import { text } from "./views/text.js";
import { word } from "./views/word.js";

const views = { "": now, word, map: mapView, analogies, change, text };
const titles = { "": "Now", word: "Word", map: "Map", analogies: "Analogies", change: "Change", text: "Add text" };
const byId = (id) => document.getElementById(id);
const main = byId("view");

let shown = new AbortController();
let isFirst = true;

/**
 * Shows the view of the address. A view gets its element, what the address says, and a signal that ends it: its requests
 * and its listeners.
 */
function show() {
  shown.abort();
  shown = new AbortController();
  const { name, argument, query } = here();
  const isView = Object.hasOwn(views, name);
  const view = isView ? views[name] : now;
  const tab = name === "word" ? null : `#/${isView ? name : ""}`;
  for (const link of document.querySelectorAll("#tabs a")) {
    if (link.getAttribute("href") === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = argument ?? titles[isView ? name : ""];
  document.title = `${title} · skipstream`;
  search.input.value = name === "word" ? argument ?? "" : "";

  const root = h("div", {});
  main.replaceChildren(root);
  view({ root, argument, query, signal: shown.signal });
  if (!isFirst) {
    // The next thing that is read and reached is what has just come, not what was left.
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    announce(title);
  }
  isFirst = false;
}

const search = combobox({ id: "q", label: "Search a word", placeholder: "Search a word", choose: (chosen) => go(wordHref(chosen)) });
byId("search").append(search.root);
byId("search").addEventListener("submit", (event) => event.preventDefault());
search.input.setAttribute("aria-keyshortcuts", "/");

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.input.focus();
    search.input.select();
  }
});

// Its address must not become that of a view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// A problem that is told once is shown for a while; one that stays is in the statistics.
let passing = null;
live.addEventListener("problem", ({ detail }) => {
  passing = detail.message;
  showBanner();
  setTimeout(() => (passing = null), 30_000);
});

/** The connection: in the head for a glance, and as a banner when it is lost. */
function showState() {
  const link = byId("link");
  const words = { connecting: "connecting", open: "idle", lost: "not connected", token: "no token" };
  const isLearning = live.state === "open" && live.stats?.words_per_second > 0;
  link.dataset.state = live.state;
  link.toggleAttribute("data-learning", isLearning);
  const text = isLearning ? "learning" : words[live.state];
  if (byId("link-text").textContent !== text) byId("link-text").textContent = text;
  showBanner();
}

function showBanner() {
  const banner = byId("banner");
  const problem = live.state === "open" ? live.stats?.problem ?? passing : null;
  const kind = live.state === "lost" || live.state === "token" ? live.state : problem ?? "";
  if (banner.dataset.kind === kind) return;
  banner.dataset.kind = kind;
  banner.hidden = kind === "";
  if (kind === "lost") {
    const again = h("button", { type: "button", onclick: () => live.retry() }, "Try now");
    banner.replaceChildren(h("div", {}, h("span", {}, "Connection lost, trying again. What is shown here may be out of date."), again));
  } else if (kind === "token") {
    const give = h("button", { type: "button", onclick: () => askForToken(false) }, "Give a token");
    banner.replaceChildren(h("div", {}, h("span", {}, "This service shows nothing without a token."), give));
  } else if (kind) banner.replaceChildren(h("div", {}, `The service has a problem: ${problem}`));
}

function showSnapshot() {
  const snapshot = live.stats?.snapshot;
  if (!snapshot) return;
  const words = snapshot.vocabulary === 0 ? "nothing learned yet" : `${number(snapshot.vocabulary)} words`;
  byId("snapshot").textContent = `Snapshot at line ${number(snapshot.seq)}, ${words}, ${ago(snapshot.time)}`;
  byId("snapshot").title = exact(snapshot.time);
}

/** Asks for a token, once at a time. */
function askForToken(isWrong) {
  const dialog = byId("token");
  if (dialog.open) return;
  if (isWrong) byId("token-why").textContent = "The token was not accepted. It may be mistyped, or no longer valid.";
  byId("token-input").value = "";
  dialog.showModal();
  byId("token-input").focus();
}

byId("token-cancel").addEventListener("click", () => byId("token").close());
byId("token").querySelector("form").addEventListener("submit", () => useToken(byId("token-input").value.trim()));
byId("forget-token").addEventListener("click", () => useToken(null));
document.addEventListener("token-needed", (event) => askForToken(event.detail.wrong));
document.addEventListener("token", () => {
  byId("forget-token").hidden = !hasToken();
  show();
});
byId("forget-token").hidden = !hasToken();

live.addEventListener("state", showState);
live.addEventListener("stats", () => {
  showState();
  showSnapshot();
});
setInterval(showSnapshot, 1000);

window.addEventListener("hashchange", show);
show();
live.start();
