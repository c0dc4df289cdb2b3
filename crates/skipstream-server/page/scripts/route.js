// The address after `#` → which view, of what.

/** The parts of the address: `#/word/a%2Fb?n=3` is `["word", "a/b"]` with n = 3. */
export function here() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { name: parts[0] ?? "", argument: parts[1] ?? null, query: new URLSearchParams(query ?? "") };
}

/** An address. What is null or empty is left out. */
export function to(name, argument = null, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const path = argument === null ? name : `${name}/${encodeURIComponent(argument)}`;
  return `#/${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ""}`;
}

/** Goes to an address, as a link would. */
export function go(address) {
  location.hash = address;
}

/** Says in the address what is shown, without a step back to what was before and without showing it anew. */
export function say(address) {
  history.replaceState(null, "", address);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    // A per cent sign that somebody typed into the address stands for itself.
    return part;
  }
}
