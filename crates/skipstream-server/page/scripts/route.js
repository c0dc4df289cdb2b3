// The part of the address after `#`: which view, and of what.

/** @typedef {{ [name: string]: string | number | null | undefined }} Query */

/**
 * The parts of an address: `#/word/a%2Fb?n=3` is the view `word` with the argument `a/b` and n = 3.
 * @param {string} hash
 */
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { name: parts[0] ?? "", argument: parts[1] ?? null, query: new URLSearchParams(query ?? "") };
}

/** The address of a view. @param {string} name @param {string | null} argument @param {Query} query */
export function to(name, argument = null, query = {}) {
  return `#/${argument === null ? name : `${name}/${encodeURIComponent(argument)}`}${queryString(query)}`;
}

/**
 * `?a=1&b=2`, or nothing. Parameters that are null, undefined or empty are left out; those with a list occur repeatedly.
 * @param {{ [name: string]: string | number | null | undefined | string[] }} query
 */
export function queryString(query) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one ?? "")]),
  );
  const given = pairs.filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Goes to an address, as a link would. @param {string} address */
export function go(address) {
  location.hash = address;
}

/**
 * Changes the address to match what is shown. This adds no step to the history and does not reload the view.
 * @param {string} address
 */
export function replaceAddress(address) {
  history.replaceState(null, "", address);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    // Somebody typed a percent sign into the address; take it literally.
    return part;
  }
}
