// Command lines that send text, with a button that copies them.

import { hasToken } from "./api.js";
import { announce, h } from "./dom.js";

/** The command that sends a file, or standard input for `-`. @param {string} file */
export function sendCommand(file) {
  const token = hasToken() ? ' -H "Authorization: Bearer $TOKEN"' : "";
  return `curl --fail-with-body -X POST -T ${file}${token} ${location.origin}/v1/text`;
}

/** A command line with a button that copies it. @param {string} line */
export function command(line) {
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
