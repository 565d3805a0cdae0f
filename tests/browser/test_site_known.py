"""The form of a site takes what is known of source and sensor, and the area, in the units of the page."""

import tomllib

import pytest
from served_console import PHONE, site_text

playwright = pytest.importorskip("playwright.sync_api")
SCREENS = pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def form(open_page):
    """(settings) -> the page of a new mission in a gas plume, with its groups unfolded."""

    def opened(settings):
        page = open_page("#/new/real", **settings)
        page.locator(".verdict.good").wait_for()
        for group in ("prior", "background"):
            page.locator(f"#site-group-{group} summary").click()
        return page

    return opened


def type_in(page, key, text):
    page.locator(f"[name='{key}']").fill(text)
    page.locator(f"[name='{key}']").press("Tab")


def shown(page, key):
    return page.locator(f"[name='{key}']").input_value()


def file_of(page, holds):
    """The table of the site file as soon as something holds of it."""
    for _ in range(100):
        table = tomllib.loads(page.locator("[name=site]").input_value())
        if holds(table):
            return table
        page.wait_for_timeout(100)
    raise AssertionError(table)


@SCREENS
def test_what_is_known_of_the_source_is_typed(form, settings):
    """A range, one known number, and the usual distribution of the kind, which the page says."""
    page = form(settings)
    assert (shown(page, "prior.q.from"), shown(page, "prior.q.to")) == ("0.001", "10")
    type_in(page, "prior.q.to", "4")
    file_of(page, lambda table: table["prior"]["q"] == [0.001, 4])
    page.locator("[name='prior.height']").select_option("known")
    file_of(page, lambda table: table["prior"]["height"] == 0)
    type_in(page, "prior.height.from", "1,5")
    file_of(page, lambda table: table["prior"]["height"] == 1.5)
    page.locator("[name='prior.q']").select_option("usual")
    file_of(page, lambda table: table["prior"]["q"] == "unknown")
    assert page.locator(".distribution", has_text="0.001 to 1,000 g/s").is_visible()
    page.locator("[name='noise.floor']").select_option("range")
    type_in(page, "noise.floor.from", "0.01")
    type_in(page, "noise.floor.to", "0.1")
    file_of(page, lambda table: table["noise"]["floor"] == [0.01, 0.1])
    site_text(page).fill(
        page.locator("[name=site]").input_value().replace("height = 1.5\n# Pasq", "height = [0, 2]\n# Pasq")
    )
    playwright.expect(page.locator("[name='prior.height.to']")).to_have_value("2")
    assert shown(page, "prior.height") == "range"
    assert page.locator(".verdict.good").is_visible()


def test_what_is_wrong_opens_its_group_and_names_the_number(form):
    page = form({})
    page.locator("#site-group-prior summary").click()
    site_text(page).fill(page.locator("[name=site]").input_value().replace("q = [0.001, 10.0]", "q = -3"))
    fault = page.locator("[id='fault-prior.q']")
    fault.get_by_text("must be > 0; got -3.").wait_for()
    assert page.locator("[name='prior.q']").get_attribute("aria-invalid") == "true"
    page.locator("[name='prior.q']").select_option("range")
    type_in(page, "prior.q.to", "4")
    fault.get_by_text("must be > 0; got -3.").wait_for()
    type_in(page, "prior.q.from", "")
    fault.get_by_text("Give both ends.").wait_for()
    assert page.locator("button[type=submit]").is_disabled()
    type_in(page, "prior.q.from", "1")
    page.locator(".verdict.good").wait_for()


def test_numbers_are_typed_in_the_units_of_the_page(form):
    """And are metres and the unit of the site in the file; what was typed before stays."""
    page = form({})
    page.locator("summary", has_text="Units").click()
    # The server is slow: it answers once the units are chosen.
    page.route("**/api/site/form", lambda _: None)
    type_in(page, "budget.readings", "25")
    page.locator("[name='unit-length']").select_option("ft")
    page.locator("[name='unit-value']").select_option("ppb")
    page.unroute("**/api/site/form")
    page.locator("label", has_text="Height of the release above ground [ft]").wait_for()
    assert (shown(page, "prior.height.to"), shown(page, "background.range.to")) == ("9.84252", "2500")
    assert shown(page, "budget.readings") == "25"
    type_in(page, "prior.height.to", "5")
    table = file_of(page, lambda table: table["prior"]["height"][1] != 3)
    assert table["prior"]["height"] == [0, 1.524]
    type_in(page, "background.range.from", "1900")
    table = file_of(page, lambda table: table["background"]["range"][0] != 1.7)
    assert table["background"]["range"] == [1.9, 2.5]
    type_in(page, "budget.distance", "-100")
    page.locator("[id='fault-budget.distance']", has_text="must be > 0; got -100.").wait_for()


@SCREENS
def test_the_area_is_typed_and_drawn(form, settings):
    """Width, height and corner, both ways with the file and the map; all of it is seen."""
    page = form(settings)
    type_in(page, "area-width", "400")
    file_of(page, lambda table: table["area"]["high"] == [400.0, 150.0])
    type_in(page, "area-height", "250,5")
    file_of(page, lambda table: table["area"]["high"] == [400.0, 250.5])
    type_in(page, "area-corner", "-20, 10")
    table = file_of(page, lambda table: table["area"]["low"] == [-20.0, 10.0])
    assert table["area"]["high"] == [380.0, 260.5]
    page.locator(".verdict", has_text="400 × 251 m").wait_for()
    page.get_by_role("button", name="Undo").first.click()
    playwright.expect(page.locator("[name='area-corner']")).to_have_value("0, 0")
    page.click("[data-mode=area]")
    canvas = page.locator(".board canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for share in (0.3, 0.7):
        canvas.click(position={"x": share * box["width"], "y": share * box["height"]})
    file_of(page, lambda table: table["area"]["low"] != [0.0, 0.0])
    playwright.expect(page.locator("[name='area-width']")).not_to_have_value("400")
    site_text(page).fill(
        page.locator("[name=site]")
        .input_value()
        .replace("\nhigh = [", "\n# high = [")
        .replace("\nlow = [", "\nhigh = [90, 80]\nlow = [10, 20]  # [")
    )
    playwright.expect(page.locator("[name='area-width']")).to_have_value("80")
    assert (shown(page, "area-height"), shown(page, "area-corner")) == ("60", "10, 20")


def test_a_wrong_area_is_refused_at_its_field(form):
    """Nothing is changed or started then; feet are feet."""
    page = form({})
    for key, text, words in (
        ("area-width", "-5", "A number above 0."),
        ("area-corner", "12", "Two numbers, such as 0, 0."),
    ):
        type_in(page, key, text)
        page.locator(f"#fault-{key}", has_text=words).wait_for()
    page.click("button[type=submit]")
    page.locator(".form-message", has_text="West to east [m]: A number above 0.").wait_for()
    type_in(page, "area-corner", "0 0")
    page.locator("summary", has_text="Units").click()
    page.locator("[name='unit-length']").select_option("ft")
    page.locator("label", has_text="West to east [ft]").wait_for()
    type_in(page, "area-width", "500")
    file_of(page, lambda table: table["area"]["high"] == [152.4, 150.0])
    assert shown(page, "area-height") == "492.126"
