import assert from "node:assert/strict";
import test from "node:test";

import { Camera } from "../../page/scripts/map/camera.js";
import { groups, isInside } from "../../page/scripts/map/clusters.js";
import { place, shortened } from "../../page/scripts/map/labels.js";

const view = { width: 300, height: 200 };
const label = (x, y, isNeeded = false) => ({ x, y, width: 60, height: 14, radius: 3, isNeeded });

function camera() {
  const made = Object.assign(new Camera(), view);
  made.cover([
    { x: -1, y: 0.5 },
    { x: 1, y: -0.5 },
  ]);
  return made;
}

function assertNear(one, other) {
  assert.ok(Math.hypot(one.x - other.x, one.y - other.y) < 1e-9, `${JSON.stringify(one)} ${JSON.stringify(other)}`);
}

test("the whole map is in view at first, and after fit", () => {
  const made = camera();
  const corner = made.toScreen({ x: 1, y: 0.5 });
  assert.ok(corner.x > 150 && corner.x < 300 && corner.y > 100 && corner.y < 200);
  made.panBy(40, 70);
  made.zoomBy(3);
  assert.notDeepEqual(made.toScreen({ x: 1, y: 0.5 }), corner);
  made.fit();
  assert.deepEqual(made.toScreen({ x: 1, y: 0.5 }), corner);
});

test("pixels and positions on the map are converted both ways", () => {
  const made = camera();
  made.zoomBy(2.5, { x: 10, y: 20 });
  assertNear(made.toMap(made.toScreen({ x: 0.3, y: -0.2 })), { x: 0.3, y: -0.2 });
});

test("panning moves the map by pixels", () => {
  const made = camera();
  const before = made.toScreen({ x: 0.1, y: 0.1 });
  made.panBy(25, -10);
  assertNear(made.toScreen({ x: 0.1, y: 0.1 }), { x: before.x + 25, y: before.y - 10 });
});

test("zooming keeps its pixel in place, within limits", () => {
  const made = camera();
  const at = { x: 70, y: 150 };
  const before = made.toMap(at);
  made.zoomBy(4, at);
  assertNear(made.toMap(at), before);
  made.zoomBy(1e9);
  made.zoomBy(1e9);
  assert.ok(made.toScreen({ x: 1, y: 0 }).x < 1e6);
});

test("a label is beside its dot, on the other side near the edge, and absent where there is no room", () => {
  const [right, left] = place([label(100, 100), label(280, 50)], view);
  assert.ok(right.left > 100);
  assert.ok(left.right < 280);
  assert.deepEqual(place([label(-50, 100)], view), [null]);
});

test("labels never overlap, and the most important come first", () => {
  const crowd = Array.from({ length: 40 }, (_, index) => label(100 + index * 2, 100 + (index % 3)));
  const boxes = place(crowd, view).filter(Boolean);
  assert.ok(boxes.length >= 1 && boxes.length < crowd.length);
  for (const one of boxes) {
    for (const other of boxes) {
      const isApart =
        one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
      assert.ok(one === other || isApart);
    }
  }
});

test("only a label that is needed covers the dots of others", () => {
  const dots = [-1, 1].flatMap((sign) => [label(100 + sign * 30, 100), label(100, 100 + sign * 10)]);
  assert.equal(place([label(100, 100), ...dots], view)[0], null);
  assert.notEqual(place([label(100, 100, true), ...dots], view)[0], null);
});

test("long words are cut by letters, not by bytes", () => {
  assert.equal(shortened("short"), "short");
  assert.equal([...shortened("𝒜".repeat(40))].length, 26);
  assert.ok(shortened("a".repeat(27)).endsWith("…"));
});

test("points that are close together are a group, and the same map has the same groups", () => {
  const around = (x, y) => Array.from({ length: 12 }, (_, index) => ({ x: x + (index % 4) / 50, y: y + index / 100 }));
  const points = [...around(-1, 0), ...around(1, 0), ...around(0, 1)];
  const found = groups(points, 3);
  for (const start of [0, 12, 24]) assert.equal(new Set(found.slice(start, start + 12)).size, 1);
  assert.equal(new Set(found).size, 3);
  assert.deepEqual(groups(points, 3), found);
  assert.deepEqual(groups(points.slice(0, 2)), [0, 0]);
  assert.deepEqual(groups([]), []);
  assert.equal(groups(Array.from({ length: 300 }, () => ({ x: 0, y: 0 }))).length, 300);
});

test("a lasso holds the points inside it", () => {
  const corners = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 10 },
    { x: 5, y: 5 },
    { x: 0, y: 10 },
  ];
  assert.ok(isInside({ x: 2, y: 3 }, corners));
  assert.ok(!isInside({ x: 5, y: 8 }, corners));
  assert.ok(!isInside({ x: 12, y: 3 }, corners));
});
