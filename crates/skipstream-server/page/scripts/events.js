// The format of server-sent events.

/** @typedef {{ name: string, id: string | null, data: string }} Event */

/** The complete events at the start of a text, and the rest of it, which begins the next ones. @param {string} text */
export function parseEvents(text) {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { events: blocks.map(parseEvent), rest };
}

/** @param {string} block @returns {Event} */
function parseEvent(block) {
  /** @type {Event} */
  const event = { name: "message", id: null, data: "" };
  const data = [];
  for (const line of block.split("\n")) {
    const [field, ...rest] = line.split(":");
    const value = rest.join(":").replace(/^ /, "");
    if (field === "event") event.name = value;
    else if (field === "data") data.push(value);
    else if (field === "id") event.id = value;
  }
  return { ...event, data: data.join("\n") };
}
