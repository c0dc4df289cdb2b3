import assert from "node:assert/strict";
import test from "node:test";

import { parse, queryString, to } from "../../page/scripts/route.js";

test("an address names a view, an argument and parameters", () => {
  const { name, argument, query } = parse("#/map/berlin?method=tsne&n=3");
  assert.deepEqual([name, argument, query.get("method"), query.get("n")], ["map", "berlin", "tsne", "3"]);
  for (const hash of ["", "#", "#/"]) {
    assert.equal(parse(hash).name, "");
    assert.equal(parse(hash).argument, null);
  }
});

test("every word has an address that leads back to it", () => {
  for (const word of ["a/b?c#d%25", "東京", "100%", "a b", "?"]) {
    assert.equal(parse(to("word", word)).argument, word);
  }
});

test("a percent sign that encodes nothing is taken literally", () => {
  assert.equal(parse("#/word/100%").argument, "100%");
});

test("parameters without a value are left out, and lists are repeated", () => {
  assert.equal(queryString({}), "");
  assert.equal(queryString({ a: null, b: undefined, c: "" }), "");
  assert.equal(queryString({ n: 0, word: ["x", "y&z"] }), "?n=0&word=x&word=y%26z");
  assert.equal(to("analogies", null, { a: "man", b: "" }), "#/analogies?a=man");
});
