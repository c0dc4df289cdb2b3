// Which part of the map is on the screen: positions on the map, in which the words span about −1 to 1, and pixels.

/** @typedef {{ x: number, y: number }} Point */

const margin = 46;
const least = 0.5;
const most = 60;
// The axes of a map have no meaning of their own, so it may be stretched to fill its canvas, within limits.
const mostStretch = 1.7;

export class Camera {
  width = 0;
  height = 0;
  #zoom = 1;
  #center = { x: 0, y: 0 };
  #extent = { x: 1, y: 1 };

  /** Sets how far the words extend from the center. @param {Point[]} points */
  cover(points) {
    this.#extent = {
      x: Math.max(0.05, ...points.map(({ x }) => Math.abs(x))),
      y: Math.max(0.05, ...points.map(({ y }) => Math.abs(y))),
    };
  }

  /** Shows the whole map. */
  fit() {
    this.#center = { x: 0, y: 0 };
    this.#zoom = 1;
  }

  /** The center of the canvas, in pixels. */
  get middle() {
    return { x: this.width / 2, y: this.height / 2 };
  }

  /** Moves the map by pixels. @param {number} x @param {number} y */
  panBy(x, y) {
    const scale = this.#scale();
    this.#center = { x: this.#center.x - x / scale.x, y: this.#center.y - y / scale.y };
  }

  /** Zooms around a pixel, which keeps its place on the map. @param {number} factor @param {Point} at */
  zoomBy(factor, at = this.middle) {
    const before = this.toMap(at);
    this.#zoom = Math.max(least, Math.min(most, this.#zoom * factor));
    const after = this.toMap(at);
    this.#center = { x: this.#center.x + before.x - after.x, y: this.#center.y + before.y - after.y };
  }

  /** @param {Point} point */
  toScreen({ x, y }) {
    const scale = this.#scale();
    return {
      x: (x - this.#center.x) * scale.x + this.width / 2,
      y: (y - this.#center.y) * scale.y + this.height / 2,
    };
  }

  /** @param {Point} point */
  toMap({ x, y }) {
    const scale = this.#scale();
    return {
      x: (x - this.width / 2) / scale.x + this.#center.x,
      y: (y - this.height / 2) / scale.y + this.#center.y,
    };
  }

  /** Pixels per unit of the map, across and down. */
  #scale() {
    // A small canvas gets a smaller margin.
    const room = Math.min(margin, this.height / 8);
    const x = Math.max(1, (this.width / 2 - room * 1.6) / this.#extent.x);
    const y = Math.max(1, (this.height / 2 - room) / this.#extent.y);
    return { x: this.#zoom * Math.min(x, y * mostStretch), y: this.#zoom * Math.min(y, x * mostStretch) };
  }
}
