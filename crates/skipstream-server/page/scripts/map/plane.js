// Words on a canvas that can be panned, zoomed and clicked.

import { Camera } from "./camera.js";
import { groupColors, groups, isInside } from "./clusters.js";
import { listen } from "./gestures.js";
import { place, shortened } from "./labels.js";

/** @typedef {import("./camera.js").Point} Point */
/** @typedef {{ word: string, count: number, x: number, y: number }} WordPoint */
/**
 * @typedef {{
 *   word: string, text: string, from: Point, to: Point, isCenter: boolean, radius: number, size: number, group: number,
 * }} Dot
 */
/**
 * What the map does: `pick` gets a word that was clicked or opened, `light` the word under the pointer or the crosshair,
 * `aim` the word in the center when the keyboard moves, `select` the words that were encircled.
 * @typedef {{
 *   pick: (word: string) => void, light: (word: string | null) => void, aim: (word: string) => void,
 *   select: (words: string[]) => void, isSelecting: () => boolean, isSmall: boolean, signal: AbortSignal,
 * }} Options
 */

const moveFor = 700;
const reach = 16;
const prefersStillness = matchMedia("(prefers-reduced-motion: reduce)");

export class Plane {
  #canvas;
  #context;
  #options;
  #camera = new Camera();
  /** @type {Dot[]} */
  #dots = [];
  /** @type {{ dot: Dot, box: import("./labels.js").Box }[]} */
  #labels = [];
  /** @type {Map<string, number>} */
  #widths = new Map();
  /** @type {Dot | null} */
  #hovered = null;
  /** The word that was reported to `light`. @type {string | null} */
  #lit = null;
  /** Neighbors of the lit word, the nearest first. @type {string[]} */
  #neighbors = [];
  /** @type {Point[]} */
  #lasso = [];
  #hasKeys = false;
  #family = "";
  #moveStart = 0;
  #frame = 0;

  /** @param {HTMLCanvasElement} canvas @param {Options} options */
  constructor(canvas, options) {
    const { isSmall, isSelecting, signal } = options;
    this.#canvas = canvas;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.#options = options;
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(canvas);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      cancelAnimationFrame(this.#frame);
    });
    document.addEventListener("theme", () => this.#draw(), { signal });
    listen(canvas, isSmall, {
      pan: (x, y) => this.#change(() => this.#camera.panBy(x, y)),
      zoom: (factor, at) => this.zoomBy(factor, at),
      fit: () => this.fit(),
      hover: (at) => this.#hover(at && this.#at(at)),
      click: (at) => this.#open(this.#at(at)),
      open: () => this.#open(this.#middle()),
      keys: (has) => this.#keys(has),
      aim: () => this.#aimAtMiddle(),
      isSelecting,
      lasso: (path, isDone) => this.#drawLasso(path, isDone),
    });
  }

  /**
   * Shows words. Those that were shown before move to their new places.
   * @param {WordPoint[]} points
   * @param {string | null} around
   */
  show(points, around) {
    const before = new Map(this.#dots.map((dot) => [dot.word, this.#position(dot)]));
    const bounds = boundsOf(points);
    const logs = points.map(({ count }) => Math.log1p(count));
    const [least, most] = [Math.min(...logs), Math.max(...logs)];
    const group = groups(points);
    this.#dots = points.map(({ word, x, y }, index) => {
      const weight = (logs[index] - least) / (most - least || 1);
      const to = { x: (x - bounds.x) / bounds.half, y: -(y - bounds.y) / bounds.half };
      const isCenter = word === around;
      const radius = isCenter ? 5 : 1.8 + 2.4 * weight;
      const size = isCenter ? 15 : Math.round(11.5 + 3 * weight);
      const from = before.get(word) ?? to;
      return { word, text: shortened(word), from, to, isCenter, radius, size, group: group[index] };
    });
    // Labels are placed in this order: the word that was asked for, then the others as they came.
    this.#dots.sort((one, other) => Number(other.isCenter) - Number(one.isCenter));
    this.#camera.cover(this.#dots.map(({ to }) => to));
    this.#hovered = null;
    this.#light(null);
    this.#moveStart = before.size > 0 && !prefersStillness.matches ? performance.now() : -moveFor;
    this.#draw();
  }

  /** Shows the whole map. */
  fit() {
    this.#change(() => this.#camera.fit());
  }

  /** Zooms around a pixel, or the center. @param {number} factor @param {Point} [at] */
  zoomBy(factor, at) {
    this.#change(() => this.#camera.zoomBy(factor, at));
  }

  /** Highlights the neighbors of a word while it is lit. @param {string} word @param {string[]} neighbors */
  highlight(word, neighbors) {
    if (word === this.#lit) this.#change(() => (this.#neighbors = neighbors));
  }

  /** The highlighted neighbors. */
  get highlighted() {
    return this.#neighbors;
  }

  /** Where a word is on the canvas, in CSS pixels; null if it is not on the map. @param {string} word */
  find(word) {
    const dot = this.#dots.find((one) => one.word === word);
    return dot ? this.#camera.toScreen(this.#position(dot)) : null;
  }

  /** @param {() => void} change */
  #change(change) {
    change();
    this.#draw();
  }

  /** @param {Dot} dot */
  #position({ from, to }) {
    const time = Math.min(1, (performance.now() - this.#moveStart) / moveFor);
    const eased = 1 - (1 - time) ** 3;
    return { x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased };
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    const { width, height } = this.#camera;
    if (width === 0) return;
    const context = this.#context;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const target = this.#hasKeys ? this.#middle() : null;
    const lit = this.#hovered ?? target;
    this.#light(lit);
    const near = new Set(this.#neighbors);
    const isNeeded = (/** @type {Dot} */ dot) => dot === lit || dot.isCenter || near.has(dot.word);
    const shown = this.#dots
      .map((dot) => ({
        dot,
        ...this.#camera.toScreen(this.#position(dot)),
        isNeeded: isNeeded(dot),
        radius: dot.radius,
        height: dot.size + 2,
        width: this.#widthOf(dot),
      }))
      .filter(({ x, y }) => x > -20 && y > -20 && x < width + 20 && y < height + 20);

    const [ink, accent, paper] = ["ink", "accent", "paper"].map((name) => this.#color(name));
    const colors = Array.from({ length: groupColors }, (_, group) => this.#color(`group-${group}`));
    // The lit word and its neighbors stay opaque; the rest fades.
    const opacity = (/** @type {Dot} */ dot) => (near.size > 0 && !isNeeded(dot) ? 0.25 : 1);
    const center = shown.find(({ dot }) => dot === lit);
    context.strokeStyle = accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.5;
    for (const { dot, x, y } of shown) {
      if (!center || !near.has(dot.word)) continue;
      context.beginPath();
      context.moveTo(center.x, center.y);
      context.lineTo(x, y);
      context.stroke();
    }
    for (const { dot, x, y } of shown) {
      context.beginPath();
      context.arc(x, y, dot === lit ? dot.radius + 1.5 : dot.radius, 0, 2 * Math.PI);
      context.globalAlpha = opacity(dot);
      context.fillStyle = dot === lit || dot.isCenter ? accent : colors[dot.group];
      context.fill();
    }
    const rank = (/** @type {Dot} */ dot) => (dot === lit ? 0 : near.has(dot.word) ? 1 : 2);
    shown.sort((one, other) => rank(one.dot) - rank(other.dot));
    const boxes = place(shown, this.#camera);
    this.#labels = shown.flatMap(({ dot }, index) => {
      const box = boxes[index];
      return box ? [{ dot, box }] : [];
    });
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = paper;
    for (const { dot, box } of this.#labels) {
      context.font = this.#font(dot);
      context.globalAlpha = opacity(dot);
      context.fillStyle = dot === lit || dot.isCenter ? accent : ink;
      context.strokeText(dot.text, box.left, (box.top + box.bottom) / 2);
      context.fillText(dot.text, box.left, (box.top + box.bottom) / 2);
    }
    context.globalAlpha = 1;
    if (this.#lasso.length > 1) this.#paintLasso(accent);
    if (target) this.#paintCrosshair(accent);
    if (performance.now() - this.#moveStart < moveFor) this.#draw();
  }

  /** Marks the center, which is what the keyboard aims with. @param {string} color */
  #paintCrosshair(color) {
    const context = this.#context;
    const { x, y } = this.#camera.middle;
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [right, down] of [
      [-12, 0],
      [12, 0],
      [0, -12],
      [0, 12],
    ]) {
      context.moveTo(x + right / 2, y + down / 2);
      context.lineTo(x + right, y + down);
    }
    context.stroke();
  }

  /** @param {string} color */
  #paintLasso(color) {
    const context = this.#context;
    context.beginPath();
    for (const { x, y } of this.#lasso) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }

  /**
   * The value of a color of the style sheet in this theme. A canvas shows nothing in its own text color, so that is
   * where the browser computes it.
   * @param {string} name
   */
  #color(name) {
    this.#canvas.style.color = `var(--${name})`;
    return getComputedStyle(this.#canvas).color;
  }

  /** @param {Dot} dot */
  #font(dot) {
    return `${dot.isCenter ? "600 " : ""}${dot.size}px ${this.#family}`;
  }

  /** @param {Dot} dot */
  #widthOf(dot) {
    const key = `${dot.size}${dot.isCenter}${dot.text}`;
    let width = this.#widths.get(key);
    if (width === undefined) {
      this.#context.font = this.#font(dot);
      width = this.#context.measureText(dot.text).width;
      this.#widths.set(key, width);
    }
    return width;
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = window.devicePixelRatio || 1;
    this.#family = getComputedStyle(this.#canvas).fontFamily;
    Object.assign(this.#camera, { width, height });
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#paint();
  }

  /** The word whose label or dot is at a pixel. @param {Point} at */
  #at({ x, y }) {
    const labeled = this.#labels.find(({ box }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    return labeled?.dot ?? this.#nearest({ x, y }, reach);
  }

  #middle() {
    return this.#nearest(this.#camera.middle, Number.POSITIVE_INFINITY);
  }

  /** @param {Point} at @param {number} limit */
  #nearest(at, limit) {
    /** @type {Dot | null} */
    let found = null;
    let least = limit;
    for (const dot of this.#dots) {
      const { x, y } = this.#camera.toScreen(this.#position(dot));
      const distance = Math.hypot(x - at.x, y - at.y);
      if (distance < least) [found, least] = [dot, distance];
    }
    return found;
  }

  /** @param {Dot | null} dot */
  #hover(dot) {
    if (dot === this.#hovered) return;
    this.#hovered = dot;
    this.#canvas.classList.toggle("over", dot !== null);
    this.#draw();
  }

  /** @param {boolean} has */
  #keys(has) {
    this.#hasKeys = has;
    this.#draw();
  }

  #aimAtMiddle() {
    // The pointer may still rest on another word.
    this.#hovered = null;
    this.#keys(true);
    const dot = this.#middle();
    if (dot) this.#options.aim(dot.word);
  }

  /** Reports which word is lit, when that changes. @param {Dot | null} dot */
  #light(dot) {
    const word = dot?.word ?? null;
    if (word === this.#lit) return;
    this.#lit = word;
    this.#neighbors = [];
    this.#options.light(word);
  }

  /** @param {Point[]} path @param {boolean} isDone */
  #drawLasso(path, isDone) {
    this.#change(() => (this.#lasso = isDone ? [] : path));
    if (!isDone) return;
    const inside = this.#dots.filter((dot) => isInside(this.#camera.toScreen(this.#position(dot)), path));
    this.#options.select(inside.map(({ word }) => word));
  }

  /** @param {Dot | null} dot */
  #open(dot) {
    if (dot) this.#options.pick(dot.word);
  }
}

/**
 * The center of the points and half of their larger extent: the map keeps its size while the vectors grow.
 * @param {Point[]} points
 */
function boundsOf(points) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return { x: (left + right) / 2, y: (low + high) / 2, half: Math.max(right - left, high - low) / 2 || 1 };
}
