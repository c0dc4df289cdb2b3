// Which labels of a map can be shown without one covering another, and where.

const longest = 26;

/** A word as it fits on a map. */
export function shortened(word) {
  const letters = [...word];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : word;
}

/**
 * Places labels, the most important first. Each `{ x, y, width, height, radius, isNeeded }` is a dot with the size of its
 * text; the answer has for each the box of the text, or null where there is no room. One that is needed may cover dots.
 */
export function place(dots, view) {
  const taken = [];
  return dots.map((dot) => {
    for (const box of around(dot)) {
      const isInside = box.left >= 2 && box.right <= view.width - 2 && box.top >= 2 && box.bottom <= view.height - 2;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      if (!dot.isNeeded && dots.some((other) => other !== dot && covers(box, other))) continue;
      taken.push(box);
      return box;
    }
    return null;
  });
}

/** The places of a text beside its dot, the best first. */
function around({ x, y, width, height, radius }) {
  const gap = radius + 3;
  return [
    boxAt(x + gap, y - height / 2, width, height),
    boxAt(x - gap - width, y - height / 2, width, height),
    boxAt(x - width / 2, y - gap - height, width, height),
    boxAt(x - width / 2, y + gap, width, height),
  ];
}

function boxAt(left, top, width, height) {
  return { left, top, right: left + width, bottom: top + height };
}

/** Whether a text would hide the dot of another. */
function covers(box, { x, y, radius }) {
  return x + radius > box.left && x - radius < box.right && y + radius / 2 > box.top && y - radius / 2 < box.bottom;
}

function overlap(one, other) {
  return one.left < other.right + 4 && other.left < one.right + 4 && one.top < other.bottom && other.top < one.bottom;
}
