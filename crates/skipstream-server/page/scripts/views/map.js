// The map of frequent words, or of the words around one.

import { combobox } from "../combobox.js";
import { h } from "../dom.js";
import { atlas } from "../map/atlas.js";
import { go, replaceAddress, to } from "../route.js";

/** @param {import("../views.js").Context} context */
export function map({ root, argument: around, query, signal }) {
  /** @type {"pca" | "tsne"} */
  let method = query.get("method") === "pca" ? "pca" : "tsne";
  const address = (/** @type {string | null} */ word) => to("map", word, { method: method === "tsne" ? null : method });

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
      ["tsne", "t-SNE"],
      ["pca", "PCA"],
    ].map(([value, label]) =>
      h("label", h("input", { type: "radio", name: "method", value, checked: value === method }), label),
    ),
  );
  const isLive = h("input", { type: "checkbox", checked: true });
  const withCommon = h("input", { type: "checkbox" });
  const commonTitle = "Words that make up more than 0.05 % of the text, such as “the” and “of”";
  const plane = h("div");
  root.append(
    h(
      "div.head",
      h("h1", around === null ? "Map of frequent words" : ["Map around ", h("bdi", around)]),
      around !== null && h("a", { href: address(null) }, "All frequent words"),
    ),
    h(
      "div.controls",
      find.root,
      size,
      methods,
      around === null && h("label", { title: commonTitle }, withCommon, "Include the commonest words"),
      h("label", isLive, "Update live"),
    ),
    plane,
  );

  const settings = () => ({ n: Number(size.value), around, method, skip: withCommon.checked ? 0 : null });
  const refresh = atlas({ root: plane, signal, settings, isLive: () => isLive.checked });
  size.addEventListener("change", () => refresh());
  withCommon.addEventListener("change", () => refresh());
  methods.addEventListener("change", (event) => {
    method = /** @type {HTMLInputElement} */ (event.target).value === "pca" ? "pca" : "tsne";
    replaceAddress(address(around));
    refresh();
  });
}
