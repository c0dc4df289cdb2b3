// The events of the service as they happen.
//
// They are read with `fetch` because `EventSource` cannot send a token.

import { ask, Failure, send } from "./api.js";
import { parseEvents } from "./events.js";

/** @typedef {{ seq: number, time: string, vocabulary: number }} Published */
/**
 * @typedef {{
 *   words: number, words_per_second: number, loss: number | null, vocabulary: number, max_vocabulary: number | null,
 *   evictions: number, learned: number, logged: number, queue: { bytes: number, limit_bytes: number },
 *   snapshot: Published | null, checkpoint: { seq: number, time: string } | null, memory?: { bound_bytes: number },
 *   problem?: string | null, warning?: string | null, settings?: { text: string },
 *   sink?: { url: string, state: string, problem: string | null, messages: number, waiting: number } | null,
 *   sources?: { url: string, state: string, problem: string | null, messages: number, lag: number | null }[],
 * }} Stats
 */

const firstPause = 500;
const longestPause = 10_000;
// The service sends progress every second. A connection that is silent for this long is dead.
const timeout = 20_000;
const secondsShown = 180;

/**
 * Dispatches every event of the service under its name (`published`, `arrived`, …, with the data as `detail`), `stats`
 * when the statistics changed, and `state` when the connection was opened or lost.
 */
class Live extends EventTarget {
  /** The latest statistics, updated by events; null until they are known. @type {Stats | null} */
  stats = null;
  /** `token` means that the service requires one. @type {"connecting" | "open" | "lost" | "token"} */
  state = "connecting";
  /** Words per second in each of the last seconds. @type {number[]} */
  rates = [];

  /** @type {string | null} */
  #lastId = null;
  #pause = firstPause;
  #attempt = new AbortController();
  #wake = () => {};

  start() {
    this.#run();
    window.addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.retry());
    document.addEventListener("token", () => {
      this.#attempt.abort();
      this.retry();
    });
  }

  /** Tries again now if the connection is lost. */
  retry() {
    this.#pause = firstPause;
    this.#wake();
  }

  /**
   * Calls a function at every event with this name until the signal.
   * @param {string} name
   * @param {(detail: any) => void} listener
   * @param {AbortSignal} [signal]
   */
  on(name, listener, signal) {
    this.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail), { signal });
  }

  async #run() {
    for (;;) {
      this.#attempt = new AbortController();
      const error = await this.#connect(this.#attempt).catch((reason) => reason);
      this.#attempt.abort();
      const needsToken = error instanceof Failure && (error.status === 401 || error.status === 403);
      this.#become(needsToken ? "token" : "lost");
      const pause = this.#pause * (0.75 + Math.random() / 2);
      this.#pause = Math.min(longestPause, this.#pause * 1.7);
      await new Promise((resolve) => {
        this.#wake = () => resolve(null);
        // Without a token another attempt would fail as well.
        if (!needsToken) setTimeout(resolve, pause);
      });
    }
  }

  /** @param {AbortController} attempt */
  async #connect(attempt) {
    const headers = new Headers({ accept: "text/event-stream" });
    if (this.#lastId !== null) headers.set("last-event-id", this.#lastId);
    const { body } = await send("/v1/events", { headers, signal: attempt.signal });
    this.#update(await ask("/v1/stats", { signal: attempt.signal }));
    this.#pause = firstPause;
    this.#become("open");
    if (body === null) return;

    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (;;) {
      const watchdog = setTimeout(() => attempt.abort(), timeout);
      const { value, done } = await reader.read().finally(() => clearTimeout(watchdog));
      if (done) return;
      const { events, rest } = parseEvents(unread + value);
      unread = rest;
      for (const event of events) this.#receive(event);
    }
  }

  /** @param {import("./events.js").Event} event */
  #receive({ name, id, data }) {
    if (id !== null) this.#lastId = id;
    if (data === "") return;
    const detail = JSON.parse(data);
    if (name === "progress") {
      this.rates = [...this.rates, detail.words_per_second].slice(-secondsShown);
      this.#update({ ...this.stats, ...detail });
    }
    if (name === "published") this.#update({ .../** @type {Stats} */ (this.stats), snapshot: detail });
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** @param {Stats} stats */
  #update(stats) {
    this.stats = stats;
    this.dispatchEvent(new CustomEvent("stats"));
  }

  /** @param {typeof this.state} state */
  #become(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state"));
  }
}

export const live = new Live();
