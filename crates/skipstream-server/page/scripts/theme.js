// Runs before the first paint, as a plain script: a page that starts in the wrong theme flashes.
(() => {
  const key = "skipstream-theme";
  const themes = ["automatic", "light", "dark"];

  function remembered() {
    try {
      const theme = localStorage.getItem(key);
      return themes.includes(theme) ? theme : "automatic";
    } catch {
      // Storage may be forbidden; the switch then works until the page is left.
      return document.documentElement.dataset.theme ?? "automatic";
    }
  }

  function use(theme) {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // See above.
    }
    document.dispatchEvent(new CustomEvent("theme"));
  }

  function label(button) {
    const theme = document.documentElement.dataset.theme;
    const next = themes[(themes.indexOf(theme) + 1) % themes.length];
    button.setAttribute("aria-label", `Theme: ${theme}. Change to ${next}.`);
    button.title = `Theme: ${theme}`;
  }

  document.documentElement.dataset.theme = remembered();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    label(button);
    button.addEventListener("click", () => {
      const now = themes.indexOf(document.documentElement.dataset.theme);
      use(themes[(now + 1) % themes.length]);
      label(button);
    });
  });
  // Canvases are drawn in the colours of the theme, so they have to be drawn again.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new CustomEvent("theme")));
})();
