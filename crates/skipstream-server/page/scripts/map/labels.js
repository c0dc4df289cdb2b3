// Which labels of a map fit without covering each other, and where.

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */
/** @typedef {{ x: number, y: number, width: number, height: number, radius: number, isNeeded: boolean }} Label */

const longest = 26;

/** A word, cut to the length of a label. @param {string} word */
export function shortened(word) {
  const letters = [...word];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : word;
}

/**
 * Places labels, the most important first. Returns the box of each text, or null if there is no room for it. Labels that
 * are needed may cover the dots of others.
 * @param {Label[]} labels
 * @param {{ width: number, height: number }} view
 * @returns {(Box | null)[]}
 */
export function place(labels, view) {
  /** @type {Box[]} */
  const taken = [];
  return labels.map((label) => {
    const others = label.isNeeded ? [] : labels.filter((other) => other !== label);
    const free = around(label).find(
      (box) =>
        isInside(box, view) &&
        !taken.some((other) => overlap(box, other)) &&
        !others.some((other) => covers(box, other)),
    );
    if (free) taken.push(free);
    return free ?? null;
  });
}

/** The possible boxes of a text beside its dot, the best first. @param {Label} label */
function around({ x, y, width, height, radius }) {
  const gap = radius + 3;
  return [
    boxAt(x + gap, y - height / 2, width, height),
    boxAt(x - gap - width, y - height / 2, width, height),
    boxAt(x - width / 2, y - gap - height, width, height),
    boxAt(x - width / 2, y + gap, width, height),
  ];
}

/** @param {number} left @param {number} top @param {number} width @param {number} height */
function boxAt(left, top, width, height) {
  return { left, top, right: left + width, bottom: top + height };
}

/** @param {Box} box @param {{ width: number, height: number }} view */
function isInside({ left, top, right, bottom }, { width, height }) {
  return left >= 2 && right <= width - 2 && top >= 2 && bottom <= height - 2;
}

/** Whether a text would hide the dot of another. @param {Box} box @param {Label} label */
function covers({ left, top, right, bottom }, { x, y, radius }) {
  return x + radius > left && x - radius < right && y + radius / 2 > top && y - radius / 2 < bottom;
}

/** @param {Box} one @param {Box} other */
function overlap(one, other) {
  return one.left < other.right + 4 && other.left < one.right + 4 && one.top < other.bottom && other.top < one.bottom;
}
