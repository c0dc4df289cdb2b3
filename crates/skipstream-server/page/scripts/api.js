// Requests to the service, and what their failures mean in plain words.

const tokenKey = "skipstream-token";
let token = remembered();

/** An answer that says what is wrong, or no answer at all (status 0). */
export class Failure extends Error {
  constructor(status, detail = {}, retryAfter = null, accepted = null) {
    super(detail.message ?? "the service did not answer");
    this.status = status;
    this.code = detail.code ?? "";
    this.suggestions = detail.suggestions ?? [];
    this.accepted = detail.accepted ?? accepted;
    this.retryAfter = retryAfter;
  }
}

/** Asks and gives the answer's JSON. `query` leaves out what is null or empty. */
export async function ask(path, { method = "GET", query = {}, json, body, headers = {}, signal } = {}) {
  const response = await send(path + toQuery(query), {
    method,
    signal,
    body: json === undefined ? body : JSON.stringify(json),
    headers: json === undefined ? headers : { ...headers, "content-type": "application/json" },
  });
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    throw error.name === "AbortError" ? error : new Failure(0);
  }
}

/** Asks and gives the answer itself, once it is known to be a good one. */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Failure(0);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) document.dispatchEvent(new CustomEvent("token-needed", { detail: { wrong: Boolean(token) } }));
  throw new Failure(response.status, answer.error, Number(response.headers.get("retry-after")) || null, answer.accepted);
}

export const wordPath = (word) => `/v1/words/${encodeURIComponent(word)}`;

export const hasToken = () => Boolean(token);

/** Uses a token from now on, until the tab is closed; null forgets it. */
export function useToken(value) {
  token = value;
  try {
    if (value) sessionStorage.setItem(tokenKey, value);
    else sessionStorage.removeItem(tokenKey);
  } catch {
    // Storage may be forbidden; the token then lasts until the page is left.
  }
  document.dispatchEvent(new CustomEvent("token"));
}

/** What a failure means for the person in front of the page, as a sentence or two. */
export function explain(failure) {
  const after = failure.retryAfter ? ` Try again in ${failure.retryAfter} s.` : " Try again in a moment.";
  switch (failure.status) {
    case 0:
      return "The service cannot be reached. It may have been stopped, or the connection is gone.";
    case 401:
      return "The service asks for a token.";
    case 403:
      return `Your token does not allow this. ${sentence(failure.message)}`;
    case 408:
      return `That took too long.${after}`;
    case 413:
      return `That is too much at once. ${sentence(failure.message)}`;
    case 429:
      return `More text is waiting to be learned than the service may hold.${after}`;
    case 503:
      return `The service is busy or stopping.${after}`;
    case 507:
      return "The disk of the service is full, so it takes nothing more. What it has learned can still be asked.";
    default:
      return sentence(failure.message);
  }
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

function toQuery(query) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function remembered() {
  try {
    return sessionStorage.getItem(tokenKey);
  } catch {
    return null;
  }
}
