"""Adding text."""

import gzip
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from service import Service


def open_text(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/text")
    expect(page.get_by_role("heading", level=1, name="Add text")).to_be_visible()


def test_pasted_text_is_logged_then_learned_then_looked_at(page: Page, service: Service) -> None:
    open_text(page)
    before = service.ask("/v1/stats")["logged"]
    page.get_by_label("Text to learn").fill("sonata symphony concerto\nsymphony quartet sonata\n")
    expect(page.locator("#paste-hint")).to_contain_text("2 lines")
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator(".steps")).to_contain_text(f"Logged as lines {before + 1:,} to {before + 2:,}")
    expect(page.locator(".steps")).to_contain_text("Learned")
    page.locator(".learned").get_by_role("link", name="concerto").first.click()
    expect(page.get_by_role("heading", level=1, name="concerto")).to_be_visible()


def test_a_file_is_chosen_and_learned(page: Page, service: Service) -> None:
    open_text(page)
    expect(page.locator("code")).to_have_text(f"curl --fail-with-body -X POST -T corpus.txt {service.address}/v1/text")
    text = gzip.compress("accordion bassoon clarinet\n".encode() * 3)
    page.get_by_label("File to learn").set_input_files({"name": "music.txt.gz", "mimeType": "application/gzip", "buffer": text})
    expect(page.locator("#paste-hint")).to_contain_text("music.txt.gz")
    page.get_by_role("button", name="Learn this file").click()
    expect(page.locator(".steps")).to_contain_text("Learned")
    assert service.ask("/v1/words/bassoon")["count"] == 3


def test_a_file_can_be_dropped(page: Page, service: Service) -> None:
    open_text(page)
    data = page.evaluate_handle(
        """() => { const data = new DataTransfer(); data.items.add(new File(["trombone tuba trombone\\n"], "brass.txt")); return data; }"""
    )
    page.dispatch_event("form.paste", "drop", {"dataTransfer": data})
    page.get_by_role("button", name="Learn this file").click()
    expect(page.locator(".steps")).to_contain_text("Learned")
    assert service.ask("/v1/words/trombone")["count"] == 2


def test_text_is_sent_by_keyboard(page: Page) -> None:
    open_text(page)
    page.get_by_label("Text to learn").fill("one line only")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".steps")).to_contain_text(re.compile(r"Logged as line [\d,]+"))


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (429, {"retry-after": "7"}, "The queue of text waiting to be learned is full. Try again in 7 s."),
        (507, {}, "The disk of the service is full"),
        (413, {}, "The request is too large. The line has 9 bytes."),
        (403, {}, "Your token does not allow this."),
        (503, {}, "The service is busy or shutting down."),
    ],
)
def test_errors_are_explained(page: Page, status: int, headers: dict[str, str], message: str) -> None:
    open_text(page)
    error = {"error": {"code": "planted", "message": "the line has 9 bytes"}}
    page.route("**/v1/text", lambda route: route.fulfill(status=status, headers=headers, json=error))
    page.get_by_label("Text to learn").fill("some text")
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator("main .note.bad")).to_contain_text(message)
    # The text is still there, and can be sent again.
    expect(page.get_by_label("Text to learn")).to_have_value("some text")
    page.unroute("**/v1/text")
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator(".steps")).to_contain_text("Learned")


def test_a_line_that_the_service_rejects_is_named(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    page = open_page(fresh("--max-line-size", "64").address + "/#/text")
    page.get_by_label("Text to learn").fill("short\n" + "long " * 40)
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator("main .note.bad")).to_contain_text("64")


def test_text_whose_response_was_lost_is_learned_once(page: Page, service: Service) -> None:
    open_text(page)
    before = service.ask("/v1/stats")["logged"]

    def lose(route) -> None:
        route.fetch()
        route.abort()

    page.route("**/v1/text", lose)
    page.get_by_label("Text to learn").fill("marmalade")
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator("main .note.bad")).to_contain_text("Cannot reach the service")
    page.unroute("**/v1/text")
    page.get_by_role("button", name="Learn this text").click()
    expect(page.locator(".steps")).to_contain_text("Learned")
    assert service.ask("/v1/stats")["logged"] == before + 1
    assert service.ask("/v1/words/marmalade")["count"] == 1
