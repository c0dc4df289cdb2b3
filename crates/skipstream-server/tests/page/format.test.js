import assert from "node:assert/strict";
import test from "node:test";

import { ago, bytes, many, number, share, short, similarity } from "../../page/scripts/format.js";

test("numbers have separators, and large ones are shortened", () => {
  assert.equal(number(1234567), "1,234,567");
  assert.equal(short(9999), "9,999");
  assert.equal(short(12345), "12.3K");
  assert.equal(short(1_234_567), "1.23M");
  assert.equal(many(1, "line"), "1 line");
  assert.equal(many(2000, "line"), "2,000 lines");
});

test("similarities have three digits and a real minus sign", () => {
  assert.equal(similarity(0.8734), "0.873");
  assert.equal(similarity(-0.5), "−0.500");
});

test("bytes are given in the largest unit that is not below one", () => {
  assert.equal(bytes(0), "0 B");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(1000), "1.0 kB");
  assert.equal(bytes(123_456_789), "123 MB");
  assert.equal(bytes(5e15), "5000 TB");
});

test("shares are percentages with two digits", () => {
  assert.equal(share(0), "0 %");
  assert.equal(share(0.012345), "1.2 %");
  assert.equal(share(1e-9), "< 0.0001 %");
});

test("the time since a moment is given in its largest unit", () => {
  const now = Date.parse("2024-05-06T12:00:00Z");
  const before = (seconds) => ago(new Date(now - seconds * 1000).toISOString(), now);
  assert.equal(before(0), "now");
  assert.equal(before(-5), "now");
  assert.equal(before(59), "59 s ago");
  assert.equal(before(3599), "59 min ago");
  assert.equal(before(35 * 3600), "35 h ago");
  assert.equal(before(36 * 3600), "1 d ago");
  assert.match(before(100 * 86400), /2024/);
});
