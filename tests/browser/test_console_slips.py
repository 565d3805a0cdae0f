"""What a person does about a slip: answer a question; and alarms are seen."""

import re

import pytest
from served_console import SITE, refused

pytestmark = pytest.mark.slow


def give(page, value) -> None:
    page.get_by_label("Reading [K]").fill(str(value))
    page.keyboard.press("Enter")


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
