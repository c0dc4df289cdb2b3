import assert from "node:assert/strict";
import test from "node:test";

import { smooth, timeTicks } from "../../page/scripts/charts/curve.js";

const hour = 3600 * 1000;

test("times on an axis are round, and about as many as asked for", () => {
  const start = Date.parse("2026-11-15T20:07:31Z");
  for (const [span, step] of [
    [60_000, 10_000],
    [hour, 600_000],
    [6 * hour, hour],
    [72 * hour, 12 * hour],
  ]) {
    const ticks = timeTicks(start, start + span, 6);
    assert.ok(ticks.length >= 4 && ticks.length <= 7, `${ticks.length} ticks in ${span}`);
    const offset = new Date(start).getTimezoneOffset() * 60_000;
    assert.ok(ticks.every((tick) => (tick - offset) % step === 0 && tick >= start && tick <= start + span));
  }
});

test("a curve is smoothed over a fiftieth of it and keeps its length and its mean", () => {
  const points = Array.from({ length: 500 }, (_, x) => ({ x, y: x % 2 }));
  const smoothed = smooth(points);
  assert.equal(smoothed.length, 500);
  assert.ok(smoothed.every(({ y }) => Math.abs(y - 0.5) < 0.1));
  const few = points.slice(0, 50);
  assert.deepEqual(smooth(few), few);
});
