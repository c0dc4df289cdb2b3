// JSON schemas in the short notation in which people write types.

/** @typedef {any} Document An OpenAPI document. */
/** @typedef {any} Schema */

const deepest = 6;

/**
 * The type of a schema in a few lines: `{ word: string, count: integer, ≥ 0 }`.
 * @param {Schema} schema
 * @param {Document} document
 * @param {string[]} seen
 * @returns {string}
 */
export function describe(schema, document, depth = 0, seen = []) {
  if (!schema) return "any";
  const inner = (/** @type {Schema} */ one) => describe(one, document, depth, seen);
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    // A type that contains itself is named instead of being repeated for ever.
    if (seen.includes(name) || depth > deepest) return name;
    return describe(resolve(schema, document), document, depth, [...seen, name]);
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return [...new Set(choices.map(inner))].join(" | ");
  if (schema.allOf) return schema.allOf.map(inner).join(" & ");
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);

  const plain = (/** @type {string} */ type) => {
    if (type === "array" && schema.prefixItems) return `[${schema.prefixItems.map(inner).join(", ")}]${limits(schema)}`;
    if (type === "array") return `[${inner(schema.items)}, …]${limits(schema)}`;
    if (type === "object" && schema.properties) return properties(schema, document, depth, seen);
    if (type === "object" && schema.additionalProperties) return `{ name: ${inner(schema.additionalProperties)}, … }`;
    return `${type}${schema.format && type === "string" ? ` (${schema.format})` : ""}${limits(schema)}`;
  };
  return [schema.type ?? (schema.properties ? "object" : "any")].flat().map(plain).join(" | ");
}

/** What a reference refers to, or the value itself. @param {any} value @param {Document} document */
export function resolve(value, document) {
  if (!value?.$ref) return value;
  const path = value.$ref.slice(2).split("/");
  return path.reduce((/** @type {any} */ part, /** @type {string} */ name) => part?.[name], document);
}

/** @param {Schema} schema @param {Document} document @param {number} depth @param {string[]} seen */
function properties(schema, document, depth, seen) {
  const lines = Object.entries(schema.properties).map(([name, one]) => {
    const about = one.description ? `  // ${one.description.split("\n")[0]}` : "";
    const mark = schema.required?.includes(name) ? "" : "?";
    return `${"  ".repeat(depth + 1)}${name}${mark}: ${describe(one, document, depth + 1, seen)}${about}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

/** The limits and the default of a value. @param {Schema} schema */
function limits(schema) {
  const range = span(schema.minimum, schema.maximum);
  const size = span(schema.minLength ?? schema.minItems, schema.maxLength ?? schema.maxItems);
  return [
    range && `, ${range}`,
    size && `, length ${size}`,
    (schema.default ?? null) !== null && `, default ${JSON.stringify(schema.default)}`,
  ]
    .filter(Boolean)
    .join("");
}

/** @param {number | undefined} low @param {number | undefined} high */
function span(low, high) {
  if (low === undefined) return high === undefined ? "" : `≤ ${high}`;
  return high === undefined ? `≥ ${low}` : `${low} to ${high}`;
}
