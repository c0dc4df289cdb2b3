// The settings of the model and of the service.

import { ask } from "../api.js";
import { h, replace, section, table, th } from "../dom.js";
import { fill } from "../messages.js";

/** @typedef {{ name: string, value: unknown, default: string, help: string }} Setting */

/** @param {import("../views.js").Context} context */
export function settings({ root, signal }) {
  const content = h("div");
  replace(
    root,
    h("h1", "Settings"),
    h("p.lead", "How this service was started. The page cannot change settings."),
    content,
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
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return h(
      "tr",
      { class: text === usual ? "" : "changed" },
      h("td", h("code", name)),
      h("td", h("code", text)),
      h("td.soft", text === usual ? "" : usual && ["default ", h("code", usual)]),
      h("td.soft.help", help),
    );
  });
  const headings = [th("Setting"), th("Value"), th(h("span.unseen", "Default")), th("Meaning")];
  return table({ class: "settings", "aria-label": label }, headings, rows);
}
