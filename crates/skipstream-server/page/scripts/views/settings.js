// The settings of the model and of the service.

import { ask } from "../api.js";
import { controls } from "../controls.js";
import { h, replace, section, table, th } from "../dom.js";
import { fill } from "../messages.js";

/** @typedef {{ name: string, value: unknown, default: unknown, help: string }} Setting */

/** @param {import("../views.js").Context} context */
export function settings({ root, signal }) {
  const content = h("div");
  replace(
    root,
    h("h1", "Settings"),
    h("p.lead", "How this service was started. The page cannot change settings."),
    h("div.stack", content, controls(signal)),
  );
  fill(content, signal, async () => {
    const { model, service } = await ask("/v1/settings", { signal });
    return h(
      "div.stack",
      section("Model", h("span.hint", "fixed once the model exists"), settingTable(model, "Settings of the model")),
      section("Service", h("span.hint", "flags of skipstream serve"), settingTable(service, "Settings of the service")),
    );
  });
}

/** Settings that differ from their defaults are highlighted. @param {Setting[]} list @param {string} label */
function settingTable(list, label) {
  const rows = list.map(({ name, value, default: usual, help }) => {
    const isUsual = JSON.stringify(value) === JSON.stringify(usual);
    return h(
      "tr",
      { class: isUsual ? "" : "changed" },
      h("td", h("code", name)),
      h("td", h("code", written(value))),
      h("td.soft", !isUsual && ["default ", h("code", written(usual))]),
      h("td.soft.help", help.replaceAll("`", "")),
    );
  });
  const headings = [th("Setting"), th("Value"), th(h("span.unseen", "Default")), th("Meaning")];
  return table({ class: "settings", "aria-label": label }, headings, rows);
}

/** A value as in a settings file. @param {unknown} value */
function written(value) {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return value === null || value === "" ? "none" : String(value);
}
