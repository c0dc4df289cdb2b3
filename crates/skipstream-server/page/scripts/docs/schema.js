// A JSON schema → the short form in which people write types.

const deepest = 6;

/** The type of a schema as a few lines: `{ word: string, count: integer ≥ 0 }`. */
export function describe(schema, document, depth = 0, seen = []) {
  if (!schema) return "any";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    // A type that holds itself is named instead of being written out for ever.
    if (seen.includes(name) || depth > deepest) return name;
    return describe(resolve(schema, document), document, depth, [...seen, name]);
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return unique(choices.map((one) => describe(one, document, depth, seen))).join(" | ");
  if (schema.allOf) return schema.allOf.map((one) => describe(one, document, depth, seen)).join(" & ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? (schema.properties ? "object" : "any")].flat();
  return types.map((type) => plain(type, schema, document, depth, seen)).join(" | ");
}

export function resolve(value, document) {
  if (!value?.$ref) return value;
  return value.$ref.slice(2).split("/").reduce((place, name) => place?.[name], document);
}

function plain(type, schema, document, depth, seen) {
  if (type === "array") {
    const items = schema.prefixItems ? schema.prefixItems.map((one) => describe(one, document, depth, seen)).join(", ") : describe(schema.items, document, depth, seen);
    return `[${items}${schema.prefixItems ? "" : ", …"}]${limits(schema)}`;
  }
  if (type === "object" && schema.properties) {
    const indent = "  ".repeat(depth + 1);
    const required = schema.required ?? [];
    const lines = Object.entries(schema.properties).map(([name, one]) => {
      const about = one.description ? `  // ${one.description.split("\n")[0]}` : "";
      return `${indent}${name}${required.includes(name) ? "" : "?"}: ${describe(one, document, depth + 1, seen)}${about}`;
    });
    return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
  }
  if (type === "object" && schema.additionalProperties) return `{ name: ${describe(schema.additionalProperties, document, depth, seen)}, … }`;
  return `${type}${schema.format && type === "string" ? ` (${schema.format})` : ""}${limits(schema)}`;
}

/** What a value may be, after its type. */
function limits(schema) {
  const range = [schema.minimum, schema.maximum];
  const size = [schema.minLength ?? schema.minItems, schema.maxLength ?? schema.maxItems];
  const parts = [];
  if (range.some((one) => one !== undefined)) parts.push(span(range));
  if (size.some((one) => one !== undefined)) parts.push(`length ${span(size)}`);
  if (schema.default !== undefined && schema.default !== null) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.length > 0 ? `, ${parts.join(", ")}` : "";
}

function span([low, high]) {
  if (low === undefined) return `≤ ${high}`;
  return high === undefined ? `≥ ${low}` : `${low} to ${high}`;
}

function unique(values) {
  return [...new Set(values)];
}
