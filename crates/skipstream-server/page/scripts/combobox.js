// A text field that completes words: the "editable combobox with list autocomplete" of the WAI-ARIA patterns.

import { ask } from "./api.js";
import { h, replace } from "./dom.js";
import { short } from "./format.js";

/** @typedef {{ word: string, count: number }} Completion */

const delay = 90;
let made = 0;

/**
 * Makes a field with its list. `choose` gets a word that was picked or typed. The label is read out, and visible where
 * there is no placeholder.
 * @param {{ label: string, id?: string, name?: string, placeholder?: string, value?: string,
 *   choose?: (word: string) => void }} options
 */
export function combobox({ id, label, placeholder = "", value = "", name, choose = () => {} }) {
  made += 1;
  const listId = `options-${made}`;
  const input = h("input", {
    id,
    name,
    value,
    placeholder,
    type: "text",
    role: "combobox",
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": listId,
    autocomplete: "off",
    autocapitalize: "none",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    dir: "auto",
    maxlength: 200,
  });
  const list = h("ul.options", { id: listId, role: "listbox", "aria-label": `Suggestions for ${label}`, hidden: true });

  /** @type {Completion[]} */
  let words = [];
  let active = -1;
  let timer = 0;
  let request = new AbortController();

  function close() {
    clearTimeout(timer);
    request.abort();
    list.hidden = true;
    activate(-1);
    input.setAttribute("aria-expanded", "false");
  }

  /** @param {number} index */
  function activate(index) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = index;
    const option = list.children[active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }

  /** @param {string} word */
  function pick(word) {
    input.value = word;
    close();
    choose(word);
  }

  /** @param {string} prefix */
  function show(prefix) {
    activate(-1);
    const options = words.map(({ word, count }, index) => {
      const given = word.toLowerCase().startsWith(prefix.toLowerCase()) ? prefix.length : 0;
      return h(
        "li",
        {
          id: `${listId}-${index}`,
          role: "option",
          "aria-selected": "false",
          // Without this the field would lose the focus before the click arrives.
          onpointerdown: (event) => event.preventDefault(),
          onclick: () => pick(word),
        },
        h("span", { dir: "auto" }, h("b", word.slice(0, given)), word.slice(given)),
        h("span.soft", short(count)),
      );
    });
    replace(list, options);
    list.hidden = words.length === 0;
    input.setAttribute("aria-expanded", String(words.length > 0));
  }

  /** Completes what is typed. Typing on cancels the request, so that late answers are not shown. */
  async function complete() {
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const prefix = input.value.trim();
    if (prefix === "") return close();
    try {
      words = await completions(prefix, signal);
      if (!signal.aborted && document.activeElement === input) show(prefix);
    } catch {
      if (!signal.aborted) close();
    }
  }

  /** Takes what is typed, in the spelling of the model. The form that the field is in is submitted as well. */
  function enter() {
    const typed = input.value.trim();
    if (typed === "") return;
    const isSame = (/** @type {Completion} */ { word }) => word.toLowerCase() === typed.toLowerCase();
    pick((words.find(({ word }) => word === typed) ?? words.find(isSame))?.word ?? typed);
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(complete, delay);
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
    else return event.key === "Enter" ? enter() : undefined;
    event.preventDefault();
    event.stopPropagation();
  });

  return { root: h("div.combobox", input, list), input };
}

/**
 * Words with this prefix or, if there are none, with the prefix in lower case, which most models use.
 * @param {string} prefix
 * @param {AbortSignal} signal
 * @returns {Promise<Completion[]>}
 */
async function completions(prefix, signal) {
  for (const one of new Set([prefix, prefix.toLowerCase()])) {
    const { words } = await ask("/v1/words", { query: { prefix: one, n: 10 }, signal });
    if (words.length > 0) return words;
  }
  return [];
}
