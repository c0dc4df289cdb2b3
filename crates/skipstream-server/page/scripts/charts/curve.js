// Curves in SVG, drawn to the size of their element.

import { h, replace, s } from "../dom.js";
import { clockTime } from "../format.js";

/** @typedef {{ x: number, y: number }} Point */

/** How the values of an axis are written. @typedef {(value: number) => string} Format */

/**
 * Draws a smoothed curve over time into an element, again whenever the element changes its size. Returns a function that
 * takes the points, with milliseconds as `x`. Without points, `empty` is shown.
 * @param {Element} element
 * @param {{ formatY: () => Format, describe: (points: Point[]) => string, empty: string, signal: AbortSignal }} options
 */
export function curve(element, { formatY, describe, empty, signal }) {
  const draw = (/** @type {Point[]} */ points) =>
    points.length > 0 ? axes(element, points, formatY(), describe(points)) : h("p.hint", empty);
  return drawing(element, signal, draw);
}

/** Each point as the mean of those around it: about a hundredth of the curve on either side. @param {Point[]} points */
export function smooth(points) {
  const reach = Math.floor(points.length / 100);
  return points.map(({ x }, index) => {
    const around = points.slice(Math.max(0, index - reach), index + reach + 1);
    return { x, y: around.reduce((sum, { y }) => sum + y, 0) / around.length };
  });
}

/**
 * Like `curve`, without axes, for an element of a line or two. With `marks`, each point is marked; null is a gap.
 * @param {Element} element
 * @param {{ describe: (values: (number | null)[]) => string, marks?: boolean, signal: AbortSignal }} options
 */
export function sparkline(element, { describe, marks = false, signal }) {
  const draw = (/** @type {(number | null)[]} */ values) =>
    values.length > 0 && spark(element, values, marks, describe(values));
  return drawing(element, signal, draw);
}

/** Round numbers inside a range, about `n` of them. @param {number} low @param {number} high @param {number} n */
export function ticks(low, high, n) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5].map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  const first = Math.ceil(low / step) * step;
  const length = Math.max(0, Math.floor((high - first) / step + 1e-9) + 1);
  return Array.from({ length }, (_, index) => first + index * step);
}

const seconds = [10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400];

/** Round times inside a range, about `n` of them, in milliseconds. @param {number} low @param {number} high @param {number} n */
export function timeTicks(low, high, n) {
  const rough = (high - low) / n / 1000;
  const step = (seconds.find((one) => one >= rough) ?? Math.ceil(rough / 86_400) * 86_400) * 1000;
  // Whole hours of the clock on the wall, not of UTC.
  const offset = new Date(low).getTimezoneOffset() * 60_000;
  const first = Math.ceil((low - offset) / step) * step + offset;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, index) => first + index * step);
}

/** @param {Element} element @param {Point[]} points @param {Format} formatY @param {string} label */
function axes(element, points, formatY, label) {
  const { clientWidth: width, clientHeight: height } = element;
  const [left, right, top, bottom] = [56, 8, 10, 24];
  const xs = extent(points.map(({ x }) => x));
  const ys = extent(points.map(({ y }) => y));
  const room = (ys[1] - ys[0]) * 0.08 || 0.5;
  const [low, high] = [ys[0] - room, ys[1] + room];
  const across = (/** @type {number} */ x) => left + ((x - xs[0]) / (xs[1] - xs[0] || 1)) * (width - left - right);
  const up = (/** @type {number} */ y) => height - bottom - ((y - low) / (high - low)) * (height - top - bottom);
  const levels = ticks(low, high, Math.max(2, height / 60));
  const grid = levels.map((y) => [
    s("line.grid", { x1: left, x2: width - right, y1: up(y), y2: up(y) }),
    s("text", { x: left - 8, y: up(y) + 4, "text-anchor": "end" }, formatY(y)),
  ]);
  const marks = timeTicks(xs[0], xs[1], width / 140).map((x) => {
    const anchor = across(x) > width - 30 ? "end" : across(x) < left + 12 ? "start" : "middle";
    return s("text", { x: across(x), y: height - 5, "text-anchor": anchor }, clockTime(x, xs[1] - xs[0]));
  });
  const [raw, line] = [points, smooth(points)].map((all) => all.map(({ x, y }) => ({ x: across(x), y: up(y) })));
  const attributes = { role: "img", "aria-label": label };
  return s(
    "svg",
    attributes,
    grid,
    marks,
    s("path.raw", { d: path(raw) }),
    s("path.curve", { d: path(line) }),
    circle("tip", line[line.length - 1], 3.2),
  );
}

/** @param {Element} element @param {(number | null)[]} values @param {boolean} marks @param {string} label */
function spark(element, values, marks, label) {
  const { clientWidth: width, clientHeight: height } = element;
  const pad = marks ? 5 : 2;
  const known = values.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const [low, high] = extent([0, ...known.map(({ value }) => value)]);
  const line = known.map(({ value, index }) => ({
    x: values.length === 1 ? width - pad : pad + (index / (values.length - 1)) * (width - 2 * pad),
    y: height - pad - ((value - low) / (high - low || 1)) * (height - 2 * pad),
  }));
  const last = line.at(-1);
  return s(
    "svg",
    { role: "img", "aria-label": label },
    last && line.length > 1 && s("path.area", { d: `${path(line)}L${last.x} ${height}L${line[0].x} ${height}Z` }),
    s("path.curve", { d: path(line) }),
    marks && line.slice(0, -1).map((point) => circle("known", point, 2.8)),
    last && circle("tip", last, marks ? 3.4 : 2.2),
  );
}

/** @param {string} kind @param {Point} center @param {number} r */
function circle(kind, { x, y }, r) {
  return s("circle", { class: kind, cx: x, cy: y, r });
}

/** @param {Point[]} points */
function path(points) {
  return points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** @param {number[]} values */
function extent(values) {
  return [Math.min(...values), Math.max(...values)];
}

/**
 * Draws data into an element when they change, and when the element changes its size.
 * @template T
 * @param {Element} element
 * @param {AbortSignal} signal
 * @param {(data: T[]) => import("../dom.js").Child} draw
 */
function drawing(element, signal, draw) {
  /** @type {T[]} */
  let data = [];
  const redraw = () => replace(element, draw(data));
  const observer = new ResizeObserver(redraw);
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
  return (/** @type {T[]} */ next) => {
    data = next;
    redraw();
  };
}
