// What a newcomer sees: a service that has not read any text.

import { command, sendCommand } from "../commands.js";
import { h, replace } from "../dom.js";
import { live } from "../live.js";
import { to } from "../route.js";

/** @param {Element} root */
export function start(root) {
  const paste = h("a", { href: to("text") }, "Paste or drop some text");
  const [file, stream] = [sendCommand("corpus.txt"), `journalctl -f -o cat | ${sendCommand("-")}`];
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
      live.stats?.settings?.text === "tokens" && [
        h("h2", "Is it prose?"),
        h(
          "p",
          "This service takes what is between spaces as words, so that Dog, dog and dog, are different ones. ",
          "If people wrote the text, start a service with a new folder like this, and send the text there:",
        ),
        command("skipstream serve --data my-text --text prose"),
      ],
      h(
        "ol",
        h("li", h("h2", "Send a file"), command(file)),
        h("li", h("h2", "Stream the output of a program"), command(stream)),
        h("li", h("h2", "Try it by hand"), h("p", paste, " and watch the service learn it.")),
      ),
      h(
        "p.hint",
        "Text is safe on disk once the service has responded. The first neighbors appear after a few thousand words; ",
        "good ones take a few million.",
      ),
    ),
  );
}
