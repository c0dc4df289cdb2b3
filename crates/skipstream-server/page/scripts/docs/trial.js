// A form that sends a GET request and shows the response.

import { Failure, hasToken, send, useToken } from "../api.js";
import { h, replace } from "../dom.js";
import { queryString } from "../route.js";
import { describe, resolve } from "./schema.js";

/** @typedef {{ name: string, in: string, required?: boolean, description?: string, schema: any }} Parameter */
/** @typedef {{ parameter: Parameter, input: HTMLInputElement }} Field */

const longest = 20_000;

/** @param {string} path @param {Parameter[]} parameters @param {import("./schema.js").Document} document */
export function trial(path, parameters, document) {
  const fields = parameters
    .filter((one) => one.in === "path" || one.in === "query")
    .map((parameter) => {
      const schema = resolve(parameter.schema, document) ?? {};
      const input = h("input", {
        type: "text",
        required: parameter.required,
        placeholder: schema.example ?? schema.default ?? "",
        title: describe(parameter.schema, document),
        spellcheck: "false",
        autocapitalize: "none",
      });
      return { parameter, input };
    });
  const out = h("div", { role: "status" });
  const labels = fields.map(({ parameter, input }) => h("label", parameter.name, input));
  const form = h("form.try", h("div.fields", labels, h("button", { type: "submit" }, "Send")), out);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const address = addressOf(path, fields);
    const show = (/** @type {string} */ status, /** @type {string} */ body) =>
      replace(out, h("p.hint", `GET ${address}: ${status}`), h("pre", { tabindex: 0, "aria-label": "Response" }, body));
    const started = performance.now();
    try {
      const response = await send(address);
      const body = await bodyOf(response);
      show(`${response.status} in ${Math.round(performance.now() - started)} ms`, body);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      show(error.status === 0 ? "No response" : `${error.status}`, error.message);
      if (error.status === 401) out.append(tokenField());
    }
  });
  return form;
}

/** @param {string} path @param {Field[]} fields */
function addressOf(path, fields) {
  let address = path;
  /** @type {{ [name: string]: string }} */
  const query = {};
  for (const { parameter, input } of fields) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else query[parameter.name] = input.value;
  }
  return address + queryString(query);
}

/** @param {Response} response */
async function bodyOf(response) {
  const type = response.headers.get("content-type") ?? "";
  // A download may be larger than a page can hold, and a stream has no end.
  if (response.headers.has("content-disposition") || /event-stream|octet-stream/.test(type)) {
    response.body?.cancel();
    return "(a stream or a file: fetch it with a program such as curl)";
  }
  const body = await response.text();
  const text = type.includes("json") ? JSON.stringify(JSON.parse(body), null, 2) : body;
  return text.length > longest ? `${text.slice(0, longest)}\n…` : text;
}

function tokenField() {
  const input = h("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  const use = h("button", { type: "button", onclick: () => useToken(input.value.trim()) }, "Use token");
  return h("div.fields", h("label", hasToken() ? "Another token" : "Token", input), use);
}
