// What a newcomer sees: a service that has read nothing yet.

import { hasToken } from "../api.js";
import { announce, h } from "../dom.js";

export function start({ root, signal }) {
  const address = `${location.origin}/v1/text`;
  const token = hasToken() ? ' -H "Authorization: Bearer $TOKEN"' : "";
  root.append(h("div", { class: "start" },
    h("h1", {}, "Ready to learn"),
    h("p", {}, "This service has read no text yet. Send it some, one sentence or paragraph a line, and words will appear here while it learns."),
    h("ol", {},
      h("li", {}, h("h2", {}, "A file"), command(`curl --fail-with-body -X POST -T corpus.txt${token} ${address}`, signal)),
      h("li", {}, h("h2", {}, "Whatever a program writes, as it writes it"), command(`journalctl -f -o cat | curl --fail-with-body -X POST -T -${token} ${address}`, signal)),
      h("li", {}, h("h2", {}, "Or by hand"), h("p", {}, h("a", { href: "#/text" }, "Paste some text"), " and see it learned."))),
    h("p", { class: "hint" }, "Text is safe on disk once the request is answered. A model needs some millions of words before its neighbours are good; the first ones show after a few thousand.")));
}

/** A command line with a button that copies it. */
function command(line, signal) {
  const button = h("button", { type: "button", class: "quiet", "aria-label": `Copy: ${line}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copy(line);
    button.textContent = done ? "Copied" : "Select it and copy";
    announce(done ? "Copied" : "Could not be copied");
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }, { signal });
  return h("div", { class: "command" }, h("code", {}, line), button);
}

async function copy(line) {
  try {
    // Only where the page came over HTTPS or from this machine.
    await navigator.clipboard.writeText(line);
    return true;
  } catch {
    return false;
  }
}
