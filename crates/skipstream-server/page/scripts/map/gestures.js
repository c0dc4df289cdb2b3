// Mouse, touch and keyboard on a map.

/** @typedef {import("./camera.js").Point} Point */

const step = 60;
// A pointer that moved less than this many pixels has clicked.
const clickTravel = 6;

/**
 * Listens to a canvas. With `isSmall`, the wheel zooms only while the map has the focus, so that it does not catch
 * somebody scrolling past.
 * @param {HTMLCanvasElement} canvas
 * @param {boolean} isSmall
 * @param {{
 *   pan: (x: number, y: number) => void, zoom: (factor: number, at?: Point) => void, fit: () => void,
 *   hover: (at: Point | null) => void, click: (at: Point) => void, open: () => void, keys: (has: boolean) => void,
 *   aim: () => void, isSelecting: () => boolean, lasso: (path: Point[], isDone: boolean) => void,
 * }} act
 */
export function listen(canvas, isSmall, act) {
  /** The pointers that are down, with their positions. @type {Map<number, Point>} */
  const pointers = new Map();
  let travel = 0;
  /** The line drawn around words to select them. @type {Point[] | null} */
  let path = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) travel = 0;
    pointers.set(event.pointerId, position(event));
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("held");
    act.keys(false);
    path = pointers.size === 1 && (act.isSelecting() || event.shiftKey) ? [position(event)] : null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = position(event);
    const before = pointers.get(event.pointerId);
    if (!before) return act.hover(at);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, at);
    travel += distance(at, before);
    if (path) {
      path.push(at);
      return act.lasso(path, false);
    }
    if (other) {
      const center = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
      act.zoom(distance(at, other) / Math.max(1, distance(before, other)), center);
    }
    // One of two fingers moves the center between them by half.
    const share = other ? 0.5 : 1;
    act.pan((at.x - before.x) * share, (at.y - before.y) * share);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (pointers.size === 1 && travel < clickTravel) act.click(position(event));
    else if (path) act.lasso(path, true);
    release(event);
  });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => act.hover(null));

  /** @param {PointerEvent} event */
  function release(event) {
    pointers.delete(event.pointerId);
    path = null;
    canvas.classList.toggle("held", pointers.size > 0);
  }

  const onWheel = (/** @type {WheelEvent} */ event) => {
    if (isSmall && !event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    act.zoom(Math.exp(-event.deltaY * pixels * (event.ctrlKey ? 0.01 : 0.0018)), position(event));
  };
  canvas.addEventListener("wheel", onWheel, { passive: false });

  canvas.addEventListener("focus", () => act.keys(canvas.matches(":focus-visible")));
  canvas.addEventListener("blur", () => act.keys(false));
  /** @type {{ [key: string]: () => void }} */
  const moves = {
    ArrowLeft: () => act.pan(step, 0),
    ArrowRight: () => act.pan(-step, 0),
    ArrowUp: () => act.pan(0, step),
    ArrowDown: () => act.pan(0, -step),
    "+": () => act.zoom(1.4),
    "=": () => act.zoom(1.4),
    "-": () => act.zoom(1 / 1.4),
    _: () => act.zoom(1 / 1.4),
    0: () => act.fit(),
  };
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(move || event.key === "Enter")) return;
    event.preventDefault();
    if (!move) return act.open();
    move();
    act.aim();
  });
}

/** @param {MouseEvent} event */
function position(event) {
  const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {Point} one @param {Point} other */
function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
