"""The map: click, pan, zoom, keyboard, and the list of its words."""

import re
from collections.abc import Callable

from planted import TOPICS, sentences
from playwright.sync_api import Locator, Page, expect
from service import Service


def open_map(page: Page, address: str = "#/map") -> Locator:
    # Words must not move between measuring and clicking.
    page.emulate_media(reduced_motion="reduce")
    page.goto(page.url.split("#")[0] + address)
    canvas = page.get_by_role("application")
    common = page.get_by_label("Include the commonest words")
    expect(page.get_by_label("Update live")).to_be_visible()
    if common.is_visible():
        common.check()
    page.get_by_label("Update live").uncheck()
    expect(canvas).to_have_attribute("aria-busy", "false", timeout=20_000)
    assert place(canvas, "berlin")
    return canvas


def place(canvas: Locator, word: str) -> dict[str, float]:
    return canvas.evaluate("(canvas, word) => canvas.whereIs(word)", word)


def test_a_click_on_a_word_opens_it(page: Page) -> None:
    canvas = open_map(page)
    canvas.click(position=place(canvas, "berlin"))
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Map")
    # Words of a topic are close together, so the click may hit a neighbor.
    assert page.get_by_role("heading", level=1).inner_text() in TOPICS["cities"]


def test_a_word_under_the_pointer_can_be_clicked_after_zooming_in(page: Page) -> None:
    canvas = open_map(page)
    before = place(canvas, "horse")
    canvas.hover(position=before)
    for _ in range(3):
        page.mouse.wheel(0, -400)
    page.wait_for_function("word => document.querySelector('canvas').whereIs('horse')")
    after = place(canvas, "horse")
    # The pointer is on a whole pixel, and the rounding error grows with the zoom.
    assert abs(after["x"] - before["x"]) < 20 and abs(after["y"] - before["y"]) < 20
    canvas.click(position=after)
    expect(page.get_by_role("heading", level=1, name="horse")).to_be_visible()


def test_dragging_moves_the_map_and_opens_nothing(page: Page) -> None:
    canvas = open_map(page)
    before = place(canvas, "berlin")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + before["x"], box["y"] + before["y"])
    page.mouse.down()
    page.mouse.move(box["x"] + before["x"] + 80, box["y"] + before["y"] + 30, steps=4)
    page.mouse.up()
    after = place(canvas, "berlin")
    assert abs(after["x"] - before["x"] - 80) < 1 and abs(after["y"] - before["y"] - 30) < 1
    expect(page.get_by_role("heading", level=1)).to_contain_text("Map")


def test_keys_move_zoom_and_open(page: Page) -> None:
    canvas = open_map(page)
    canvas.focus()
    before = place(canvas, "berlin")
    page.keyboard.press("ArrowLeft")
    assert place(canvas, "berlin")["x"] > before["x"] + 30
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    assert place(canvas, "berlin") != before
    page.keyboard.press("0")
    assert abs(place(canvas, "berlin")["x"] - before["x"]) < 1
    page.keyboard.press("ArrowDown")
    aimed = page.locator("#announcer")
    expect(aimed).not_to_be_empty()
    word = aimed.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=word)).to_be_visible()


def test_topics_are_apart(fresh: Callable[..., Service], open_page: Callable[..., Page]) -> None:
    # Three groups span a plane; with more than three, two may overlap in it.
    topics = {topic: TOPICS[topic] for topic in ["animals", "cities", "colors"]}
    service = fresh()
    service.learn(sentences(4000, seed=6, topics=topics))
    canvas = open_map(open_page(service.address))
    middle = {topic: center([place(canvas, word) for word in words]) for topic, words in topics.items()}
    for topic, words in topics.items():
        for word in words:
            distances = {other: distance(place(canvas, word), at) for other, at in middle.items()}
            assert min(distances, key=distances.__getitem__) == topic, word


def test_the_words_around_one_by_both_methods(page: Page) -> None:
    canvas = open_map(page, "#/map/berlin")
    expect(page.get_by_role("heading", level=1, name="Map around berlin")).to_be_visible()
    with page.expect_response("**/v1/map?*method=pca*") as answer:
        page.get_by_label("PCA").check()
    assert answer.value.ok
    expect(canvas).to_have_attribute("aria-label", re.compile(r"Map of \d+ words around berlin\. Arrow keys pan"))
    assert page.url.endswith("#/map/berlin?method=pca")


def test_the_commonest_words_are_left_out_unless_they_are_asked_for(page: Page) -> None:
    with page.expect_response("**/v1/map?*") as answer:
        page.goto(page.url.split("#")[0] + "#/map")
    asked = answer.value.json()
    assert (asked["method"], asked["skip"] > 0) == ("tsne", True)
    with page.expect_response("**/v1/map?*skip=0*") as answer:
        page.get_by_label("Include the commonest words").check()
    assert len(answer.value.json()["points"]) == len(asked["points"]) + asked["skip"]


def test_the_neighbors_of_a_word_under_the_pointer_are_highlighted(page: Page) -> None:
    canvas = open_map(page)
    with page.expect_response("**/v1/words/*/neighbors?*") as answer:
        canvas.hover(position=place(canvas, "berlin"))
    near = [one["word"] for one in answer.value.json()["neighbors"]]
    page.wait_for_function("near => document.querySelector('canvas').highlighted().includes(near)", arg=near[0])
    # The same for the word that the keyboard aims at.
    canvas.focus()
    with page.expect_response("**/v1/words/*/neighbors?*"):
        page.keyboard.press("ArrowDown")


def test_words_in_a_lasso_are_listed(page: Page) -> None:
    canvas = open_map(page)
    page.get_by_role("button", name="Select", exact=True).click()
    box = canvas.bounding_box()
    assert box is not None
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2)]
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
    page.mouse.up()
    expect(page.locator("details summary")).to_have_text(re.compile(r"\d+ selected words"))
    expect(page.locator("details").get_by_role("link", name="berlin", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Map")


def test_the_words_are_also_a_list(page: Page) -> None:
    open_map(page)
    page.get_by_text("List of these words").click()
    page.locator("details").get_by_role("link", name="donkey").click()
    expect(page.get_by_role("heading", level=1, name="donkey")).to_be_visible()


def center(places: list[dict[str, float]]) -> dict[str, float]:
    return {axis: sum(one[axis] for one in places) / len(places) for axis in ("x", "y")}


def distance(one: dict[str, float], other: dict[str, float]) -> float:
    return ((one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2) ** 0.5
