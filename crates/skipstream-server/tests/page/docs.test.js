import "./dom.js";

import assert from "node:assert/strict";
import test from "node:test";

import { markdown } from "../../page/scripts/docs/markdown.js";
import { describe, resolve } from "../../page/scripts/docs/schema.js";

const html = (text) => markdown(text).join("");

test("paragraphs join their lines and have code and bold words", () => {
  assert.equal(html("one `a*b`\ntwo **x**\n\nthree"), "<p>one <code>a*b</code> two <strong>x</strong></p><p>three</p>");
});

test("lists and tables become lists and tables", () => {
  assert.equal(html("- one\n- `two`"), '<ul class="points"><li>one</li><li><code>two</code></li></ul>');
  const table = html("| a | b |\n|---|---|\n| 1 | `2` |");
  assert.match(table, /<th[^>]*>a<\/th><th[^>]*>b<\/th>/);
  assert.match(table, /<tbody><tr><td>1<\/td><td><code>2<\/code><\/td><\/tr><\/tbody>/);
});

test("text that looks like markup stays text", () => {
  const [paragraph] = markdown("<img src=x>");
  assert.deepEqual(paragraph.children, ["<img src=x>"]);
});

const api = {
  components: {
    schemas: {
      Word: {
        type: "object",
        required: ["word"],
        properties: { word: { type: "string" }, near: { $ref: "#/components/schemas/Words" } },
      },
      Words: { type: "array", items: { $ref: "#/components/schemas/Word" }, maxItems: 5 },
    },
  },
};

test("types are written in short form, with limits and defaults", () => {
  assert.equal(describe(undefined, api), "any");
  assert.equal(describe({ type: "integer", minimum: 1, maximum: 9, default: 3 }, api), "integer, 1 to 9, default 3");
  assert.equal(describe({ type: "string", format: "date-time", maxLength: 8 }, api), "string (date-time), length ≤ 8");
  assert.equal(describe({ type: ["integer", "null"], minimum: 0 }, api), "integer, ≥ 0 | null, ≥ 0");
  assert.equal(describe({ enum: ["pca", "tsne"] }, api), '"pca" | "tsne"');
  assert.equal(describe({ oneOf: [{ type: "null" }, { type: "null" }, { const: 1 }] }, api), "null | 1");
  assert.equal(describe({ type: "object", additionalProperties: { type: "number" } }, api), "{ name: number, … }");
  assert.equal(
    describe({ type: "array", prefixItems: [{ type: "number" }, { type: "string" }] }, api),
    "[number, string]",
  );
});

test("a type that contains itself is named, not repeated", () => {
  const text = describe({ $ref: "#/components/schemas/Word" }, api);
  assert.equal(text, "{\n  word: string\n  near?: [Word, …], length ≤ 5\n}");
});

test("references are followed, and other values returned", () => {
  assert.equal(resolve({ $ref: "#/components/schemas/Words" }, api).maxItems, 5);
  assert.equal(resolve({ $ref: "#/no/such/part" }, api), undefined);
  assert.equal(resolve("x", api), "x");
});
