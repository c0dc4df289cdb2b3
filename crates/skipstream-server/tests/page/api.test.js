import assert from "node:assert/strict";
import test from "node:test";

import { explain, Failure, isAbort, wordPath } from "../../page/scripts/api.js";
import { ticks } from "../../page/scripts/charts/curve.js";
import { isNamed } from "../../page/scripts/views/timeline.js";

test("failures are explained in sentences", () => {
  assert.equal(explain(new Failure(404, { message: "no snapshot `x`" })), "No snapshot `x`.");
  assert.match(explain(new Failure(0)), /^Cannot reach the service/);
  assert.match(explain(new Failure(429, {}, 7)), /full\. Try again in 7 s\.$/);
  assert.match(explain(new Failure(503)), /Try again in a moment\.$/);
  assert.match(explain(new Failure(413, { message: "the line has 9 bytes" })), / The line has 9 bytes\.$/);
  assert.equal(explain(new TypeError("x is null")), "TypeError: x is null.");
});

test("a request that was given up is not a failure", () => {
  assert.ok(isAbort(new DOMException("", "AbortError")));
  assert.ok(!isAbort(new Failure(0)));
});

test("words are encoded in paths", () => {
  assert.equal(wordPath("a/b?"), "/v1/words/a%2Fb%3F");
});

test("ticks are round numbers inside their range", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.13, 0.38, 3), [0.2, 0.30000000000000004]);
  assert.deepEqual(ticks(3, 3, 4), [3]);
});

test("snapshots that the service took are known by their names", () => {
  assert.ok(isNamed({ name: "before-launch" }));
  assert.ok(!isNamed({ name: "2024-05-06T07-08-09Z" }));
  assert.ok(!isNamed({ name: null }));
});
