"""Search, completion, and the view of a word."""

from collections.abc import Callable

from planted import TOPICS, sentences
from playwright.sync_api import Page, expect
from service import Service


def search(page: Page):
    return page.get_by_role("combobox", name="Search for a word")


def options(page: Page):
    return page.get_by_role("listbox", name="Suggestions for Search for a word").get_by_role("option")


def test_a_word_is_found_with_neighbors_of_its_topic(page: Page) -> None:
    search(page).fill("berlin")
    search(page).press("Enter")
    expect(page.get_by_role("heading", level=1, name="berlin")).to_be_visible()
    expect(page).to_have_title("berlin · skipstream")
    rows = page.get_by_role("table", name="Words nearest to berlin").locator("tbody tr")
    expect(rows).to_have_count(10)
    nearest = [rows.nth(index).locator("td").first.inner_text() for index in range(5)]
    assert set(nearest) <= set(TOPICS["cities"])
    expect(page.locator(".facts")).to_contain_text("First seen")
    expect(page.locator(".facts")).to_contain_text("Occurrences since admitted")


def test_completion_by_mouse(page: Page) -> None:
    search(page).press_sequentially("scr")
    expect(options(page)).to_have_count(1)
    options(page).first.click()
    expect(page.get_by_role("heading", level=1, name="screwdriver")).to_be_visible()
    expect(options(page)).to_have_count(0)


def test_completion_by_keyboard(page: Page) -> None:
    page.keyboard.press("/")
    expect(search(page)).to_be_focused()
    page.keyboard.type("d")
    expect(options(page)).to_have_count(4)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = options(page).nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    assert search(page).get_attribute("aria-activedescendant") == second.get_attribute("id")
    word = second.locator("span").first.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=word)).to_be_visible()


def test_escape_closes_the_list_and_then_empties_the_box(page: Page) -> None:
    search(page).press_sequentially("d")
    expect(options(page)).to_have_count(4)
    page.keyboard.press("Escape")
    expect(options(page)).to_have_count(0)
    expect(search(page)).to_have_value("d")
    page.keyboard.press("Escape")
    expect(search(page)).to_have_value("")


def test_a_late_response_is_not_shown(page: Page) -> None:
    held = []
    page.route("**/v1/words?prefix=c&*", lambda route: held.append(route))
    with page.expect_request("**/v1/words?prefix=c&*"):
        search(page).press_sequentially("c")
    search(page).fill("ch")
    expect(options(page)).to_have_count(1)
    # The page has cancelled the first request; its response may arrive or not.
    held[0].fulfill(json={"words": [{"word": "cat", "count": 1}, {"word": "crimson", "count": 1}]})
    search(page).press("ArrowDown")
    expect(options(page)).to_have_count(1)
    expect(options(page)).to_contain_text(["chisel"])


def test_capital_letters_find_what_the_model_knows_in_small_ones(page: Page) -> None:
    search(page).press_sequentially("BERL")
    expect(options(page)).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="berlin")).to_be_visible()


def test_an_unknown_word_gets_suggestions(page: Page) -> None:
    search(page).fill("berlni")
    search(page).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("is not in the vocabulary")
    page.locator("main").get_by_role("link", name="berlin", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="berlin")).to_be_visible()


def test_an_unknown_word_has_neighbors_by_its_spelling(
    fresh: Callable[..., Service], open_page: Callable[..., Page]
) -> None:
    service = fresh("--subword-buckets", "20000")
    service.learn(sentences(2000, seed=1))
    page = open_page(service.address)

    def is_estimated() -> bool:
        page.goto(service.address + "/#/word/berliner")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("is not in the vocabulary")
        return page.get_by_role("table", name="Words nearest to the estimate of berliner").count() == 1

    service.wait_until(is_estimated)
    expect(page.get_by_text("estimated from its spelling")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("link")).to_have_count(10)
    page.get_by_role("table").get_by_role("link").first.click()
    expect(page.get_by_role("button", name="Watch")).to_be_visible()


def test_a_neighbor_is_a_link_and_back_returns(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/word/cat")
    link = page.get_by_role("table", name="Words nearest to cat").get_by_role("link").first
    other = link.inner_text()
    link.click()
    expect(page.get_by_role("heading", level=1, name=other)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="cat")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", level=1, name=other)).to_be_visible()


def test_a_word_that_looks_like_markup_stays_a_word(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/word/" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0


def test_more_neighbors_are_shown_on_request(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/word/wolf")
    page.get_by_label("Number of neighbors").select_option("25")
    expect(page.get_by_role("table", name="Words nearest to wolf").locator("tbody tr")).to_have_count(25)
