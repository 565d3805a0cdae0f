"""What a crew does with readings: look when and how each was taken, correct it, leave it out, undo that."""

import time
from datetime import UTC, datetime

import pytest
from mocked_mission import change_answers
from served_console import PHONE, SITE, refused

HOUR = 3600.0


@pytest.fixture(scope="module")
def timed(console) -> str:
    """A real mission with readings of an hour ago, a minute apart; the last was taken before the others."""
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "timed"})["id"]
    console.ready(mission)
    began = time.time() - HOUR
    for number, minute in enumerate((1, 2, 3, 0)):
        body = {"position": [2.0 + number, 2.0], "value": 1.0 + number, "time": began + 60 * minute}
        console.post(f"/missions/{mission}/readings", body)
    return mission


@pytest.fixture
def slipped(console) -> str:
    """A real mission with three readings, of which the second is a slip."""
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "slipped"})["id"]
    console.ready(mission)
    for place, value in ((2.0, 1.0), (4.0, 90.0), (6.0, 3.0)):
        console.post(f"/missions/{mission}/readings", {"position": [place, 2.0], "value": value})
    return mission


def row(page, number: int):
    return page.locator(".reading-row", has=page.locator(f"#reading-{number}"))


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_reading_is_left_out_and_counts_again(open_page, console, slipped, settings):
    """With a reason; the page shows the mission without it, and then with it."""
    page = open_page(f"#/m/{slipped}", **settings)
    before = console.get(f"/missions/{slipped}/snapshots/3")
    page.get_by_role("button", name="Leave out reading 2").click()
    page.get_by_label("Reason (optional)").fill("sensor fell")
    page.get_by_role("button", name="Leave it out").click()
    page.locator("h2", has_text="2 readings, 1 left out").wait_for()
    assert ": sensor fell" in row(page, 2).inner_text()
    page.locator(".log", has_text="Reading 2 was withdrawn: sensor fell").wait_for()
    page.locator(".status-tag", has_text="2 readings").wait_for()
    assert page.get_by_role("button", name="Leave out reading 2").count() == 0
    page.get_by_role("button", name="Undo reading 2").click()
    page.locator("#readings-title", has_text="3 readings").wait_for()
    page.locator(".log", has_text="Reading 2 was restored.").wait_for()
    # Left out it can be by its own button.
    assert page.get_by_role("button", name="Undo reading 2").count() == 0
    now = console.get(f"/missions/{slipped}/snapshots/5")
    assert now["estimate"] == before["estimate"]
    assert console.get(f"/missions/{slipped}")["snapshots"] == 5


def test_a_reading_is_corrected_and_set_back(open_page, console, slipped, allowed_errors):
    """Only what is changed is sent; the dialog shows a refusal and stays open."""
    allowed_errors.append(refused(422))
    page = open_page(f"#/m/{slipped}")
    page.get_by_role("button", name="Correct reading 2").click()
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
    dialog.wait_for(state="detached")
    assert "corrected from 90.0 K" in row(page, 2).inner_text()
    page.get_by_role("button", name="Undo reading 2").click()
    page.locator("#reading-2", has_text="90.0 K").wait_for()
    assert console.get(f"/missions/{slipped}/snapshots/5")["reading"]["position"] == [4.0, 2.0]


def test_the_page_says_that_the_belief_is_computed_again(open_page, slipped):
    """While the answer is waited for, and no other reading can be changed."""
    page = open_page(f"#/m/{slipped}")
    held = []
    page.route("**/readings/2/restore", lambda route: held.append(route))
    page.get_by_role("button", name="Leave out reading 2").click()
    page.get_by_role("button", name="Leave it out").click()
    page.get_by_role("button", name="Undo reading 2").click()
    page.get_by_role("status").filter(has_text="Computing the belief again").wait_for()
    assert page.get_by_role("button", name="Leave out reading 1").is_disabled()
    held[0].continue_()
    page.locator("#readings-title", has_text="3 readings").wait_for()
    # The list can have the reading before the page has the answer.
    page.locator("#leave-out-1:enabled").wait_for()


def test_a_late_reading_stands_at_its_own_time(open_page, console, timed):
    """In the list, at the slider and on the charts; when it was uploaded is a detail."""
    page = open_page(f"#/m/{timed}", timezone_id="UTC")
    page.wait_for_selector(".reading-row")
    assert page.locator(".reading-number").all_inner_texts() == ["3", "2", "1", "4"]
    taken = [snapshot["reading"]["time"] for snapshot in console.get(f"/missions/{timed}/snapshots")]
    words = [datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S") for moment in taken]
    assert words[3] in row(page, 4).locator("time").inner_text()
    assert "uploaded" in row(page, 4).inner_text()
    assert words[3] in page.locator(".replay-where").inner_text()
    assert page.locator(".replay-where").get_attribute("title").startswith("uploaded ")
    assert words[3] in page.locator(".chart-span").inner_text()
    assert words[2] in page.locator(".chart-span").inner_text()
    # The belief is as old as the newest reading behind it, and the reading itself is the oldest.
    page.locator("summary", has_text="More charts").click()
    left = page.locator(".chart-dot").evaluate_all("(all) => all.map((one) => parseFloat(one.style.left))")
    assert left[:2] == pytest.approx([100.0, 0.0])


def test_one_chart_is_shown_and_the_others_are_folded(open_page, timed):
    page = open_page(f"#/m/{timed}")
    page.wait_for_selector(".chart")
    shown = [one.is_visible() for one in page.locator(".chart").all()]
    assert shown == [True, False, False, False]
    page.locator("summary", has_text="More charts").click()
    assert all(one.is_visible() for one in page.locator(".chart").all())
    assert page.locator(".chart", has_text="Reading").locator("path.line").get_attribute("d")


WINDY = {"measures": ["wind"], "holds_wind": True, "max_wind_age": 600.0}


def windy(console, age: float) -> str:
    """A mission with one reading, taken `age` seconds ago in a wind of 3 m/s from the west."""
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "windy"})["id"]
    console.ready(mission)
    body = {"position": [2.0, 2.0], "value": 1.0, "time": time.time() - age, "wind": [3.0, 0.0]}
    console.post(f"/missions/{mission}/readings", body)
    return mission


def look_at(open_page, mission, facts, snapshots=None, **settings):
    """A page of the mission with changed answers."""
    page = open_page(**settings)
    change_answers(page, mission, facts, snapshots or {})
    page.evaluate(f"location.hash = '#/m/{mission}'")
    page.wait_for_selector("#status-word")
    return page


def test_a_fresh_wind_is_carried_over_and_said(open_page, console):
    page = look_at(open_page, windy(console, 120), WINDY)
    words = page.locator(".carried").inner_text()
    assert "that of reading 1 is used, 3.0 m/s from 270°, 2 min old." in words
    assert page.get_by_label("The wind is still like this").is_hidden()
    page.get_by_label("Wind speed [m/s]").fill("2")
    assert page.locator(".carried").is_hidden()


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_an_old_wind_has_to_be_confirmed_or_entered(open_page, console, settings):
    """The limit is said; without an answer nothing is sent."""
    mission = windy(console, 20 * 60)
    page = look_at(open_page, mission, WINDY, **settings)
    assert (
        "20 min old, older than 10 min: enter the wind, or confirm it."
        in page.locator(".carried").inner_text()
    )
    page.locator("[name=value]").fill("1.5")
    page.get_by_role("button", name="Add reading").click()
    page.locator(".form-message.error", has_text="The wind is older than 10 min").wait_for()
    assert page.evaluate("document.activeElement.name") == "same-wind"
    assert console.get(f"/missions/{mission}")["readings"] == 1
    page.keyboard.press("Space")
    page.get_by_role("button", name="Add reading").click()
    page.locator(".form-message.good", has_text="Reading 2 is saved").wait_for()
    # The next reading is asked about again.
    assert not page.locator("[name=same-wind]").is_checked()


@pytest.mark.parametrize("minutes", [20, -20], ids=["ahead", "behind"])
def test_the_age_of_a_wind_is_measured_by_the_clock_of_the_server(open_page, console, minutes):
    mission, page = windy(console, 120), open_page()
    page.add_init_script(f"const own = Date.now; Date.now = () => own() + {minutes * 60_000};")
    change_answers(page, mission, WINDY, {})
    page.goto(f"{console.url}/#/m/{mission}")
    page.reload()
    assert "3.0 m/s from 270°, 2 min old." in page.locator(".carried").inner_text()


def test_a_reading_that_was_taken_then_has_the_wind_of_then(open_page, console):
    """An age is that at the time that is typed."""
    page = look_at(open_page, windy(console, 20 * 60), WINDY)
    page.locator("summary", has_text="More about this reading").click()
    page.locator("[name=time]").fill(str(time.time() - 18 * 60))
    assert "2 min old." in page.locator(".carried").inner_text()


def test_the_list_says_whose_wind_a_reading_has(open_page, console):
    mission = windy(console, 15 * 60)
    console.post(f"/missions/{mission}/readings", {"position": [3.0, 2.0], "value": 1.0, "time": time.time()})
    held = {"held_wind": True, "reading": {"wind": [3.0, 0.0]}}
    page = look_at(open_page, mission, WINDY, {2: held})
    row(page, 2).wait_for()
    assert "wind 3.0 m/s from 270°, that of reading 1, 15 min old" in row(page, 2).inner_text()
    assert "that of" not in row(page, 1).inner_text()


def test_a_site_with_heights_asks_for_the_height(open_page, real, allowed_errors):
    """Above ground; the advised one is filled in, and the ground of the site is added."""
    allowed_errors.append("ERR_FAILED")
    facts = {"heights": [1.5, 5.0], "ground": 100.0, "measures": ["altitude"]}
    page = look_at(open_page, real, facts)
    height = page.get_by_label("Height above ground [m]")
    assert height.is_visible()
    assert height.input_value() == "1.5"
    assert "1.5, 5" in page.locator(".field", has=height).inner_text()
    sent = []
    page.route("**/readings", lambda route: (sent.append(route.request.post_data_json), route.abort()))
    height.fill("5")
    page.get_by_label("Reading [K]").fill("2")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert sent[0]["altitude"] == 105.0


def test_without_heights_the_height_is_folded(open_page, real):
    page = open_page(f"#/m/{real}")
    assert page.get_by_label("Height [m]").is_hidden()
