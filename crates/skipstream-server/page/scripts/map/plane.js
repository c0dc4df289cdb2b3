// Words on a canvas that one can pan, zoom and click.

import { place, shortened } from "./labels.js";

const margin = 46;
const moveFor = 700;
const closest = 60;
// The directions of a map mean nothing by themselves, so it may be stretched to fill its place, but not out of shape.
const mostStretch = 1.7;
const step = 60;
const reach = 16;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Draws words and moves over them. `pick` is told of a word that was clicked or entered, `aim` of the word in the middle
 * when the keyboard moves the map.
 */
export class Plane {
  #canvas;
  #context;
  #inks;
  #pick;
  #aim;
  #dots = [];
  #boxes = [];
  #widths = new Map();
  #center = { x: 0, y: 0 };
  #zoom = 1;
  #size = { width: 0, height: 0 };
  #hovered = null;
  #hasKeys = false;
  #moveStart = 0;
  #frame = 0;
  #pointers = new Map();
  #travel = 0;
  #isSmall;

  constructor(canvas, inks, { pick, aim, isSmall, signal }) {
    this.#canvas = canvas;
    this.#inks = inks;
    this.#context = canvas.getContext("2d");
    this.#pick = pick;
    this.#aim = aim;
    this.#isSmall = isSmall;
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(canvas);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      cancelAnimationFrame(this.#frame);
    });
    document.addEventListener("theme", () => this.#draw(), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.#hover(null));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("focus", () => this.#keys(canvas.matches(":focus-visible")));
    canvas.addEventListener("blur", () => this.#keys(false));
  }

  /** Shows words. Those that were here before move to their new place. */
  show(points, around) {
    const before = new Map(this.#dots.map((dot) => [dot.word, this.#position(dot)]));
    const box = bounds(points);
    const most = Math.log1p(Math.max(...points.map(({ count }) => count), 1));
    const least = Math.log1p(Math.min(...points.map(({ count }) => count), Infinity));
    this.#dots = points.map((point) => {
      const weight = (Math.log1p(point.count) - least) / (most - least || 1);
      const target = { x: (point.x - box.x) / box.half, y: -(point.y - box.y) / box.half };
      const isCenter = point.word === around;
      return {
        word: point.word, text: shortened(point.word), from: before.get(point.word) ?? target, to: target, isCenter,
        radius: isCenter ? 5 : 1.8 + 2.4 * weight, size: isCenter ? 15 : Math.round(11.5 + 3 * weight),
      };
    });
    // What matters most is labelled first: the word that was asked for, then the order in which they came.
    this.#dots.sort((one, other) => other.isCenter - one.isCenter);
    this.#hovered = null;
    this.#moveStart = before.size > 0 && !stillness.matches ? performance.now() : -moveFor;
    this.#draw();
  }

  /** The whole map in view. */
  fit() {
    this.#center = { x: 0, y: 0 };
    this.#zoom = 1;
    this.#draw();
  }

  /** Closer or farther, around a place on the screen or the middle. */
  zoomBy(factor, at = { x: this.#size.width / 2, y: this.#size.height / 2 }) {
    const before = this.#toWorld(at);
    this.#zoom = Math.max(0.5, Math.min(closest, this.#zoom * factor));
    const after = this.#toWorld(at);
    this.#center.x += before.x - after.x;
    this.#center.y += before.y - after.y;
    this.#draw();
  }

  /** Where a word is on the canvas, in CSS pixels; null if it is not here. */
  find(word) {
    const dot = this.#dots.find((one) => one.word === word);
    return dot ? this.#toScreen(this.#position(dot)) : null;
  }

  #panBy(x, y) {
    const scale = this.#scale();
    this.#center.x -= x / scale.x;
    this.#center.y -= y / scale.y;
    this.#draw();
  }

  /** Pixels for a unit of the map, across and down. */
  #scale() {
    // A small canvas keeps less of a margin.
    const room = Math.min(margin, this.#size.height / 8);
    const spread = this.#spread();
    const x = Math.max(1, (this.#size.width / 2 - room * 1.6) / spread.x);
    const y = Math.max(1, (this.#size.height / 2 - room) / spread.y);
    return { x: this.#zoom * Math.min(x, y * mostStretch), y: this.#zoom * Math.min(y, x * mostStretch) };
  }

  /** How far the words reach from the middle. */
  #spread() {
    return {
      x: Math.max(0.05, ...this.#dots.map((dot) => Math.abs(dot.to.x))),
      y: Math.max(0.05, ...this.#dots.map((dot) => Math.abs(dot.to.y))),
    };
  }

  #toScreen({ x, y }) {
    const scale = this.#scale();
    return { x: (x - this.#center.x) * scale.x + this.#size.width / 2, y: (y - this.#center.y) * scale.y + this.#size.height / 2 };
  }

  #toWorld({ x, y }) {
    const scale = this.#scale();
    return { x: (x - this.#size.width / 2) / scale.x + this.#center.x, y: (y - this.#size.height / 2) / scale.y + this.#center.y };
  }

  #position(dot) {
    const time = Math.min(1, (performance.now() - this.#moveStart) / moveFor);
    const eased = 1 - (1 - time) ** 3;
    return { x: dot.from.x + (dot.to.x - dot.from.x) * eased, y: dot.from.y + (dot.to.y - dot.from.y) * eased };
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    const { width, height } = this.#size;
    if (width === 0) return;
    const context = this.#context;
    const inks = this.#colors();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const target = this.#hasKeys ? this.#middle() : null;
    const lit = this.#hovered ?? target;
    const scale = this.#scale();
    const shown = this.#dots.map((dot) => {
      const { x, y } = this.#position(dot);
      const at = { x: (x - this.#center.x) * scale.x + width / 2, y: (y - this.#center.y) * scale.y + height / 2 };
      return { dot, ...at, isNeeded: dot === lit || dot.isCenter, radius: dot.radius, height: dot.size + 2, width: this.#widthOf(dot) };
    }).filter(({ x, y }) => x > -20 && y > -20 && x < width + 20 && y < height + 20);

    for (const { dot, x, y } of shown) {
      context.beginPath();
      context.arc(x, y, dot === lit ? dot.radius + 1.5 : dot.radius, 0, 2 * Math.PI);
      context.fillStyle = dot === lit || dot.isCenter ? inks.accent : inks.dot;
      context.fill();
    }
    const order = lit ? [...shown.filter(({ dot }) => dot === lit), ...shown.filter(({ dot }) => dot !== lit)] : shown;
    const boxes = place(order, this.#size);
    this.#boxes = [];
    context.textBaseline = "middle";
    context.lineJoin = "round";
    order.forEach(({ dot }, index) => {
      const box = boxes[index];
      if (!box) return;
      this.#boxes.push({ dot, box });
      context.font = this.#font(dot);
      context.lineWidth = 3;
      context.strokeStyle = inks.paper;
      context.strokeText(dot.text, box.left, (box.top + box.bottom) / 2);
      context.fillStyle = dot === lit || dot.isCenter ? inks.accent : inks.ink;
      context.fillText(dot.text, box.left, (box.top + box.bottom) / 2);
    });
    if (target) this.#crosshair(inks);
    if (performance.now() - this.#moveStart < moveFor) this.#draw();
  }

  /** The middle, which the keyboard aims with. */
  #crosshair(inks) {
    const { width, height } = this.#size;
    const context = this.#context;
    context.strokeStyle = inks.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [x, y] of [[-12, 0], [12, 0], [0, -12], [0, 12]]) {
      context.moveTo(width / 2 + x / 2, height / 2 + y / 2);
      context.lineTo(width / 2 + x, height / 2 + y);
    }
    context.stroke();
  }

  #font(dot) {
    return `${dot.isCenter ? "600 " : ""}${dot.size}px ${this.#inks.family}`;
  }

  #widthOf(dot) {
    const key = `${dot.size}${dot.isCenter}${dot.text}`;
    if (!this.#widths.has(key)) {
      this.#context.font = this.#font(dot);
      this.#widths.set(key, this.#context.measureText(dot.text).width);
    }
    return this.#widths.get(key);
  }

  #colors() {
    this.#inks.family ??= getComputedStyle(this.#inks.ink).fontFamily;
    return Object.fromEntries(["ink", "accent", "paper", "dot"].map((name) => [name, getComputedStyle(this.#inks[name]).color]));
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const ratio = window.devicePixelRatio || 1;
    this.#size = { width, height };
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#colors();
    this.#paint();
  }

  /** The dot or label at a place, if there is one. */
  #at({ x, y }) {
    const labelled = this.#boxes.find(({ box }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    return labelled?.dot ?? this.#nearest({ x, y }, reach);
  }

  #middle() {
    return this.#nearest({ x: this.#size.width / 2, y: this.#size.height / 2 }, Infinity);
  }

  #nearest(place, limit) {
    let found = null;
    let least = limit;
    for (const dot of this.#dots) {
      const { x, y } = this.#toScreen(this.#position(dot));
      const distance = Math.hypot(x - place.x, y - place.y);
      if (distance < least) [found, least] = [dot, distance];
    }
    return found;
  }

  #hover(dot) {
    if (dot === this.#hovered) return;
    this.#hovered = dot;
    this.#canvas.classList.toggle("over", dot !== null);
    this.#draw();
  }

  #keys(has) {
    this.#hasKeys = has;
    this.#draw();
  }

  #wheel(event) {
    // A small map in a long page must not catch the wheel of whoever scrolls past.
    if (this.#isSmall && !event.ctrlKey && document.activeElement !== this.#canvas) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.zoomBy(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018)), inside(event));
  }

  #down(event) {
    if (event.button !== 0) return;
    if (this.#pointers.size === 0) this.#travel = 0;
    this.#pointers.set(event.pointerId, inside(event));
    this.#canvas.setPointerCapture(event.pointerId);
    this.#canvas.classList.add("held");
    this.#keys(false);
  }

  #move(event) {
    const at = inside(event);
    const before = this.#pointers.get(event.pointerId);
    if (!before) return this.#hover(this.#at(at));
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#travel += Math.hypot(at.x - before.x, at.y - before.y);
    this.#pointers.set(event.pointerId, at);
    if (other) {
      const factor = Math.hypot(at.x - other.x, at.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      this.zoomBy(factor, { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
    }
    const share = other ? 0.5 : 1;
    this.#panBy((at.x - before.x) * share, (at.y - before.y) * share);
  }

  #up(event) {
    const wasAlone = this.#pointers.size === 1;
    this.#pointers.delete(event.pointerId);
    if (this.#pointers.size === 0) this.#canvas.classList.remove("held");
    const dot = this.#at(inside(event));
    if (wasAlone && this.#travel < 6 && dot) this.#pick(dot.word);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pans = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (pans[event.key]) this.#panBy(...pans[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
    else if (event.key === "-" || event.key === "_") this.zoomBy(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter") {
      const dot = this.#middle();
      if (dot) this.#pick(dot.word);
    } else return;
    event.preventDefault();
    this.#hasKeys = true;
    const aimed = this.#middle();
    if (aimed && event.key !== "Enter") this.#aim(aimed.word);
  }
}

function inside(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** The middle of the points and half of their larger extent, so that the map keeps its size when the model grows. */
function bounds(points) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return { x: (left + right) / 2, y: (low + high) / 2, half: Math.max(right - left, high - low) / 2 || 1 };
}
