"""What a person does with a simulated search: start it, watch it, hold it, look back, take it away."""

import math
import re

import pytest
from served_console import PARTICLES, PHONE, wait_until

pytestmark = pytest.mark.slow

OVER = re.compile("^(FOUND|INCONCLUSIVE)$")


def begin(page, seed: int, speed: float = 50.0) -> str:
    """Fill in the form of a simulated search and start it: the mission's id."""
    page.click("text=Watch a simulated search")
    page.get_by_label("Field").select_option("temperature")
    page.get_by_label("Policy").select_option("greedy")
    page.get_by_label("Seed").fill(str(seed))
    page.get_by_label("Readings per second").fill(str(speed))
    page.click("text=More about the filter")
    page.get_by_label("Particles").fill(str(PARTICLES))
    page.click("text=Start the search")
    page.wait_for_selector("#status-word")
    return page.url.rsplit("/", 1)[1]


def shows(page, number: int | str, timeout: float = 30_000) -> None:
    """Wait until this is the reading that is shown: a page draws when it gets round to it."""
    page.locator(".replay-where", has_text=re.compile(rf"^\s*{number} /")).wait_for(timeout=timeout)


def reach(page, count: int) -> None:
    """Wait until the page knows so many readings."""
    page.wait_for_selector(f'#replay[max="{count}"]')


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_simulated_search_is_watched_to_its_end(open_page, console, settings):
    """The page ends with the status, the count and the distance from the truth that the server has."""
    page = open_page(**settings)
    mission = begin(page, seed=4)
    page.locator("#status-word", has_text=OVER).wait_for(timeout=120_000)
    known = console.get(f"/missions/{mission}")
    assert page.locator("#status-word").inner_text() == known["status"].upper()
    reach(page, known["snapshots"])
    shows(page, known["readings"])
    page.click("text=Reveal the truth")
    page.locator("th", has_text="truth").wait_for()
    truth = console.get(f"/missions/{mission}")["truth"]["position"]
    miss = math.dist(truth, known["latest"]["estimate"]["mean"][:2])
    told = re.search(r"It was ([\d.]+) m away", page.locator(".place-line").inner_text())
    # Two figures are shown.
    assert float(told[1]) == pytest.approx(miss, rel=0.051)


def test_a_search_is_held_and_stepped(open_page, console):
    """While it is paused nothing is read; a step is one reading."""
    page = open_page()
    # So slow that a page which draws late still holds the search long before its end.
    mission = begin(page, seed=9, speed=0.5)
    shows(page, r"\d+", timeout=120_000)
    page.click("button:has-text('Pause')")
    page.wait_for_selector("button:has-text('Run')")
    wait_until(lambda: not console.get(f"/missions/{mission}")["running"], 10)
    held = console.get(f"/missions/{mission}")["readings"]
    reach(page, held)
    page.click("text=Step")
    reach(page, held + 1)
    assert console.get(f"/missions/{mission}")["readings"] == held + 1


def test_replay_shows_what_was_known_then(open_page, console, searched):
    """At any reading, the side shows that reading's snapshot; the newest is one key away."""
    page = open_page(f"#/m/{searched}")
    snapshots = console.get(f"/missions/{searched}/snapshots?first=1&last=1000")
    slider = page.locator("#replay")
    slider.focus()
    for number, key in ((1, "Home"), (2, "ArrowRight"), (len(snapshots), "End")):
        page.keyboard.press(key)
        page.locator(".replay-where", has_text=f"{number} / {len(snapshots)}").wait_for()
        then = snapshots[number - 1]
        page.locator(".why", has_text=then["why"]).wait_for()
        page.locator("#status-word", has_text=then["status"].upper()).wait_for()
    slider.fill("1")
    page.click("text=Newest")
    shows(page, len(snapshots))


def test_replay_plays_to_the_end(open_page, console, searched):
    """Played again from the first reading, it comes to rest at the newest."""
    page = open_page(f"#/m/{searched}")
    count = console.get(f"/missions/{searched}")["snapshots"]
    page.locator("#replay").fill(str(max(count - 4, 1)))
    page.click("[aria-label='Play the search again']")
    page.locator(".replay-where", has_text=f"{count} / {count}").wait_for()
    page.wait_for_selector("[aria-label='Play the search again']")


def test_a_click_on_a_chart_shows_that_reading(open_page, searched):
    page = open_page(f"#/m/{searched}")
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    plot.click(position={"x": 1, "y": 30})
    shows(page, 1)


def test_an_export_that_needs_degrees_is_not_offered_without_them(open_page, searched):
    page = open_page(f"#/m/{searched}")
    offered = page.locator("section:has(#export-title) button").all_inner_texts()
    assert offered == ["Report", "GeoJSON", "CSV"]


def test_a_view_that_was_left_does_not_come_after_all(open_page):
    """A form that waits for the server is left for another page: that one stays when the answer comes."""
    page = open_page()
    held = []
    page.route("**/api/choices", lambda route: held.append(route))
    page.click("text=Watch a simulated search")
    wait_until(lambda: page.wait_for_timeout(50) or held, 10)
    page.evaluate("location.hash = '#/new'")
    page.locator("h1", has_text="New mission").wait_for()
    with page.expect_response("**/api/choices"):
        held[0].continue_()
    page.wait_for_timeout(500)
    assert page.locator("h1").all_inner_texts() == ["New mission"]
    assert page.title() == "New mission, dowsax"
