// All views: their addresses, titles and code, in the order of the navigation.

import { analogies } from "./views/analogies.js";
import { change } from "./views/change.js";
import { map } from "./views/map.js";
import { missing } from "./views/missing.js";
import { now } from "./views/now.js";
import { settings } from "./views/settings.js";
import { text } from "./views/text.js";
import { word } from "./views/word.js";

/**
 * What a view gets: its element, what the address says, and a signal that ends its requests and listeners.
 * @typedef {{
 *   root: Element, name: string, argument: string | null, query: URLSearchParams, signal: AbortSignal,
 * }} Context
 */
/** @typedef {{ name: string, title: string, inNavigation: boolean, show: (context: Context) => void }} View */

/** @type {View[]} */
export const views = [
  { name: "", title: "Now", inNavigation: true, show: now },
  { name: "word", title: "Word", inNavigation: false, show: word },
  { name: "map", title: "Map", inNavigation: true, show: map },
  { name: "analogies", title: "Analogies", inNavigation: true, show: analogies },
  { name: "change", title: "Changes", inNavigation: true, show: change },
  { name: "text", title: "Add text", inNavigation: true, show: text },
  { name: "settings", title: "Settings", inNavigation: true, show: settings },
];

/** The view of an address, or one that says that there is none. @param {string} name @returns {View} */
export function viewOf(name) {
  return (
    views.find((view) => view.name === name) ?? { name, title: "No such page", inNavigation: false, show: missing }
  );
}
