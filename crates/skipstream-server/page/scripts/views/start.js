// What a newcomer sees: a service that has not read any text.

import { hasToken } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { to } from "../route.js";

/** @param {Element} root */
export function start(root) {
  const token = hasToken() ? ' -H "Authorization: Bearer $TOKEN"' : "";
  const send = (/** @type {string} */ file) =>
    `curl --fail-with-body -X POST -T ${file}${token} ${location.origin}/v1/text`;
  const paste = h("a", { href: to("text") }, "Paste some text");
  replace(
    root,
    h(
      "div.start",
      h("h1", "Ready to learn"),
      h(
        "p",
        "This service has not read any text yet. Send it text, one sentence or paragraph per line, ",
        "and words appear here as it learns.",
      ),
      h(
        "ol",
        h("li", h("h2", "Send a file"), command(send("corpus.txt"))),
        h("li", h("h2", "Stream the output of a program"), command(`journalctl -f -o cat | ${send("-")}`)),
        h("li", h("h2", "Try it by hand"), h("p", paste, " and watch the service learn it.")),
      ),
      h(
        "p.hint",
        "Text is safe on disk once the service has responded. The first neighbours appear after a few thousand words; ",
        "good ones take a few million.",
      ),
    ),
  );
}

/** A command line with a button that copies it. @param {string} line */
function command(line) {
  const button = h("button.quiet", { type: "button", "aria-label": `Copy: ${line}` }, "Copy");
  button.addEventListener("click", async () => {
    const isCopied = await copy(line);
    button.textContent = isCopied ? "Copied" : "Select and copy it";
    announce(isCopied ? "Copied" : "Could not copy");
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  return h("div.command", h("code", line), button);
}

/** @param {string} line */
async function copy(line) {
  try {
    // Browsers have a clipboard only for pages from HTTPS or localhost.
    await navigator.clipboard.writeText(line);
    return true;
  } catch {
    return false;
  }
}
