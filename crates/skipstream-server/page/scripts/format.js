// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const precise = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** 12,345 @param {number} value */
export const number = (value) => whole.format(value);

/** 12.3K; numbers up to 9,999 in full. @param {number} value */
export const short = (value) => (Math.abs(value) < 10_000 ? whole.format(Math.round(value)) : compact.format(value));

/** 0.873 @param {number} value */
export const similarity = (value) => value.toFixed(3).replace("-", "−");

/** 3.1 MB @param {number} value */
export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let scaled = value;
  for (; scaled >= 1000 && unit < units.length - 1; unit += 1) scaled /= 1000;
  return `${unit === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[unit]}`;
}

/** 0.012 % @param {number} value */
export function share(value) {
  const percent = value * 100;
  if (percent === 0) return "0 %";
  return percent < 0.0001 ? "< 0.0001 %" : `${Number(percent.toPrecision(2))} %`;
}

/** 1 line, 2 lines @param {number} n @param {string} noun */
export const many = (n, noun) => `${number(n)} ${n === 1 ? noun : `${noun}s`}`;

/** What the count of a word is. */
export const countTitle = "Occurrences since the word was last admitted to the vocabulary";

/** The time since a moment: "12 s ago". @param {string} time */
export function ago(time, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 2) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 60 * 86400) return `${Math.floor(seconds / 86400)} d ago`;
  return date.format(Date.parse(time));
}

/** A moment, as short as is clear today. @param {string} time */
export function moment(time, now = Date.now()) {
  const then = Date.parse(time);
  if (now - then < 20 * 3600 * 1000) return clock.format(then);
  return now - then < 200 * 86400 * 1000 ? day.format(then) : date.format(then);
}

const second = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A time on an axis of `span` milliseconds. @param {number} time @param {number} span */
export function clockTime(time, span) {
  if (span < 180_000) return second.format(time);
  return span < 24 * 3600 * 1000 ? clock.format(time) : day.format(time);
}

/** A moment in full, for titles. @param {string} time */
export const exact = (time) => precise.format(Date.parse(time));
