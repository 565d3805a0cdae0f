"""A console that was started again: the page says what it waits for, and goes on where the search was."""

import pytest
from served_console import PARTICLES, SITE, serve, site_text

pytestmark = pytest.mark.slow

WORDS = "Preparing: the filter is being compiled, and 3 readings are assimilated again."


def test_the_first_thing_one_does_after_a_restart_does_not_wait_in_silence(browser, tmp_path):
    """The page says that it prepares before the answer, and says so where a reading was sent, too."""
    with serve(tmp_path) as console:
        mission = console.post("/missions", {"type": "real", "site": SITE})["id"]
        console.ready(mission)
        for place in (2.0, 4.0, 6.0):
            console.post(f"/missions/{mission}/readings", {"position": [place, 2.0], "value": 1.5})
    with serve(tmp_path) as console:
        context = browser.new_context()
        page, faults = context.new_page(), []
        page.on("console", lambda said: said.type == "error" and faults.append(said.text))
        page.set_default_timeout(60_000)
        page.goto(f"{console.url}/#/m/{mission}")
        page.locator(".wait", has_text=WORDS).wait_for()
        assert page.locator("#status-word").inner_text() == "SEARCHING"
        page.fill("[name=value]", "2.5")
        page.locator("[name=value]").press("Enter")
        page.locator(".form-message.note", has_text=WORDS).wait_for()
        page.locator(".form-message.good", has_text="Reading 4 ").wait_for()
        page.locator(".wait").wait_for(state="hidden")
        context.close()
        assert faults == []


def test_a_slow_view_says_that_it_is_loading(open_page, real):
    page = open_page()
    held = []
    page.route(f"**/api/missions/{real}", lambda route: held.append(route))
    page.evaluate(f"location.hash = '#/m/{real}'")
    page.locator(".loading", has_text="Loading").wait_for()
    # The view says so before its request has come as far as here.
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    page.locator("#status-word", has_text="SEARCHING").wait_for()
    assert page.locator(".loading").count() == 0


def test_a_new_mission_says_that_it_prepares(open_page):
    """With another number of particles than all others, so that its filter has to be compiled."""
    page = open_page("#/new/real")
    page.locator(".verdict.good").wait_for()
    site_text(page).fill(SITE.replace(f"particles = {PARTICLES}", "particles = 96"))
    page.locator(".verdict.good", has_text="Yard").wait_for()
    page.click("button[type=submit]")
    page.locator(".wait", has_text="Preparing: the filter is being compiled.").wait_for()
    page.locator("#status-word", has_text="SEARCHING").wait_for(timeout=120_000)
    page.locator(".wait").wait_for(state="hidden")
