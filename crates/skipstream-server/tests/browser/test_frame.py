"""What all views share: addresses, themes, narrow screens, keyboard, accessibility."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from service import Service

VIEWS = ["#/", "#/word/berlin", "#/word/no-such-word", "#/map", "#/map/berlin", "#/analogies?a=cat&b=dog&c=red", "#/change", "#/text", "#/settings", "#/no-such-view"]


def settled(page: Page) -> None:
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    page.wait_for_load_state("load")
    expect(page.locator("main h1").first).to_be_attached()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(service: Service, open_page: Callable[..., Page], view: str, scheme: str) -> None:
    page = open_page(f"{service.address}/{view}", color_scheme=scheme, reduced_motion="reduce")
    settled(page)
    page.wait_for_timeout(300)
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [360, 390])
def test_nothing_scrolls_sideways_on_a_phone(service: Service, open_page: Callable[..., Page], view: str, width: int) -> None:
    page = open_page(f"{service.address}/{view}", viewport={"width": width, "height": 740}, has_touch=True)
    settled(page)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Content that is cut off at the edge does not widen the page, so positions are checked as well.
    outside = page.evaluate(
        """width => [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility() && !element.closest(".unseen, .skip, svg"))
            .filter((element) => element.getBoundingClientRect().right > width + 1).map((element) => element.outerHTML.slice(0, 80))""",
        width,
    )
    assert outside == []


def test_the_theme_follows_the_system_and_then_the_button(service: Service, open_page: Callable[..., Page]) -> None:
    page = open_page(service.address, color_scheme="dark")
    settled(page)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Theme: automatic. Change to light.").click()
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == light
    page.get_by_role("button", name="Theme: light. Change to dark.").click()
    assert page.evaluate(background) == dark


def test_every_view_has_an_address_and_back_works(page: Page) -> None:
    settled(page)
    for name, title in [("Map", "Map"), ("Analogies", "Analogies"), ("Changes", "Changes"), ("Add text", "Add text"), ("Settings", "Settings")]:
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page).to_have_title(f"{title} · skipstream")
        expect(page.get_by_role("navigation").get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    page.go_back()
    expect(page).to_have_title("Add text · skipstream")
    page.go_back()
    expect(page).to_have_title("Changes · skipstream")


def test_an_address_without_a_view_says_so(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/no-such-view")
    expect(page.get_by_role("heading", level=1, name="No such page")).to_be_visible()
    expect(page).to_have_title("No such page · skipstream")
    page.get_by_role("link", name="Go to the start page").click()
    expect(page.get_by_role("heading", name="New words")).to_be_visible()


@pytest.mark.parametrize("view", VIEWS)
def test_links_are_large_enough_for_a_finger(service: Service, open_page: Callable[..., Page], view: str) -> None:
    page = open_page(f"{service.address}/{view}")
    settled(page)
    page.wait_for_timeout(300)
    low = page.evaluate(
        """() => [...document.querySelectorAll("a, button")].filter((one) => one.checkVisibility() && !one.closest(".unseen, .skip"))
            .filter((one) => one.getBoundingClientRect().height < 23.9).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert low == []


def test_the_settings_are_shown_and_what_differs_stands_out(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/settings")
    model = page.get_by_role("table", name="Settings of the model")
    expect(model.locator("tr.changed", has_text="dimensions")).to_contain_text("24")
    expect(page.get_by_role("table", name="Settings of the service")).to_contain_text("publish_every")


def test_a_word_with_any_letters_has_an_address(page: Page, service: Service) -> None:
    words = ["東京", "القاهرة", "a/b?c#d%25", "größe"]
    service.learn((" ".join(words) + "\n") * 30)
    for word in words:
        page.goto(service.address + "/#/word/" + page.evaluate("word => encodeURIComponent(word)", word))
        expect(page.get_by_role("heading", level=1, name=word, exact=True)).to_be_visible()
        expect(page.locator(".facts")).to_contain_text("Occurrences since admitted")


def test_all_can_be_reached_and_seen_by_keyboard(page: Page) -> None:
    page.goto(page.url.split("#")[0] + "#/word/berlin")
    expect(page.get_by_role("table", name="Words nearest to berlin")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or reached[-1] == "" or page.evaluate("document.activeElement === document.body"), reached[-1]
    for name in ["Skip to content", "skipstream home", "Search for a word", "Map", "Watch", "Number of neighbors", "Zoom in"]:
        assert any(name in one for one in reached), (name, reached)
    assert any(one.startswith("Map of") for one in reached)


def test_after_a_change_of_view_the_focus_is_in_it(page: Page) -> None:
    settled(page)
    page.get_by_role("navigation").get_by_role("link", name="Changes").press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Compare with")).to_be_focused()


def test_the_documentation_has_every_route_and_can_be_tried(service: Service, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{service.address}/docs")
    paths = service.ask("/openapi.json")["paths"]
    routes = page.locator(".route")
    expect(routes).to_have_count(sum(len([name for name in item if name in ("get", "post", "put", "delete")]) for item in paths.values()))
    route = page.locator("#get-v1-words-word-neighbors, #get-v1-words-w-neighbors")
    route.locator("summary").click()
    route.locator("input").first.fill("berlin")
    route.get_by_role("button", name="Send").click()
    expect(route.locator("pre")).to_contain_text('"neighbors"')
    expect(route.get_by_role("status")).to_contain_text(re.compile(r"200 in \d+ ms"))
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_the_documentation_fits_on_a_phone(service: Service, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{service.address}/docs", viewport={"width": 360, "height": 740})
    expect(page.locator(".route").first).to_be_visible()
    for route in page.locator(".route summary").all():
        route.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
