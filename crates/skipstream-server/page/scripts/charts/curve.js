// Curves in SVG, drawn to the size that they have on the page.

import { h, s } from "../dom.js";

/**
 * Draws a curve with axes into an element, and anew whenever the element changes its size. Gives a function that takes
 * the points `{ x, y }`; where there are none, `empty` says why.
 */
export function curve(element, { formatX, describe, empty, signal }) {
  let points = [];
  const draw = () => element.replaceChildren(points.length > 0 ? axes(element, points, { formatX, describe }) : h("p", { class: "hint" }, empty));
  observe(element, draw, signal);
  return (next) => {
    points = next;
    draw();
  };
}

/** As `curve`, without axes: for a place as high as a line or two. With `marks`, each point is seen. */
export function sparkline(element, { describe, marks = false, fromZero = true, signal }) {
  let values = [];
  const draw = () => element.replaceChildren(...(values.length > 0 ? [spark(element, values, { describe, marks, fromZero })] : []));
  observe(element, draw, signal);
  return (next) => {
    values = next;
    draw();
  };
}

/** Round numbers, about `n` of them, inside a range. */
export function ticks(low, high, n) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step + 1e-9) + 1) }, (_, index) => first + index * step);
}

function axes(element, points, { formatX, describe }) {
  const { clientWidth: width, clientHeight: height } = element;
  const [left, right, top, bottom] = [38, 8, 10, 24];
  const xs = extent(points.map(({ x }) => x));
  const ys = extent(points.map(({ y }) => y));
  const room = (ys[1] - ys[0]) * 0.08 || 0.5;
  const [low, high] = [ys[0] - room, ys[1] + room];
  const across = (x) => left + ((x - xs[0]) / (xs[1] - xs[0] || 1)) * (width - left - right);
  const up = (y) => height - bottom - ((y - low) / (high - low)) * (height - top - bottom);
  const levels = ticks(low, high, Math.max(2, height / 60));
  // As many digits as it takes to tell one line from the next.
  const digits = Math.max(0, Math.min(4, -Math.floor(Math.log10((levels[1] ?? 1) - (levels[0] ?? 0)) + 1e-9)));
  const grid = levels.map((y) => [
    s("line", { class: "grid", x1: left, x2: width - right, y1: up(y), y2: up(y) }),
    s("text", { x: left - 8, y: up(y) + 4, "text-anchor": "end" }, y.toFixed(digits)),
  ]);
  const marks = ticks(xs[0], xs[1], width / 140).map((x) => {
    const anchor = across(x) > width - 30 ? "end" : across(x) < left + 12 ? "start" : "middle";
    return s("text", { x: across(x), y: height - 5, "text-anchor": anchor }, formatX(x));
  });
  const last = points.at(-1);
  return s("svg", { role: "img", "aria-label": describe(points) },
    grid, marks,
    s("path", { class: "curve", d: path(points.map(({ x, y }) => [across(x), up(y)])) }),
    s("circle", { class: "tip", cx: across(last.x), cy: up(last.y), r: 3.2 }));
}

function spark(element, values, { describe, marks, fromZero }) {
  const { clientWidth: width, clientHeight: height } = element;
  const [least, most] = extent(values.filter((value) => value !== null));
  const low = fromZero ? Math.min(0, least) : least;
  const pad = marks ? 5 : 2;
  const across = (index) => (values.length === 1 ? width - pad : pad + (index / (values.length - 1)) * (width - 2 * pad));
  const up = (value) => height - pad - ((value - low) / (most - low || 1)) * (height - 2 * pad);
  const known = values.map((value, index) => [value, index]).filter(([value]) => value !== null);
  const line = known.map(([value, index]) => [across(index), up(value)]);
  const area = line.length > 1 ? `${path(line)}L${line.at(-1)[0]} ${height}L${line[0][0]} ${height}Z` : "";
  return s("svg", { role: "img", "aria-label": describe(values) },
    area && s("path", { class: "area", d: area }),
    s("path", { class: "curve", d: path(line) }),
    marks && line.slice(0, -1).map(([x, y]) => s("circle", { class: "known", cx: x, cy: y, r: 2.8 })),
    line.length > 0 && s("circle", { class: "tip", cx: line.at(-1)[0], cy: line.at(-1)[1], r: marks ? 3.4 : 2.2 }));
}

function path(points) {
  return points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function observe(element, draw, signal) {
  const observer = new ResizeObserver(draw);
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
}
