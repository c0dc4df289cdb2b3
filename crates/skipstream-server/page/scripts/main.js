// The frame around the views: navigation, search, connection, token.

import { hasToken, useToken } from "./api.js";
import { combobox } from "./combobox.js";
import { announce, byId, h, replace } from "./dom.js";
import { ago, exact, number } from "./format.js";
import { live } from "./live.js";
import { go, parse, to } from "./route.js";
import { viewOf, views } from "./views.js";

const main = byId("view");
const states = { connecting: "connecting", open: "idle", lost: "not connected", token: "no token" };
const problemShownFor = 30_000;

let shown = new AbortController();
let isFirst = true;

/** Shows the view of the address. */
function show() {
  shown.abort();
  shown = new AbortController();
  const { name, argument, query } = parse(location.hash);
  const view = viewOf(name);
  for (const link of tabs) link.removeAttribute("aria-current");
  tabs.find((link) => link.getAttribute("href") === to(view.name))?.setAttribute("aria-current", "page");
  const title = argument ?? view.title;
  document.title = `${title} · skipstream`;
  search.input.value = view.name === "word" ? (argument ?? "") : "";

  const root = h("div");
  replace(main, root);
  view.show({ root, name, argument, query, signal: shown.signal });
  if (!isFirst) {
    // A screen reader and the Tab key continue in the new view.
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    announce(title);
  }
  isFirst = false;
}

const tabs = views.filter((view) => view.inNavigation).map(({ name, title }) => h("a", { href: to(name) }, title));
replace(byId("tabs"), tabs);

const placeholder = "Search for a word";
const search = combobox({ id: "q", label: placeholder, placeholder, choose: (word) => go(to("word", word)) });
search.input.setAttribute("aria-keyshortcuts", "/");
byId("search").append(search.root);
byId("search").addEventListener("submit", (event) => event.preventDefault());

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.input.focus();
    search.input.select();
  }
});

// The link must not change the address, which names the view.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// A problem that the service reports once is shown for a while; one that persists is in the statistics.
/** @type {string | null} */
let passing = null;
live.on("problem", ({ message }) => {
  passing = message;
  showBanner();
  setTimeout(() => {
    passing = null;
  }, problemShownFor);
});

function showState() {
  const link = byId("link");
  const isLearning = live.state === "open" && (live.stats?.words_per_second ?? 0) > 0;
  link.dataset.state = live.state;
  link.toggleAttribute("data-learning", isLearning);
  const text = isLearning ? "learning" : states[live.state];
  // Text that is set is read out again, also when it is the same.
  if (byId("link-text").textContent !== text) byId("link-text").textContent = text;
  showBanner();
}

function showBanner() {
  const banner = byId("banner");
  const problem = live.state === "open" ? (live.stats?.problem ?? passing) : null;
  const kind = live.state === "lost" || live.state === "token" ? live.state : (problem ?? "");
  if (banner.dataset.kind === kind) return;
  banner.dataset.kind = kind;
  banner.hidden = kind === "";
  const button = (/** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", onclick }, label);
  const content = {
    lost: [
      "Connection lost. Reconnecting… The data shown may be out of date.",
      button("Retry now", () => live.retry()),
    ],
    token: ["This service requires a token.", button("Enter token", () => askForToken(false))],
  };
  if (kind === "lost" || kind === "token") replace(banner, h("div", h("span", content[kind][0]), content[kind][1]));
  else if (kind) replace(banner, h("div", `Problem in the service: ${problem}`));
}

function showPublished() {
  const published = live.stats?.snapshot;
  if (!published) return;
  const words = published.vocabulary === 0 ? "no words yet" : `${number(published.vocabulary)} words`;
  byId("published").textContent = `Published at line ${number(published.seq)}: ${words}, ${ago(published.time)}`;
  byId("published").title = exact(published.time);
}

const dialog = /** @type {HTMLDialogElement} */ (byId("token"));
const tokenInput = /** @type {HTMLInputElement} */ (byId("token-input"));

/** @param {boolean} isWrong */
function askForToken(isWrong) {
  if (dialog.open) return;
  if (isWrong) byId("token-why").textContent = "The token was not accepted. It may be mistyped or no longer valid.";
  tokenInput.value = "";
  dialog.showModal();
  tokenInput.focus();
}

function showForgetButton() {
  byId("forget-token").hidden = !hasToken();
}

byId("token-cancel").addEventListener("click", () => dialog.close());
dialog.querySelector("form")?.addEventListener("submit", () => useToken(tokenInput.value.trim()));
byId("forget-token").addEventListener("click", () => useToken(null));
document.addEventListener("token-needed", (event) => askForToken(/** @type {CustomEvent} */ (event).detail.isWrong));
document.addEventListener("token", () => {
  showForgetButton();
  show();
});
showForgetButton();

live.on("state", showState);
live.on("stats", () => {
  showState();
  showPublished();
});
setInterval(showPublished, 1000);

window.addEventListener("hashchange", show);
show();
live.start();
