// What happens in the service, as it happens.
//
// The events are read with `fetch` and not with `EventSource`, which cannot send a token.

import { ask, send } from "./api.js";

const firstPause = 500;
const longestPause = 10_000;
// A progress event comes each second; after so long without a sign the connection is taken for dead.
const silence = 20_000;

/**
 * Tells of every event of the service by its name (`published`, `arrived`, …, with the data as `detail`), of `stats` whenever
 * they changed, and of `state` when the connection came or went.
 */
class Live extends EventTarget {
  /** The last statistics, kept up to date by the events; null until they are known. */
  stats = null;
  /** connecting, open, lost, or token where one is needed. */
  state = "connecting";
  /** When the next attempt is made, in the milliseconds of `Date.now()`. */
  nextAttempt = 0;
  /** Words a second, in each of the last seconds. */
  rates = [];

  #lastId = null;
  #pause = firstPause;
  #attempt = null;
  #wake = () => {};

  start() {
    this.#run();
    window.addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.retry());
    document.addEventListener("token", () => this.#restart());
  }

  /** Tries again now, if the connection is lost. */
  retry() {
    this.#pause = firstPause;
    this.#wake();
  }

  #restart() {
    this.#attempt?.abort();
    this.retry();
  }

  async #run() {
    for (;;) {
      this.#attempt = new AbortController();
      let failure = null;
      try {
        await this.#connect(this.#attempt);
      } catch (error) {
        failure = error;
      }
      this.#attempt.abort();
      const state = failure?.status === 401 || failure?.status === 403 ? "token" : "lost";
      const pause = this.#pause * (0.75 + Math.random() / 2);
      this.nextAttempt = Date.now() + pause;
      this.#become(state);
      this.#pause = Math.min(longestPause, this.#pause * 1.7);
      await new Promise((resolve) => {
        this.#wake = resolve;
        // Without a token another attempt is of no use.
        if (state !== "token") setTimeout(resolve, pause);
      });
    }
  }

  async #connect(attempt) {
    const headers = { accept: "text/event-stream" };
    if (this.#lastId !== null) headers["last-event-id"] = this.#lastId;
    const response = await send("/v1/events", { headers, signal: attempt.signal });
    this.#update(await ask("/v1/stats", { signal: attempt.signal }));
    this.#pause = firstPause;
    this.#become("open");

    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let watchdog;
    let rest = "";
    try {
      for (;;) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => attempt.abort(), silence);
        const { value, done } = await reader.read();
        if (done) return;
        const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
        rest = blocks.pop();
        blocks.forEach((block) => this.#receive(block));
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  #receive(block) {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
      else if (field === "id") this.#lastId = value;
    }
    if (data.length === 0) return;
    const detail = JSON.parse(data.join("\n"));
    if (name === "progress") {
      this.rates.push(detail.words_per_second);
      if (this.rates.length > 180) this.rates.shift();
      this.#update({ ...this.stats, ...detail });
    }
    if (name === "published") this.#update({ ...this.stats, snapshot: detail });
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #update(stats) {
    const { words, loss } = stats;
    const losses = stats.losses ?? [];
    const last = losses.at(-1);
    if (typeof loss === "number" && (!last || words > last.words)) losses.push({ words, loss });
    // The service thins its curve by halving; between two questions for it the page does the same.
    stats.losses = losses.length > 600 ? losses.filter((_, index) => index % 2 === losses.length % 2 ^ 1) : losses;
    this.stats = stats;
    this.dispatchEvent(new CustomEvent("stats"));
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state"));
  }
}

export const live = new Live();
