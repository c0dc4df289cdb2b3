// Groups of points that are close together on a map.

/** @typedef {import("./camera.js").Point} Point */

const rounds = 30;

/** The number of colors of the style sheet for groups: `--group-0` and so on. */
export const groupColors = 8;

/**
 * The group of each point, by k-means. The first centers are spread out, and there is no chance in it: the same map has the
 * same groups.
 * @param {Point[]} points
 * @param {number} most
 */
export function groups(points, most = groupColors) {
  const k = Math.min(most, Math.ceil(Math.sqrt(points.length / 4)));
  if (k < 2) return points.map(() => 0);
  let centers = spreadOut(points, k);
  let found = points.map((point) => nearest(centers, point));
  for (let round = 0; round < rounds; round += 1) {
    centers = centers.map((center, group) => mean(points.filter((_, index) => found[index] === group)) ?? center);
    const next = points.map((point) => nearest(centers, point));
    if (next.every((group, index) => group === found[index])) break;
    found = next;
  }
  return found;
}

/** Points that are far from each other: each is the farthest from those before it. @param {Point[]} points @param {number} k */
function spreadOut(points, k) {
  const chosen = [mean(points) ?? points[0]];
  while (chosen.length <= k) {
    const distances = points.map((point) => distance(chosen[nearest(chosen, point)], point));
    chosen.push(points[distances.indexOf(Math.max(...distances))]);
  }
  // The mean of all points only began the search.
  return chosen.slice(1);
}

/** @param {Point[]} centers @param {Point} point */
function nearest(centers, point) {
  const distances = centers.map((center) => distance(center, point));
  return distances.indexOf(Math.min(...distances));
}

/** @param {Point[]} points */
function mean(points) {
  if (points.length === 0) return null;
  const sum = points.reduce((one, other) => ({ x: one.x + other.x, y: one.y + other.y }));
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** @param {Point} one @param {Point} other */
const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/** Whether a point is inside a polygon. @param {Point} point @param {Point[]} corners */
export function isInside({ x, y }, corners) {
  let inside = false;
  corners.forEach((one, index) => {
    const other = corners[(index + 1) % corners.length];
    if (one.y > y !== other.y > y && x < one.x + ((other.x - one.x) * (y - one.y)) / (other.y - one.y))
      inside = !inside;
  });
  return inside;
}
