// The routes of the service, from its own document.

import { ask, explain } from "../api.js";
import { h } from "../dom.js";
import { markdown } from "./markdown.js";
import { describe, resolve } from "./schema.js";
import { trial } from "./trial.js";

const methods = ["get", "post", "put", "patch", "delete"];
const routes = document.getElementById("routes");

/** Every route with its method, by tag, in the order of the document. */
function byTag(api) {
  const tags = new Map((api.tags ?? []).map(({ name }) => [name, []]));
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of methods.filter((one) => item[one])) {
      const operation = item[method];
      const tag = operation.tags?.[0] ?? "other";
      if (!tags.has(tag)) tags.set(tag, []);
      tags.get(tag).push({ path, method, operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolve(one, api)) });
    }
  }
  return [...tags].filter(([, list]) => list.length > 0);
}

function idOf({ method, path }) {
  return `${method}-${path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "")}`;
}

function route(one, api) {
  const { path, method, operation, parameters } = one;
  const body = resolve(operation.requestBody, api);
  const details = h("details", { class: "route", id: idOf(one) },
    h("summary", {}, h("span", { class: `method ${method}` }, method.toUpperCase()), h("code", {}, path), h("span", { class: "soft" }, operation.summary ?? "")));
  // What is inside is made when it is opened: a document has hundreds of types.
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    details.append(h("div", { class: "inside" },
      operation.description && h("div", { class: "about" }, markdown(operation.description)),
      parameters.length > 0 && h("section", {}, h("h3", {}, "Parameters"), parameterTable(parameters, api)),
      body && h("section", {}, h("h3", {}, "Body"), contents(body, api)),
      h("section", {}, h("h3", {}, "Answers"), responseTable(operation.responses ?? {}, api)),
      method === "get" && h("section", {}, h("h3", {}, "Try it"), trial(path, parameters, api))));
  });
  return details;
}

function parameterTable(parameters, api) {
  return h("table", {}, h("tbody", {}, parameters.map((one) => h("tr", {},
    h("td", {}, h("code", {}, one.name), " ", one.required && h("span", { class: "required" }, "required"), h("div", { class: "hint" }, one.in)),
    h("td", {}, one.description && markdown(one.description), h("p", { class: "type" }, describe(one.schema, api)))))));
}

function contents({ content = {}, description }, api) {
  return [
    description && markdown(description),
    Object.entries(content).map(([type, { schema }]) => h("div", {}, h("p", { class: "hint" }, type), schema && h("p", { class: "type" }, describe(schema, api)))),
  ];
}

function responseTable(responses, api) {
  return h("table", {}, h("tbody", {}, Object.entries(responses).map(([status, one]) => {
    const answer = resolve(one, api);
    const isError = Number(status) >= 400;
    return h("tr", {},
      h("td", {}, h("code", {}, status)),
      // All errors have the same shape; it is said once, with the first route that succeeds.
      h("td", {}, isError ? markdown(answer.description) : contents(answer, api)));
  })));
}

function show(api) {
  const tags = byTag(api);
  document.getElementById("contents").replaceChildren(...tags.map(([tag, list]) => h("div", {}, h("h2", {}, tag), h("ul", {}, list.map((one) =>
    h("li", {}, h("a", { href: `#${idOf(one)}`, onclick: () => (document.getElementById(idOf(one)).open = true) }, h("span", { class: `method ${one.method}` }, one.method.toUpperCase()), one.path.replace("/v1", ""))))))));
  routes.replaceChildren(
    h("div", { class: "intro" }, h("h1", {}, `${api.info.title} ${api.info.version ?? ""}`.trim()), api.info.description && h("div", { class: "soft about" }, markdown(api.info.description))),
    ...tags.map(([tag, list]) => h("section", { "aria-labelledby": `tag-${tag}` }, h("h2", { id: `tag-${tag}` }, tag), list.map((one) => route(one, api)))));
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    target.open = true;
    target.scrollIntoView();
  }
}

async function load() {
  try {
    show(await ask("/openapi.json"));
  } catch (failure) {
    const token = h("p", {}, "Give a token on ", h("a", { href: "/" }, "the page"), " first, then come back.");
    routes.replaceChildren(h("p", { class: "note bad" }, explain(failure)), ...(failure.status === 401 ? [token] : []));
  }
}

document.addEventListener("token", load);
load();
