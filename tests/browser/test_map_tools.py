"""Tools on the map of a mission: measuring, and the place of the device."""

import pytest
from served_console import PHONE

SCREENS = pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
HERE = {"geolocation": {"latitude": 52.10005, "longitude": 5.1001, "accuracy": 3}}
PIXELS = "document.querySelector('canvas').toDataURL()"


@SCREENS
def test_lengths_and_areas_are_measured(open_page, walked, settings):
    """Two taps a known distance apart, and the area of the triangle that a third makes."""
    page = open_page(f"#/m/{walked}", **settings)
    page.locator("#status-word").wait_for()
    page.get_by_role("button", name="Measure lengths").click()
    page.locator(".measure", has_text="tap two or more").wait_for()
    ruler, length = page.locator(".ruler").bounding_box(), page.locator(".ruler-text").inner_text()
    metres = float(length.split()[0]) / ruler["width"]
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"]
    for across, down in ((0, 0), (0, 60), (80, 60)):
        page.mouse.click(x + across, y + down)
    words = page.locator(".measure output").inner_text().split(" · ")
    assert float(words[0].split()[0]) == pytest.approx(80 * metres, rel=0.03)
    assert words[0].endswith("090°")
    assert float(words[1].split()[0]) == pytest.approx(140 * metres, rel=0.03)
    assert float(words[2].split()[1]) == pytest.approx(2400 * metres**2, rel=0.06)
    page.get_by_role("button", name="Undo", exact=True).click()
    assert page.locator(".measure output").inner_text().endswith("180°")
    page.get_by_role("button", name="End measuring").click()
    assert page.locator(".measure").is_hidden()
    assert page.get_by_role("img", name="North is up").is_visible()


@SCREENS
def test_the_device_shows_its_place_until_it_is_switched_off(open_page, walked, settings):
    page = open_page(f"#/m/{walked}", permissions=["geolocation"], **HERE, **settings)
    page.locator("#status-word").wait_for()
    page.wait_for_timeout(600)
    before = page.evaluate(PIXELS)
    button = page.get_by_role("button", name="Show where I am")
    button.click()
    page.wait_for_timeout(600)
    assert button.get_attribute("aria-pressed") == "true"
    assert page.evaluate(PIXELS) != before
    button.click()
    page.wait_for_timeout(300)
    assert page.evaluate(PIXELS) == before


def test_a_refused_place_says_what_to_do(open_page, walked, real):
    """Without leave of the browser, and at a site that is nowhere on the globe."""
    for mission, words in ((walked, "position was refused: allow this page"), (real, "give its `origin`")):
        page = open_page(f"#/m/{mission}", permissions=[])
        page.locator("#status-word").wait_for()
        page.get_by_role("button", name="Show where I am").click()
        page.locator(".notice", has_text=words).wait_for()
        assert page.get_by_role("button", name="Show where I am").get_attribute("aria-pressed") == "false"
