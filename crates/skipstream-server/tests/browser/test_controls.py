"""Words under control, in the settings."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from service import Service


def test_words_are_pinned_merged_and_forgotten(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh()
    service.learn("jdoe likes the colour of tea\n" * 40)
    page = open_page(service.address + "#/settings")
    part = page.locator("section", has=page.get_by_role("heading", name="Words under control"))
    expect(part).to_contain_text("None. Pinned words never leave the vocabulary")

    def control(action: str, word: str) -> None:
        part.get_by_label("Do").select_option(action)
        part.get_by_label("Word", exact=True).fill(word)
        part.get_by_role("button", name="Apply").click()

    control("pin", "cocoa")
    expect(part.get_by_role("status")).to_contain_text("Done: cocoa.")
    expect(part.get_by_role("link", name="cocoa")).to_be_visible()
    part.get_by_label("Do").select_option("merge")
    part.get_by_label("Into").fill("color")
    control("merge", "colour")
    expect(part.get_by_role("listitem").filter(has_text="colour → color")).to_be_visible()
    control("block", "cocoa")
    expect(part.get_by_role("status")).to_contain_text("`cocoa` is pinned")
    expect(part.get_by_label("Keep it out if it occurs again")).to_be_hidden()
    part.get_by_label("Do").select_option("forget")
    part.get_by_label("Keep it out if it occurs again").check()
    control("forget", "jdoe")
    expect(part.get_by_role("status")).to_contain_text("Done: jdoe had a count of 40 and left the vocabulary.")
    expect(part).to_contain_text("Forgotten and kept out: 1")
    service.learn("jdoe likes tea\n")
    lists = service.ask("/v1/controls")
    assert (lists["pinned"], lists["merged"], lists["kept_out"]) == (["cocoa"], {"colour": "color"}, 1)
