"""The page follows the service without a reload."""

import re
from collections.abc import Callable

from planted import TOPICS, sentences
from playwright.sync_api import Page, expect
from service import Service

PROSE = "The Dog, however, barked; my dog didn't. So it goes!\n" * 20


def test_a_newcomer_sees_how_to_begin_and_then_words_appear(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh()
    page = open_page(service.address)
    expect(page.get_by_role("heading", level=1, name="Ready to learn")).to_be_visible()
    expect(page.locator("code").first).to_have_text("skipstream serve --data my-text --text prose")
    expect(page.locator("ol code").first).to_have_text(f"curl --fail-with-body -X POST -T corpus.txt {service.address}/v1/text")
    service.learn(sentences(500, seed=3))
    expect(page.get_by_role("heading", name="New words")).to_be_visible()
    expect(page.locator(".stream").get_by_role("link", name="berlin", exact=True)).to_be_visible()
    expect(figure(page, "Vocabulary")).to_contain_text(str(sum(map(len, TOPICS.values()))))
    expect(figure(page, "Lines learned")).to_contain_text("500")


def test_prose_that_is_split_at_spaces_is_pointed_out(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh()
    page = open_page(service.address)
    service.learn(PROSE)
    expect(page.get_by_text("Warning: the text looks like prose")).to_be_visible()


def test_prose_that_is_learned_as_prose_is_not(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh("--text", "prose")
    page = open_page(service.address)
    expect(page.get_by_role("heading", level=1, name="Ready to learn")).to_be_visible()
    expect(page.get_by_role("heading", name="Is it prose?")).to_have_count(0)
    service.learn(PROSE)
    expect(page.get_by_role("heading", name="New words")).to_be_visible()
    expect(page.get_by_text("looks like prose")).to_have_count(0)


def test_new_words_appear_and_lead_to_their_cards(page: Page, service: Service) -> None:
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    service.learn("zeppelin balloon airship glider zeppelin balloon airship glider\n" * 30)
    chip = page.locator(".stream").get_by_role("link", name="zeppelin", exact=True)
    expect(chip).to_be_visible()
    chip.click()
    expect(page.get_by_role("heading", level=1, name="zeppelin")).to_be_visible()


def test_the_card_of_a_word_follows_what_is_learned(page: Page, service: Service) -> None:
    page.goto(page.url.split("#")[0] + "#/word/goat")
    seen = page.locator(".facts div").first
    expect(seen).to_contain_text("Occurrences since admitted")
    before = seen.inner_text()
    # The view is updated after publications, but not after each of them.
    for seed in range(10, 14):
        service.learn(sentences(50, seed) + "goat sheep goat sheep\n")
        page.wait_for_timeout(1500)
    expect(seen).not_to_have_text(before)


def test_an_unknown_word_shows_up_once_it_is_learned(page: Page, service: Service) -> None:
    page.goto(page.url.split("#")[0] + "#/word/comet")
    expect(page.get_by_role("heading", level=1)).to_contain_text("is not in the vocabulary")
    for _ in range(4):
        service.learn("comet asteroid meteor planet comet asteroid\n" * 20)
        page.wait_for_timeout(1500)
    expect(page.get_by_role("heading", level=1, name="comet", exact=True)).to_be_visible()
    expect(page.get_by_role("table", name="Words nearest to comet")).to_be_visible()


def test_the_loss_is_drawn_and_said(page: Page) -> None:
    expect(page.locator(".over-time svg")).to_have_attribute("aria-label", re.compile(r"Loss went from [\d.]+ to [\d.]+ since .*"))


def test_memory_disk_requests_and_checkpoints_are_shown_and_drawn(page: Page) -> None:
    expect(figure(page, "Memory")).to_contain_text(re.compile(r"of at most [\d.]+ [MG]B"))
    expect(figure(page, "Requests")).to_contain_text("/s")
    expect(figure(page, "Disk")).to_contain_text("free")
    expect(figure(page, "Checkpoint")).to_contain_text(re.compile(r"ago|now|–"))
    for name in ["Speed", "Vocabulary", "Memory", "Requests"]:
        page.get_by_role("radio", name=name).check(force=True)
        expect(page.locator(".over-time svg")).to_have_attribute("aria-label", re.compile(f"{name} went from"))
    page.get_by_role("radio", name="Vocabulary").check(force=True)
    expect(page.get_by_text("a new word takes the place of one that has become too rare")).to_be_visible()


def figure(page: Page, label: str):
    return page.locator(".figures > div", has_text=label)
