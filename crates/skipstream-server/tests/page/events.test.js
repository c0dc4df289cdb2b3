import assert from "node:assert/strict";
import test from "node:test";

import { parseEvents } from "../../page/scripts/events.js";

test("complete events are returned, and the rest waits for more text", () => {
  const { events, rest } = parseEvents('id: 7\nevent: published\ndata: {"seq":1}\n\nevent: pro');
  assert.deepEqual(events, [{ name: "published", id: "7", data: '{"seq":1}' }]);
  assert.equal(rest, "event: pro");
});

test("line ends may be those of Windows, and data may have several lines and colons", () => {
  const { events, rest } = parseEvents("data: a: b\r\ndata:c\r\n\r\n");
  assert.deepEqual(events, [{ name: "message", id: null, data: "a: b\nc" }]);
  assert.equal(rest, "");
});

test("a comment that keeps the connection open has no data", () => {
  assert.deepEqual(parseEvents(": ping\n\n").events, [{ name: "message", id: null, data: "" }]);
});
