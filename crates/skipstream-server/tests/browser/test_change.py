"""The timeline of a word, emerging words, movers, snapshots, watched words, analogies."""

from collections.abc import Callable

from planted import TOPICS
from playwright.sync_api import Page, expect
from service import Service


def test_the_timeline_has_each_snapshot_and_the_present(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/word/hammer")
    rows = page.locator(".timeline tbody tr")
    expect(rows.first).to_contain_text("Now")
    expect(rows.filter(has_text="first-part")).to_have_count(1)
    then = rows.filter(has_text="first-part").get_by_role("link").all_inner_texts()
    assert set(then[:5]) <= set(TOPICS["tools"])
    expect(page.get_by_role("img", name="Share of text")).to_be_visible()


def test_a_word_that_came_later_was_not_known_then(page: Page, service: Service) -> None:
    service.learn("fjord glacier tundra iceberg\n" * 40)
    page.goto(page.url.split("#")[0] + "#/word/fjord")
    expect(page.locator(".timeline tbody tr").filter(has_text="first-part")).to_contain_text("not in the vocabulary")


def test_words_that_emerged_since_a_snapshot_are_listed(page: Page, service: Service) -> None:
    service.learn("quasar pulsar nebula galaxy\n" * 60)
    page.goto(page.url.split("#")[0] + "#/change?since=first-part")
    emerging = page.get_by_role("table", name="Emerging words")
    expect(emerging.get_by_role("link", name="quasar")).to_be_visible()
    expect(emerging.locator("tr", has_text="quasar")).to_contain_text("new")
    expect(emerging.locator("tr", has_text="quasar")).to_contain_text("×")
    factors = [float(text.strip("×").replace(",", "")) for text in emerging.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert factors == sorted(factors, reverse=True)
    expect(page.get_by_label("Compare with")).to_have_value("first-part")
    with page.expect_response("**/v1/movers?since=24h*"):
        page.get_by_label("Compare with").select_option("24h")
    assert page.url.endswith("#/change?since=24h")


def test_a_snapshot_is_saved_and_deleted(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/change")
    page.get_by_label("Save a snapshot as").fill("by-hand")
    page.get_by_role("button", name="Save").click()
    row = page.locator("tr", has_text="by-hand")
    expect(row).to_be_visible()
    row.get_by_role("button").click()
    expect(row).to_contain_text("Confirm delete")
    row.get_by_role("button").click()
    expect(row).to_have_count(0)


def test_the_service_returns_to_a_snapshot(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    service = fresh()
    service.learn("tea with milk\n" * 40)
    page = open_page(service.address + "#/change")
    page.get_by_label("Save a snapshot as").fill("before")
    page.get_by_label("with its state, to return to it").check()
    page.get_by_role("button", name="Save").click()
    row = page.locator("tr", has_text="before")
    button = row.get_by_role("button", name="Return to the snapshot before")
    expect(button).to_be_visible()
    service.learn("spam spam spam\n" * 40)
    button.click()
    expect(button).to_have_text("Confirm return")
    expect(button).to_have_attribute("title", "Return to the snapshot before, and skip all text after line 40")
    with page.expect_response("**/v1/rollback") as answered:
        button.click()
    assert answered.value.json() == {"snapshot": "before", "learned": 40, "seq": 80}
    assert service.ask("/v1/stats")["vocabulary"] == 3


def test_a_word_is_watched_and_no_longer(page: Page, service: Service) -> None:
    page.goto(page.url.split("#")[0] + "#/word/lion")
    button = page.get_by_role("button", name="Watch")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert "lion" in service.ask("/v1/watch")["words"]
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert "lion" not in service.ask("/v1/watch")["words"]


def test_an_analogy_is_solved_and_can_be_shared(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/analogies")
    for label, word in [("Word", "cat"), ("is to", "dog"), ("as", "red")]:
        page.get_by_role("combobox", name=label, exact=True).fill(word)
    page.get_by_role("button", name="Solve").click()
    answers = page.get_by_role("table", name="cat is to dog as red is to").locator("tbody tr")
    expect(answers).to_have_count(10)
    assert answers.first.locator("td").first.inner_text() in TOPICS["colors"]
    page.reload()
    expect(answers).to_have_count(10)


def test_words_are_added_and_subtracted(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/analogies")
    page.get_by_label("Words joined by plus and minus").fill("dog - cat + red")
    page.get_by_role("button", name="Compute").click()
    expect(page.get_by_role("table", name="dog - cat + red").locator("tbody tr")).to_have_count(10)


def test_two_words_are_compared_and_one_does_not_belong(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/analogies")
    page.get_by_role("combobox", name="One word").fill("rome")
    page.get_by_role("combobox", name="Another word").fill("paris")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("between rome and paris")).to_be_visible()
    page.get_by_label("Three or more words").fill("rome paris hammer berlin")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("p", has_text="is the odd one out.")).to_contain_text("hammer")


def test_an_analogy_with_an_unknown_word_says_which(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/analogies?a=cat&b=dgo&c=red")
    expect(page.locator("main .note.bad")).to_contain_text("dgo")
