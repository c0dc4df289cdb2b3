// A plain script that runs before the first paint: a page that starts in the wrong theme flashes.
(() => {
  const key = "skipstream-theme";
  const themes = ["automatic", "light", "dark"];
  const root = document.documentElement;
  const current = () => root.dataset.theme ?? "automatic";
  const next = () => themes[(themes.indexOf(current()) + 1) % themes.length];
  // Canvases are drawn in the colors of the theme, so they have to be redrawn.
  const announce = () => document.dispatchEvent(new CustomEvent("theme"));

  function stored() {
    try {
      return localStorage.getItem(key);
    } catch {
      // Storage may be forbidden; the button then works until the page is closed.
      return null;
    }
  }

  /** @param {string} theme */
  function use(theme) {
    root.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // See above.
    }
    announce();
  }

  /** @param {HTMLElement} button */
  function label(button) {
    button.setAttribute("aria-label", `Theme: ${current()}. Change to ${next()}.`);
    button.title = `Theme: ${current()}`;
  }

  root.dataset.theme = themes.find((theme) => theme === stored()) ?? "automatic";
  document.addEventListener("DOMContentLoaded", () => {
    const button = /** @type {HTMLElement} */ (document.getElementById("theme"));
    label(button);
    button.addEventListener("click", () => {
      use(next());
      label(button);
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
})();
