// An address that no view has.

import { h, replace } from "../dom.js";
import { to } from "../route.js";

/** @param {import("../views.js").Context} context */
export function missing({ root, name }) {
  const home = h("a", { href: to("") }, "Go to the start page");
  replace(
    root,
    h("div.start", h("h1", "No such page"), h("p", "There is no page ", h("code", `#/${name}`), ". ", home, ".")),
  );
}
