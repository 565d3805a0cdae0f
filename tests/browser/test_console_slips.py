"""What a person does about a slip: answer a question, correct or withdraw a reading; and alarms are seen."""

import re

import pytest
from served_console import PHONE, SITE, refused

pytestmark = pytest.mark.slow


def give(page, value) -> None:
    page.get_by_label("Reading [K]").fill(str(value))
    page.keyboard.press("Enter")


@pytest.fixture
def slipped(console) -> str:
    """A real mission with three readings, of which the second is a slip."""
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "slipped"})["id"]
    console.ready(mission)
    for place, value in ((2.0, 1.0), (4.0, 90.0), (6.0, 3.0)):
        console.post(f"/missions/{mission}/readings", {"position": [place, 2.0], "value": value})
    return mission


def look_at(page, number: int) -> None:
    """Go to a step by the slider."""
    page.locator("#replay").fill(str(number))
    page.locator("h2", has_text=f"Reading {number}").wait_for()


def told(page) -> str:
    """What the page says of the reading of this step."""
    return page.locator("section", has=page.locator("#correction-title")).inner_text()


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_reading_is_withdrawn(open_page, console, slipped, settings):
    """Of the step one looks at, with a reason; the page then shows the mission without it."""
    page = open_page(f"#/m/{slipped}", **settings)
    look_at(page, 2)
    assert "90.0 K at 4.00 m east" in told(page)
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_label("Reason (optional)").fill("sensor fell")
    page.get_by_role("button", name="Withdraw it").click()
    page.locator(".log", has_text="Reading 2 was withdrawn: sensor fell").wait_for()
    page.locator(".status-tag", has_text="2 readings").wait_for()
    now = console.get(f"/missions/{slipped}")
    assert (now["readings"], now["snapshots"]) == (2, 4)
    look_at(page, 2)
    assert "It was withdrawn" in told(page)
    assert page.get_by_role("button", name="Withdraw").is_disabled()


def test_a_reading_is_corrected(open_page, console, slipped, allowed_errors):
    """Only what is changed is sent; the dialog shows a refusal and stays open."""
    allowed_errors.append(refused(422))
    page = open_page(f"#/m/{slipped}")
    look_at(page, 2)
    page.get_by_role("button", name="Correct", exact=True).click()
    dialog = page.locator("dialog")
    assert dialog.get_by_label("Reading [K]").input_value() == "90"
    dialog.get_by_label("East [m]").fill("400")
    dialog.get_by_role("button", name="Correct it").click()
    dialog.locator(".form-message", has_text="outside the area").wait_for()
    dialog.get_by_label("East [m]").fill("5")
    dialog.get_by_label("Reading [K]").fill("2")
    dialog.get_by_role("button", name="Correct it").click()
    page.locator(".log", has_text="Reading 2 was corrected").wait_for()
    snapshot = console.get(f"/missions/{slipped}/snapshots/4")
    assert (snapshot["corrects"], snapshot["reading"]["value"]) == (2, 2.0)
    assert snapshot["reading"]["position"] == pytest.approx([5.0, 2.0])
    assert dialog.count() == 0


def test_escape_changes_nothing(open_page, console, slipped):
    page = open_page(f"#/m/{slipped}")
    page.get_by_role("button", name="Withdraw").click()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert console.get(f"/missions/{slipped}")["readings"] == 3


def test_an_odd_value_is_asked_about(open_page, console, real, allowed_errors):
    """Not taken in before the person says that it is right; said no, the value can be changed."""
    allowed_errors.append(refused(422))
    page = open_page(f"#/m/{real}")
    give(page, 1.5)
    page.locator(".form-message.good", has_text="Reading 1 ").wait_for()
    give(page, 8_000_000)
    dialog = page.locator("dialog", has_text="Is this right?")
    dialog.wait_for()
    words = dialog.inner_text()
    assert "times the largest reading so far" in words
    assert "confirm" not in words
    dialog.get_by_role("button", name="Change it").click()
    dialog.wait_for(state="detached")
    assert console.get(f"/missions/{real}")["readings"] == 1
    assert page.get_by_label("Reading [K]").input_value() == "8000000"
    give(page, 2.5)
    page.locator(".form-message.good", has_text="Reading 2 ").wait_for()
    give(page, 9_000_000)
    page.get_by_role("button", name="It is right").click()
    page.locator(".form-message", has_text=re.compile("Reading 3 |No source that the site allows")).wait_for()


def test_an_alarm_is_seen_on_the_page_and_in_the_list(open_page, console):
    feed = {"url": "mqtt://127.0.0.1:1"}
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "fed", "mqtt": feed})["id"]
    console.ready(mission)
    page = open_page(f"#/m/{mission}")
    page.get_by_role("alert").filter(has_text="No connection to 127.0.0.1:1").wait_for()
    page.goto(f"{console.url}/#/")
    page.locator("li", has_text="fed").locator(".chip", has_text="ALARM").wait_for()
