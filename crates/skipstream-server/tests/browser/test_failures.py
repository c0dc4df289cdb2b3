"""A service that stops, restarts, or requires a token."""

from collections.abc import Callable
from pathlib import Path

from planted import sentences
from playwright.sync_api import Page, expect
from service import Service

TOKEN = "a-token-for-tests-0123456789"


def test_the_page_reconnects_after_the_service_was_killed(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh()
    service.learn(sentences(200, seed=4))
    page = open_page(service.address)
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    service.kill()
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("Connection lost. Reconnecting…")
    page.get_by_role("combobox", name="Search for a word").fill("berlin")
    page.keyboard.press("Enter")
    expect(page.locator("main .note.bad")).to_contain_text("Cannot reach the service")
    service.start()
    # The page recovers by itself: the banner disappears, and the word is shown.
    expect(banner).to_be_hidden()
    expect(page.get_by_role("table", name="Words nearest to berlin")).to_be_visible()
    service.learn("kayak paddle canoe river\n" * 20)
    page.get_by_role("link", name="Now").click()
    expect(page.locator(".stream").get_by_role("link", name="kayak")).to_be_visible()


def test_a_token_is_asked_for_kept_for_the_tab_and_forgotten(fresh: Callable[..., Service], open_page: Callable[..., Page], tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"admin {TOKEN}\n")
    tokens.chmod(0o600)
    service = fresh("--tokens", str(tokens), token=TOKEN)
    service.learn(sentences(200, seed=5))
    page = open_page(service.address)
    dialog = page.get_by_role("dialog", name="Token required")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Token").fill("a-wrong-token-0123456789")
    dialog.get_by_role("button", name="Use token").click()
    expect(dialog).to_contain_text("was not accepted")
    dialog.get_by_label("Token").fill(TOKEN)
    dialog.get_by_role("button", name="Use token").click()
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    expect(page.locator(".figures")).to_be_visible()
    page.reload()
    expect(page.locator(".figures")).to_be_visible()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Forget token").click()
    expect(dialog).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_problem_of_the_service_is_shown(page: Page) -> None:
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    page.evaluate(
        """async () => {
            const { live } = await import("/page/scripts/live.js");
            live.stats = { ...live.stats, problem: "the disk is full" };
            live.dispatchEvent(new CustomEvent("state"));
        }"""
    )
    expect(page.get_by_role("alert")).to_contain_text("the disk is full")
