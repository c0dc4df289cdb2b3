// An input that completes words: the "editable combobox with list autocomplete" of WAI-ARIA's patterns.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { short } from "./format.js";

const pause = 90;
let made = 0;

/**
 * Makes an input with its list. `choose` is told of a word that was picked or entered. `label` is read out, and seen
 * where there is no placeholder.
 */
export function combobox({ id, label, placeholder = "", value = "", name, describedBy, choose = () => {} }) {
  made += 1;
  const listId = `options-${made}`;
  const input = h("input", {
    id, name, value, placeholder, type: "text", role: "combobox", "aria-label": label, "aria-autocomplete": "list",
    "aria-expanded": "false", "aria-controls": listId, "aria-describedby": describedBy, autocomplete: "off", autocapitalize: "none",
    autocorrect: "off", spellcheck: "false", enterkeyhint: "go", dir: "auto", maxlength: "200",
  });
  const list = h("ul", { id: listId, class: "options", role: "listbox", "aria-label": `Words for ${label}`, hidden: true });
  const root = h("div", { class: "combobox" }, input, list);

  let words = [];
  let active = -1;
  let timer;
  let asking = new AbortController();

  function close() {
    clearTimeout(timer);
    asking.abort();
    list.hidden = true;
    activate(-1);
    input.setAttribute("aria-expanded", "false");
  }

  function activate(index) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = index;
    const option = list.children[active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function pick(word) {
    input.value = word;
    close();
    choose(word);
  }

  function show(prefix) {
    list.replaceChildren(...words.map(({ word, count }, index) => {
      const given = word.toLowerCase().startsWith(prefix.toLowerCase()) ? prefix.length : 0;
      const text = h("span", { dir: "auto" }, h("b", {}, word.slice(0, given)), word.slice(given));
      const option = h("li", { id: `${listId}-${index}`, role: "option", "aria-selected": "false" }, text, h("span", { class: "soft" }, short(count)));
      // The input keeps the focus; without this it would lose it before the click arrives.
      option.addEventListener("pointerdown", (event) => event.preventDefault());
      option.addEventListener("click", () => pick(word));
      return option;
    }));
    active = -1;
    input.removeAttribute("aria-activedescendant");
    const open = words.length > 0;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
  }

  /** Asks for the words of what is typed now. An answer that comes after the next question is not shown. */
  async function complete() {
    clearTimeout(timer);
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const prefix = input.value.trim();
    if (prefix === "") return close();
    try {
      words = await completions(prefix, signal);
      if (!signal.aborted && document.activeElement === input) show(prefix);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(complete, pause);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const last = list.children.length - 1;
    if (event.key === "ArrowDown" && list.hidden) complete();
    else if (event.key === "ArrowDown") activate(active === last ? -1 : active + 1);
    else if (event.key === "ArrowUp" && !list.hidden) activate(active === -1 ? last : active - 1);
    else if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Escape" && input.value !== "") input.value = "";
    else if (event.key === "Enter" && active >= 0) pick(words[active].word);
    else if (event.key === "Enter") {
      const typed = input.value.trim();
      if (typed === "") return;
      // Enter inside a form also asks the form's question, with the word as the model writes it.
      close();
      const same = words.find(({ word }) => word === typed) ?? words.find(({ word }) => word.toLowerCase() === typed.toLowerCase());
      input.value = same?.word ?? typed;
      choose(input.value);
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return { root, input };
}

/** Words that start like this; where there is none, those that do in lower case, which most models know. */
async function completions(prefix, signal) {
  for (const one of new Set([prefix, prefix.toLowerCase()])) {
    const { words } = await ask("/v1/words", { query: { prefix: one, n: 10 }, signal });
    if (words.length > 0) return words;
  }
  return [];
}
