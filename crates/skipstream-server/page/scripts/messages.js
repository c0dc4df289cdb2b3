// Text in place of a result: what failed, and what to try instead.

import { explain, Failure, isAbort } from "./api.js";
import { chips, h, replace } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/** @param {string} text */
export const hint = (text) => h("p.hint", text);

/** @param {string} text */
export const note = (text) => h("p.note", text);

/** An error, and the words that may have been meant. @param {unknown} error @param {...Child} more */
export function problem(error, ...more) {
  const suggestions = error instanceof Failure ? error.suggestions : [];
  return [h("p.note.bad", explain(error), more), suggestions.length > 0 && chips(suggestions)];
}

/**
 * Puts the result of `make` into an element, or the error. Does nothing once the view has ended.
 * @param {Element} element
 * @param {AbortSignal} signal
 * @param {() => Promise<Child>} make
 */
export async function fill(element, signal, make) {
  try {
    replace(element, await make());
  } catch (error) {
    if (!isAbort(error) && !signal.aborted) replace(element, problem(error));
  }
}
