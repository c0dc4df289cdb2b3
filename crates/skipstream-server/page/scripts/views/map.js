// The map of the most frequent words, or of the words around one.

import { combobox } from "../combobox.js";
import { h } from "../dom.js";
import { atlas } from "../map/atlas.js";
import { go, replaceAddress, to } from "../route.js";

/** @param {import("../views.js").Context} context */
export function map({ root, argument: around, query, signal }) {
  /** @type {"pca" | "tsne"} */
  let method = query.get("method") === "tsne" ? "tsne" : "pca";
  const address = (/** @type {string | null} */ word) => to("map", word, { method: method === "pca" ? null : method });

  const find = combobox({
    label: "Show words around",
    placeholder: "Around a word",
    value: around ?? "",
    choose: (word) => go(address(word)),
  });
  const sizes = [50, 100, 200, 300, 500].map((n) =>
    h("option", { value: n, selected: n === (around ? 100 : 300) }, `${n} words`),
  );
  const size = h("select", { "aria-label": "Number of words" }, sizes);
  const methods = h(
    "fieldset.segments",
    { "aria-label": "Projection" },
    [
      ["pca", "PCA"],
      ["tsne", "t-SNE"],
    ].map(([value, label]) =>
      h("label", h("input", { type: "radio", name: "method", value, checked: value === method }), label),
    ),
  );
  const isLive = h("input", { type: "checkbox", checked: true });
  const plane = h("div");
  root.append(
    h(
      "div.head",
      h("h1", around === null ? "Map of the most frequent words" : ["Map around ", h("bdi", around)]),
      around !== null && h("a", { href: address(null) }, "Most frequent words"),
    ),
    h("div.controls", find.root, size, methods, h("label", isLive, "Update live")),
    plane,
  );

  const settings = () => ({ n: Number(size.value), around, method });
  const refresh = atlas({ root: plane, signal, settings, isLive: () => isLive.checked });
  size.addEventListener("change", () => refresh());
  methods.addEventListener("change", (event) => {
    method = /** @type {HTMLInputElement} */ (event.target).value === "tsne" ? "tsne" : "pca";
    replaceAddress(address(around));
    refresh();
  });
}
