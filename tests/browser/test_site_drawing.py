"""A site is drawn on the page of a new mission: by mouse, finger and keys; form, map and text agree."""

import io
import math
import tomllib

import pytest
from PIL import Image
from served_console import PHONE, SITE, site_text

PLAN = io.BytesIO()
Image.new("RGB", (80, 40), (200, 30, 30)).save(PLAN, "PNG")
SCREENS = pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def board(open_page):
    """(settings) -> a page with the small site, and functions to tap and to read its file."""

    def opened(settings):
        page = open_page("#/new/real", **settings)
        page.locator(".verdict.good").wait_for()
        site_text(page).fill(SITE)
        page.locator(".verdict.good", has_text="Yard").wait_for()
        return Board(page)

    return opened


class Board:
    """The map of a page, in metres of the small site."""

    def __init__(self, page):
        self.page = page
        self.find()

    def find(self):
        """Where the map is on the screen now."""
        page = self.page
        page.locator(".board canvas").scroll_into_view_if_needed()
        box = page.locator(".board canvas").bounding_box()
        narrow = box["width"] < 620
        room = {"top": 26, "right": 56, "bottom": 14, "left": 52} if narrow else None
        room = room or {"top": 32, "right": 68, "bottom": 24, "left": 68}
        across = box["width"] - room["left"] - room["right"]
        down = box["height"] - room["top"] - room["bottom"]
        self.scale = min(across, down) / 20
        self.middle = (
            box["x"] + room["left"] + across / 2,
            box["y"] + room["top"] + down / 2,
        )

    def at(self, x, y):
        """Where a place [m] is on the screen."""
        return self.middle[0] + (x - 10) * self.scale, self.middle[1] - (y - 10) * self.scale

    def tap(self, *places):
        self.find()
        for place in places:
            if self.page.evaluate("matchMedia('(pointer: coarse)').matches"):
                self.page.touchscreen.tap(*self.at(*place))
            else:
                self.page.mouse.click(*self.at(*place))

    def drag(self, start, end):
        self.find()
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        for share in (0.3, 0.7, 1.0):
            place = [a + share * (b - a) for a, b in zip(start, end, strict=True)]
            self.page.mouse.move(*self.at(*place))
        self.page.mouse.up()

    def draw(self, mode, *places):
        self.page.click(f"[data-mode={mode}]")
        self.tap(*places)

    def file(self, holds):
        """The table of the site file as soon as something holds of it."""
        for _ in range(100):
            table = tomllib.loads(self.page.locator("[name=site]").input_value())
            if holds(table):
                return table
            self.page.wait_for_timeout(100)
        raise AssertionError(table)


def near(found, expected, reach=0.4):
    return len(found) == len(expected) and all(
        math.dist(a, b) < reach for a, b in zip(found, expected, strict=True)
    )


@SCREENS
def test_a_site_is_drawn_and_its_mission_started(board, console, settings):
    """Obstacle and fence by taps, a corner moved, a step taken back, a picture behind it."""
    drawn = board(settings)
    page, square = drawn.page, [(13, 8), (17, 8), (17, 12), (13, 12)]
    drawn.draw("obstacle", *square, square[0])
    found = drawn.file(lambda table: "obstacle" in table)["obstacle"][0]["corners"]
    assert near(found, square)
    drawn.drag((17, 12), (16, 16))
    moved = [*square[:2], (16, 16), square[3]]
    drawn.file(lambda table: near(table["obstacle"][0]["corners"], moved))
    page.get_by_role("button", name="Undo").first.click()
    drawn.file(lambda table: near(table["obstacle"][0]["corners"], square))
    fence = [(1, 1), (19, 1), (19, 19), (1, 19)]
    drawn.draw("geofence", *fence)
    page.click("text=Finish")
    drawn.file(lambda table: "geofence" in table)
    drawn.draw("start", (4, 4))
    drawn.file(lambda table: near([table["start"]["position"]], [(4, 4)]))
    page.set_input_files(
        "#picture-file", {"name": "plan.png", "mimeType": "image/png", "buffer": PLAN.getvalue()}
    )
    drawn.file(lambda table: table.get("map") == {"image": "plan.png", "corners": [[0.0, 0.0], [20.0, 10.0]]})
    assert page.locator(".verdict").get_attribute("class") == "verdict good"
    page.click("button[type=submit]")
    page.locator("h1", has_text="Yard").wait_for(state="attached")
    mission = console.get(f"/missions/{page.url.rsplit('/', 1)[1]}")
    assert mission["picture"] == {"corners": [[0.0, 10.0], [20.0, 10.0], [0.0, 0.0]]}
    assert near(mission["obstacles"][0], square)
    assert near(mission["geofence"][0], fence)
    assert near([mission["start"]], [(4, 4)])


def test_keys_draw_too(board):
    """Enter acts at the middle of the map; Shift and arrows move a corner, Delete deletes it."""
    drawn = board({})
    page = drawn.page
    page.click("[data-mode=obstacle]")
    page.locator(".board canvas").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press("Enter")
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    corners = drawn.file(lambda table: "obstacle" in table)["obstacle"][0]["corners"]
    assert len(corners) == 4
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowRight")
    moved = drawn.file(lambda table: table["obstacle"][0]["corners"] != corners)["obstacle"][0]["corners"]
    assert moved[3][0] > corners[3][0]
    page.keyboard.press("Delete")
    drawn.file(lambda table: len(table["obstacle"][0]["corners"]) == 3)
    page.keyboard.press("Control+z")
    drawn.file(lambda table: table["obstacle"][0]["corners"] == moved)


@SCREENS
def test_faults_stand_at_their_field_and_nothing_can_be_started(board, settings):
    page = board(settings).page
    field = page.locator("[name='budget.readings']")
    field.fill("-3")
    field.press("Tab")
    page.locator("[id='fault-budget.readings']", has_text="must be >= 1; got -3").wait_for()
    assert field.get_attribute("aria-invalid") == "true"
    assert page.locator("button[type=submit]").is_disabled()
    field.fill("25")
    field.press("Tab")
    page.locator(".verdict.good").wait_for()
    assert page.locator("[id='fault-budget.readings']").is_hidden()
    assert "25 readings" in page.locator(".facts").inner_text()


def test_the_start_waits_for_what_was_typed_last(board, console):
    """Enter in a field starts the mission with the number in it, however slow the server."""
    page = board({}).page
    held = []
    page.route("**/api/site/form", lambda route: held.append(route))
    page.locator("[name='budget.readings']").fill("25")
    page.locator("[name='budget.readings']").press("Enter")
    page.wait_for_timeout(300)
    assert page.url.endswith("#/new/real")
    held[0].continue_()
    page.wait_for_url("**/#/m/*")
    mission = console.get(f"/missions/{page.url.rsplit('/', 1)[1]}")
    assert mission["budget"]["readings"] == 25


def test_changes_that_wait_for_a_slow_server_stay(board):
    """An answer to an earlier change has none of the later ones."""
    drawn = board({})
    page, held = drawn.page, []
    page.route("**/api/site/form", lambda route: held.append(route))

    def change(key, value):
        page.locator(f"[name='{key}']").fill(value)
        page.locator(f"[name='{key}']").press("Tab")

    def let_go(number):
        for _ in range(100):
            if len(held) > number:
                break
            page.wait_for_timeout(100)
        with page.expect_response("**/api/site/form"):
            held[number].continue_()

    change("budget.readings", "25")
    change("budget.time", "900")
    let_go(0)
    change("step.speed", "3")
    let_go(1)
    let_go(2)
    table = drawn.file(lambda table: table.get("step", {}).get("speed") == 3.0)
    assert (table["budget"]["readings"], table["budget"]["time"]) == (25, 900.0)


def test_a_pasted_text_fills_form_and_map(board):
    drawn = board({})
    page = drawn.page
    site_text(page).fill(
        SITE.replace("readings = 40", "readings = 7  # mine").replace("[8.0, 2.0]", "[8.5, 2.5]")
    )
    page.locator(".facts", has_text="7 readings").wait_for()
    assert page.locator("[name='budget.readings']").input_value() == "7"
    drawn.tap((9.5, 3.5))
    page.locator(".board-words", has_text="No-go zone: 4 corners").wait_for()
    page.locator("[name=name]").first.fill("Ours")
    page.keyboard.press("Tab")
    drawn.file(lambda table: table["name"] == "Ours")
    assert "# mine" in page.locator("[name=site]").input_value()


def test_a_kind_has_its_own_fields_and_keeps_the_drawing(board):
    drawn = board({})
    page = drawn.page
    page.get_by_label("Kind", exact=True).select_option("radiation")
    page.locator(".verdict.good", has_text="radiation").wait_for(timeout=60_000)
    assert page.locator("[name='sensor.dwell']").is_visible()
    assert page.locator("[name='wind.mode']").count() == 0
    assert len(drawn.file(lambda table: "no_go" in table)["no_go"]) == 1


def test_a_wrong_picture_is_refused_in_words(board, allowed_errors):
    allowed_errors.append("status of 422")
    page = board({}).page
    page.set_input_files("#picture-file", {"name": "x.png", "mimeType": "image/png", "buffer": b"<svg/>"})
    page.locator(".notice", has_text="x.png is not a picture that can be read").wait_for()
