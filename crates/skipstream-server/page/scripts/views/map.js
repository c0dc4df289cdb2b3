// The map of the most frequent words, or of those around one.

import { combobox } from "../combobox.js";
import { h } from "../dom.js";
import { atlas } from "../map/atlas.js";
import { go, say, to } from "../route.js";

export function mapView({ root, argument, query, signal }) {
  let method = query.get("method") === "tsne" ? "tsne" : "pca";
  const around = argument;
  const find = combobox({ label: "Show the words around", placeholder: "Around a word", value: around ?? "", choose: (word) => go(to("map", word, { method })) });
  const sizes = [50, 100, 200, 300, 500];
  const size = h("select", { "aria-label": "How many words" }, sizes.map((n) => h("option", { value: n, selected: n === (around ? 100 : 300) }, `${n} words`)));
  const follow = h("input", { type: "checkbox", checked: true });
  const choice = (value, label) => h("label", {}, h("input", { type: "radio", name: "method", value, checked: value === method }), label);
  const methods = h("fieldset", { class: "segments", "aria-label": "How the map is drawn" }, choice("pca", "PCA"), choice("tsne", "t-SNE"));
  const map = h("div", {});

  root.append(
    h("div", { class: "head" },
      h("h1", {}, around === null ? "Map of the most frequent words" : ["Map around ", h("bdi", {}, around)]),
      around !== null && h("a", { href: to("map", null, { method: method === "pca" ? "" : method }) }, "Most frequent words")),
    h("div", { class: "controls" }, find.root, size, methods, h("label", {}, follow, "Follow as it learns")),
    map);

  const refresh = atlas({ root: map, signal, settings: () => ({ n: size.value, around, method }), isLive: () => follow.checked });
  size.addEventListener("change", () => refresh());
  methods.addEventListener("change", (event) => {
    method = event.target.value;
    say(to("map", around, { method: method === "pca" ? "" : method }));
    refresh();
  });
}
