"""Shared fixtures: services, a browser, and pages whose requests and errors are recorded.

    cargo build -p skipstream-cli
    SKIPSTREAM=target/debug/skipstream CHROMIUM=/usr/bin/chromium pytest crates/skipstream-server/tests/browser
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from planted import sentences
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from service import Service

# A small model learns the planted text in seconds.
MODEL = ("--dimensions", "24", "--window", "3", "--threads", "1")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that has learned the planted text and has a snapshot of its first part. Tests may add text."""
    service = Service(tmp_path_factory.mktemp("service"), *MODEL)
    service.start()
    service.learn(sentences(4000, seed=1))
    service.keep("first-part")
    service.learn(sentences(4000, seed=2))
    yield service
    service.stop()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Makes services that have read no text."""
    made: list[Service] = []

    def make(*options: str, token: str | None = None) -> Service:
        made.append(Service(tmp_path, *MODEL, *options, token=token))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages, each in a browser profile of its own. The test fails if a page contacts another host, or logs an error
    or a warning."""
    complaints: list[str] = []
    contexts = []

    def watch(page: Page) -> Page:
        def request(url: str) -> None:
            if not re.match(r"http://127\.0\.0\.1:\d+/", url):
                complaints.append(f"asked {url}")

        def console(message: ConsoleMessage) -> None:
            # The browser logs each error response. What the page shows for it is tested.
            if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
                complaints.append(f"{message.type}: {message.text}")

        page.on("request", lambda sent: request(sent.url))
        page.on("console", console)
        page.on("pageerror", lambda error: complaints.append(f"threw {error}"))
        page.set_default_timeout(20_000)
        return page

    def make(address: str, **options) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        contexts.append(context)
        page = watch(context.new_page())
        page.goto(address)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(service: Service, open_page: Callable[..., Page]) -> Page:
    """The page of the service that has learned the planted text."""
    return open_page(service.address)
