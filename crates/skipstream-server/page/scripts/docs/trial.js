// A form that asks a GET route and shows the answer as it comes.

import { Failure, hasToken, send, useToken } from "../api.js";
import { h } from "../dom.js";
import { describe, resolve } from "./schema.js";

const longest = 20_000;

export function trial(path, parameters, document) {
  const fields = parameters.filter((one) => one.in === "path" || one.in === "query").map((parameter) => {
    const schema = resolve(parameter.schema, document) ?? {};
    const input = h("input", { type: "text", required: parameter.required, placeholder: String(schema.example ?? schema.default ?? ""), title: describe(parameter.schema, document), spellcheck: "false", autocapitalize: "none" });
    return { parameter, input, root: h("label", {}, parameter.name, input) };
  });
  const out = h("div", { role: "status" });
  const form = h("form", { class: "try" }, h("div", { class: "fields" }, fields.map(({ root }) => root), h("button", { type: "submit" }, "Ask")), out);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const address = fill(path, fields);
    const started = performance.now();
    try {
      const response = await send(address);
      const type = response.headers.get("content-type") ?? "";
      // A download may be larger than what a page can hold.
      const isLarge = response.headers.has("content-disposition") || type.includes("event-stream") || type.includes("octet-stream");
      const body = isLarge ? "(a stream or a file: ask for it with a program such as curl)" : await response.text();
      if (isLarge) response.body.cancel();
      show(out, `${response.status} in ${Math.round(performance.now() - started)} ms`, address, pretty(body, type));
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      show(out, failure.status === 0 ? "No answer" : `${failure.status}`, address, failure.message);
      if (failure.status === 401) out.append(tokenField());
    }
  });
  return form;
}

function fill(path, fields) {
  let address = path;
  const query = new URLSearchParams();
  for (const { parameter, input } of fields) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.append(parameter.name, input.value);
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

function show(out, status, address, body) {
  out.replaceChildren(h("p", { class: "hint" }, `GET ${address}: ${status}`), h("pre", { tabindex: "0", "aria-label": "Answer" }, body));
}

function pretty(body, type) {
  const text = type.includes("json") ? JSON.stringify(JSON.parse(body), null, 2) : body;
  return text.length > longest ? `${text.slice(0, longest)}\n…` : text;
}

function tokenField() {
  const input = h("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  return h("div", { class: "fields" }, h("label", {}, hasToken() ? "Another token" : "Token", input), h("button", { type: "button", onclick: () => useToken(input.value.trim()) }, "Use token"));
}
