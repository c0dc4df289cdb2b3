// Requests to the service, and what their failures mean.

import { queryString } from "./route.js";

/** @typedef {{ word: string, similarity: number, count?: number, first_seen?: string | null }} Neighbor */
/** @typedef {{ name: string, time: string, seq: number, vocabulary: number, state: boolean }} Snapshot */

const tokenKey = "skipstream-token";
let token = storedToken();

/** An error response, or no response at all (status 0). */
export class Failure extends Error {
  /**
   * @param {number} status
   * @param {{ message?: string, code?: string, suggestions?: string[], accepted?: { lines: number } | null }} detail
   * @param {number | null} retryAfter
   */
  constructor(status, detail = {}, retryAfter = null) {
    super(detail.message ?? "no response from the service");
    this.status = status;
    this.code = detail.code ?? "";
    this.suggestions = detail.suggestions ?? [];
    /** The lines of a text that were logged before it failed. */
    this.accepted = detail.accepted ?? null;
    this.retryAfter = retryAfter;
  }
}

/** Whether a request failed because the view that sent it has ended. @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/**
 * Sends a request and returns the JSON of the response, or null if it has no body.
 * @param {string} path
 * @param {{
 *   method?: string, query?: Parameters<typeof queryString>[0], json?: unknown, body?: string | Blob,
 *   headers?: Record<string, string>, signal?: AbortSignal,
 * }} options
 * @returns {Promise<any>}
 */
export async function ask(path, { method = "GET", query = {}, json, body, headers = {}, signal } = {}) {
  const response = await send(path + queryString(query), {
    method,
    signal,
    body: json === undefined ? body : JSON.stringify(json),
    headers: json === undefined ? headers : { ...headers, "content-type": "application/json" },
  });
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    throw isAbort(error) ? error : new Failure(0);
  }
}

/** Sends a request and returns the response if it is a success. @param {string} path @param {RequestInit} options */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    throw isAbort(error) ? error : new Failure(0);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) {
    document.dispatchEvent(new CustomEvent("token-needed", { detail: { isWrong: Boolean(token) } }));
  }
  throw new Failure(response.status, answer.error, Number(response.headers.get("retry-after")) || null);
}

/** @param {string} word */
export const wordPath = (word) => `/v1/words/${encodeURIComponent(word)}`;

export const hasToken = () => Boolean(token);

/** Uses a token until the tab is closed; null forgets it. @param {string | null} value */
export function useToken(value) {
  token = value;
  try {
    if (value) sessionStorage.setItem(tokenKey, value);
    else sessionStorage.removeItem(tokenKey);
  } catch {
    // Storage may be forbidden; the token then lasts until the page is closed.
  }
  document.dispatchEvent(new CustomEvent("token"));
}

/** What an error means to the person using the page, in a sentence or two. @param {unknown} error */
export function explain(error) {
  if (!(error instanceof Failure)) return sentence(String(error));
  const again = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : " Try again in a moment.";
  switch (error.status) {
    case 0:
      return "Cannot reach the service. It may have stopped, or the connection was lost.";
    case 401:
      return "This service requires a token.";
    case 403:
      return `Your token does not allow this. ${sentence(error.message)}`;
    case 408:
      return `The request timed out.${again}`;
    case 413:
      return `The request is too large. ${sentence(error.message)}`;
    case 429:
      return `The queue of text waiting to be learned is full.${again}`;
    case 503:
      return `The service is busy or shutting down.${again}`;
    case 507:
      return "The disk of the service is full, so it accepts no more text. Queries still work.";
    default:
      return sentence(error.message);
  }
}

/** @param {string} text */
function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

function storedToken() {
  try {
    return sessionStorage.getItem(tokenKey);
  } catch {
    return null;
  }
}
