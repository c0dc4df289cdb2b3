// The routes of the service, from its OpenAPI document.

import { ask, explain, Failure } from "../api.js";
import { byId, h, replace } from "../dom.js";
import { markdown } from "./markdown.js";
import { describe, resolve } from "./schema.js";
import { trial } from "./trial.js";

/** @typedef {import("./schema.js").Document} Document */
/** @typedef {{ method: string, path: string, operation: any, parameters: import("./trial.js").Parameter[] }} Route */

const methods = ["get", "post", "put", "patch", "delete"];

/** All routes by tag, in the order of the document. @param {Document} api */
function byTag(api) {
  /** @type {Map<string, Route[]>} */
  const tags = new Map((api.tags ?? []).map((/** @type {{ name: string }} */ { name }) => [name, []]));
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of methods.filter((one) => item[one])) {
      const operation = item[method];
      const tag = operation.tags?.[0] ?? "other";
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolve(one, api));
      tags.set(tag, [...(tags.get(tag) ?? []), { path, method, operation, parameters }]);
    }
  }
  return [...tags].filter(([, routes]) => routes.length > 0);
}

/** @param {Route} route */
function idOf({ method, path }) {
  return `${method}-${path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "")}`;
}

/** @param {Route} route */
const methodLabel = ({ method }) => h("span.method", { class: method }, method.toUpperCase());

/** @param {Route} route @param {Document} api */
function routeDetails(route, api) {
  const { path, method, operation, parameters } = route;
  const summary = h("summary", methodLabel(route), h("code", path), h("span.soft", operation.summary ?? ""));
  const details = h("details.route", { id: idOf(route) }, summary);
  // The content is made when the route is opened: a document has hundreds of types.
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const body = resolve(operation.requestBody, api);
    const part = (/** @type {string} */ title, /** @type {import("../dom.js").Child} */ content) =>
      h("section", h("h3", title), content);
    details.append(
      h(
        "div.inside",
        operation.description && h("div.about", markdown(operation.description)),
        parameters.length > 0 && part("Parameters", parameterTable(parameters, api)),
        body && part("Request body", contents(body, api)),
        part("Responses", responseTable(operation.responses ?? {}, api)),
        method === "get" && part("Try it", trial(path, parameters, api)),
      ),
    );
  });
  return details;
}

/** @param {import("./trial.js").Parameter[]} parameters @param {Document} api */
function parameterTable(parameters, api) {
  const rows = parameters.map((one) =>
    h(
      "tr",
      h("td", h("code", one.name), " ", one.required && h("span.required", "required"), h("div.hint", one.in)),
      h("td", one.description && markdown(one.description), h("p.type", describe(one.schema, api))),
    ),
  );
  return h("table", h("tbody", rows));
}

/** @param {{ content?: Record<string, { schema?: any }>, description?: string }} body @param {Document} api */
function contents({ content = {}, description }, api) {
  const types = Object.entries(content).map(([type, { schema }]) =>
    h("div", h("p.hint", type), schema && h("p.type", describe(schema, api))),
  );
  return [description && markdown(description), types];
}

/** @param {Record<string, any>} responses @param {Document} api */
function responseTable(responses, api) {
  const rows = Object.entries(responses).map(([status, one]) => {
    const response = resolve(one, api);
    // All errors have the same shape, so it is not repeated.
    const isError = Number(status) >= 400;
    const content = isError ? markdown(response.description) : contents(response, api);
    return h("tr", h("td", h("code", status)), h("td", content));
  });
  return h("table", h("tbody", rows));
}

/** @param {string} id */
function open(id) {
  const details = document.getElementById(id);
  if (details instanceof HTMLDetailsElement) details.open = true;
  return details;
}

/** @param {Document} api */
function show(api) {
  const tags = byTag(api);
  const link = (/** @type {Route} */ route) =>
    h(
      "a",
      { href: `#${idOf(route)}`, onclick: () => open(idOf(route)) },
      methodLabel(route),
      route.path.replace("/v1", ""),
    );
  const lists = tags.map(([tag, routes]) =>
    h(
      "div",
      h("h2", tag),
      h(
        "ul",
        routes.map((route) => h("li", link(route))),
      ),
    ),
  );
  replace(byId("contents"), lists);
  const { title, version = "", description } = api.info;
  const intro = h("div.intro", h("h1", `${title} ${version}`.trim()));
  if (description) intro.append(h("div.soft.about", markdown(description)));
  const sections = tags.map(([tag, routes]) => {
    const id = `tag-${tag}`;
    return h(
      "section",
      { "aria-labelledby": id },
      h("h2", { id }, tag),
      routes.map((route) => routeDetails(route, api)),
    );
  });
  replace(byId("routes"), intro, sections);
  open(location.hash.slice(1))?.scrollIntoView();
}

async function load() {
  try {
    show(await ask("/openapi.json"));
  } catch (error) {
    const needsToken = error instanceof Failure && error.status === 401;
    const how = h("p", "Enter a token on the ", h("a", { href: "/" }, "main page"), ", then reload this one.");
    replace(byId("routes"), h("p.note.bad", explain(error)), needsToken && how);
  }
}

document.addEventListener("token", load);
load();
