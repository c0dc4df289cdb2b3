"""Makes the screenshots for the documentation: a service learns a text, and its page is photographed meanwhile.

    SKIPSTREAM=target/release/skipstream python screenshots.py TEXT FOLDER [--bytes N]
"""

import argparse
import itertools
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from service import Service

SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 860}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
THEMES = ["light", "dark"]
LARGEST = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, help="text with one sentence or paragraph per line")
    parser.add_argument("folder", type=Path, help="folder for the screenshots")
    parser.add_argument("--bytes", type=int, default=60_000_000, help="number of bytes of the text to learn")
    parser.add_argument("--word", default="germany", help="word to open")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        service = Service(Path(folder), "--lowercase", "--tokenizer", "unicode")
        service.start()
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        try:
            photograph(browser, service, parts(arguments.text, arguments.bytes), arguments.folder, arguments.word)
        finally:
            browser.close()
            service.stop()


def photograph(browser: Browser, service: Service, text: Iterator[str], folder: Path, word: str) -> None:
    for name in ["first", "second", "third"]:
        service.learn(next(text))
        service.keep(name)
    service.learn(next(text))
    # The view of a word shows the most at once, so it represents the page where there is room for one picture.
    views = {
        "": f"#/word/{word}",
        "map": "#/map",
        "change": "#/change?since=first",
        "analogies": "#/analogies?a=man&b=king&c=woman",
        "text": "#/text",
        "settings": "#/settings",
    }
    for view, address in views.items():
        for screen, theme in itertools.product(SCREENS, THEMES):
            name = "-".join(filter(None, ["serve", view, screen, theme]))
            picture(open_page(browser, service, screen, theme, address), folder / f"{name}.png")
    # The first view shows a service at work, so its pages are opened before the last part of the text is sent.
    pages = {(screen, theme): open_page(browser, service, screen, theme, "#/") for screen, theme in itertools.product(SCREENS, THEMES)}
    sending = threading.Thread(target=lambda: service.learn(next(text)))
    sending.start()
    next(iter(pages.values())).wait_for_timeout(4500)
    for (screen, theme), page in pages.items():
        picture(page, folder / f"serve-now-{screen}-{theme}.png")
    sending.join()


def open_page(browser: Browser, service: Service, screen: str, theme: str, address: str) -> Page:
    page = browser.new_context(color_scheme=theme, **SCREENS[screen]).new_page()
    page.goto(f"{service.address}/{address}")
    page.locator("main h1").first.wait_for(state="attached")
    # Charts and maps are drawn once their data has arrived.
    page.wait_for_timeout(4000)
    return page


def picture(page: Page, path: Path) -> None:
    page.screenshot(path=path)
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path} is {size} bytes; the limit is {LARGEST}")
    print(f"{path}: {size} bytes")
    page.context.close()


def parts(path: Path, size: int) -> Iterator[str]:
    """The text in five parts of whole lines."""
    with path.open("rb") as file:
        for _ in range(5):
            part = file.read(size // 5) + file.readline()
            yield part.decode(errors="replace")


if __name__ == "__main__":
    main()
