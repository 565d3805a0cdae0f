"""What a page shows: numbers in chosen units, both places of a belief in two, alarms until they are seen."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from mocked_mission import change_answers
from served_console import PHONE, wait_until

UNITS = {
    "length": [{"name": "m", "size": 1.0}, {"name": "ft", "size": 0.3048}],
    "speed": [
        {"name": "m/s", "size": 1.0},
        {"name": "kn", "size": 1852 / 3600},
        {"name": "mph", "size": 0.44704},
    ],
    "value": [{"name": "ppm", "size": 1.0}, {"name": "ppb", "size": 1e-3}, {"name": "mg/m³", "size": 1.4738}],
}
FT = 3.280839895
"""In a metre."""
KN = 1.943844492
"""In 1 m/s."""


def with_units(page, script: str):
    """What a script says that has the modules of the page, with these units chosen."""
    return page.evaluate(
        f"""async (units) => {{
          const u = await import("/units.js");
          const f = await import("/format.js");
          u.offerUnits(units);
          {script}
        }}""",
        UNITS,
    )


def test_numbers_of_the_server_are_shown_in_the_chosen_units(open_page):
    page = open_page()
    assert with_units(page, "return f.metres(12.5) + f.measured(0.4)") == "12.5 m0.400 ppm"
    choose = "u.chooseUnit('length', 'ft'); u.chooseUnit('speed', 'kn'); u.chooseUnit('value', 'mg/m³');"
    assert with_units(page, f"{choose} return f.metres(100)") == f"{100 * FT:.0f} ft"
    assert with_units(page, "return u.inUnit(10, 'speed')") == pytest.approx(10 * KN, rel=1e-9)
    assert with_units(page, "return u.fromUnit(20, 'speed')") == pytest.approx(20 / KN, rel=1e-9)
    # 1 ppm of methane at 15 °C has 0.6785 mg/m³.
    assert with_units(page, "return u.inUnit(10, 'value')") == pytest.approx(6.785, rel=1e-4)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "within 34.8 m of (32, -29.7) m, where 0.849 m is wanted",
            "within 114 ft of (105, -97.4) ft, where 2.79 ft is wanted",
        ),
        ("3.45 m to the southeast, 1.5 m above ground", "11.3 ft to the southeast, 4.92 ft above ground"),
        ("1.2 km off, 12 m² and 3 m/s from 270°", "3937 ft off, 12 m² and 5.83 kn from 270°"),
        ("95 % in 3 min; 2 mm; 40 readings", "95 % in 3 min; 2 mm; 40 readings"),
        ("0.4 ppm at (3, 4) m", "400 ppb at (9.84, 13.1) ft"),
        ("must be from -500 to 20,000 m; got 30,000.", "must be from -1640 to 65617 ft; got 98425."),
        ("between 2 and 3 ppm, 1 to 2 km off", "between 2000 and 3000 ppb, 3281 to 6562 ft off"),
        ("0.4 ± 0.1 ppm; of reading 2 and 3 m off", "400 ± 100 ppb; of reading 2 and 9.84 ft off"),
        ("must be >= 0 m/s; got -3: check its unit", "must be >= 0 kn; got -5.83: check its unit"),
        ("must be above 3 m; got 1.2 m", "must be above 9.84 ft; got 3.94 ft"),
    ],
)
def test_sentences_of_the_server_are_in_the_chosen_units(open_page, said, shown):
    page = open_page()
    choose = "u.chooseUnit('length', 'ft'); u.chooseUnit('speed', 'kn'); u.chooseUnit('value', 'ppb');"
    assert with_units(page, f"{choose} return u.wordsInUnits({said!r})") == shown
    assert with_units(page, f"u.offerUnits({{}}); return u.wordsInUnits({said!r})") == said


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_unit_is_chosen_for_all_of_the_page_and_kept(open_page, console, real, settings):
    """What is typed in feet is sent in metres; the choice is there after a reload."""
    page = open_page(f"#/m/{real}", **settings)
    page.locator("[name=unit-length]").select_option("ft")
    east = page.get_by_label("East [ft]")
    east.wait_for()
    # The start is at 2 m.
    assert float(east.input_value()) == pytest.approx(2 * FT, abs=0.006)
    east.fill(str(10 * FT))
    page.get_by_label("Reading [K]").fill("1.5")
    page.keyboard.press("Enter")
    page.locator(".form-message.good").wait_for()
    assert console.get(f"/missions/{real}/snapshots/1")["reading"]["position"][0] == pytest.approx(
        10.0, abs=1e-9
    )
    page.locator(".go-word", has_text=" ft ").wait_for()
    assert " ft" in page.locator(".scale").inner_text()
    assert " ft" in page.locator(".reading-details").first.inner_text()
    why = page.locator(".why").inner_text()
    assert " ft of (" in why
    assert " m " not in why
    page.reload()
    page.get_by_label("East [ft]").wait_for()
    page.locator("[name=unit-length]").select_option("m")
    page.get_by_label("East [m]").wait_for()


def test_readings_are_typed_in_another_unit_of_a_known_gas(open_page, real, allowed_errors):
    """The bounds of an input are those of its unit, too."""
    allowed_errors.append("ERR_FAILED")
    page = open_page()
    change_answers(page, real, {"unit": "ppm", "units": UNITS}, {})
    page.evaluate(f"location.hash = '#/m/{real}'")
    page.locator("[name=unit-value]").select_option("mg/m³")
    page.locator("[name=unit-speed]").select_option("kn")
    sent = []
    page.route("**/readings", lambda route: (sent.append(route.request.post_data_json), route.abort()))
    page.get_by_label("Reading [mg/m³]").fill("6.785")
    page.locator("summary", has_text="More about this reading").click()
    page.get_by_label("Wind speed [kn]").fill("400")
    page.get_by_label("Wind from [°]").fill("270")
    page.keyboard.press("Enter")
    page.locator(
        ".form-message.error", has_text="Wind speed [kn]: a number from 0 to 291.577; 400 is not."
    ).wait_for()
    page.get_by_label("Wind speed [kn]").fill(str(3 * KN))
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert sent[0]["value"] == pytest.approx(10.0, rel=1e-4)
    assert sent[0]["wind_speed"] == pytest.approx(3.0, rel=1e-6)


PIECES = [
    {"centre": [5.0, 15.0], "radius": 1.2, "probability": 0.62},
    {"centre": [15.0, 12.0], "radius": 0.8, "probability": 0.33},
]
WHY = "Not sure yet: the source is in one of 2 places: near (5, 15) m (62 %, within 1.2 m)."


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_two_places_are_listed_with_their_shares(open_page, walked, settings):
    page = open_page(**settings)
    change_answers(page, walked, {"geographic": False, "origin": None}, {3: {"pieces": PIECES, "why": WHY}})
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.locator(".pieces li").first.wait_for()
    listed = page.locator(".pieces li").evaluate_all(
        "(all) => all.map((one) => [...one.children].map((part) => part.textContent))"
    )
    assert listed == [
        ["62 %", "near (5.000, 15.000) m, within 1.2 m"],
        ["33 %", "near (15.000, 12.000) m, within 0.80 m"],
    ]
    assert page.locator(".why").inner_text() == WHY
    rows = page.locator(".estimate tbody th").all_inner_texts()
    assert not [name for name in rows if "position" in name]
    assert "of the mean" not in page.locator("section", has=page.locator("#estimate-title")).inner_text()


def test_each_place_has_its_mark_on_the_map(open_page, walked):
    """There is a cross at both, and none at the mean."""
    page = open_page()
    change_answers(page, walked, {"geographic": False, "origin": None}, {3: {"pieces": PIECES}})
    page.evaluate(
        """() => {
          window.said = [];
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            said.push(text);
            return fill.call(this, text, ...rest);
          };
        }"""
    )
    page.evaluate(f"location.hash = '#/m/{walked}'")
    wait_until(lambda: {"62 %", "33 %"} <= set(page.evaluate("said")), 10)
    places = page.evaluate(
        """async (full) => {
          const { sourcePlacesOf } = await import("/map/places.js");
          return sourcePlacesOf({ estimate: { mean: [10, 13] } }, full);
        }""",
        {"pieces": PIECES},
    )
    assert places == [[5.0, 15.0], [15.0, 12.0]]


def sounds(page) -> str:
    return page.evaluate("document.body.dataset.sounds ?? ''")


def badge(page) -> str:
    return page.locator("link[rel=icon]").get_attribute("href")


def watched(open_page, mission, status, **settings):
    """A page that saw the mission searching, and then loads it with this status."""
    page = open_page(**settings)
    page.evaluate(f"localStorage.setItem('dowsax-alarm-{mission}', JSON.stringify({{watched: true}}))")
    change_answers(page, mission, {"status": status}, {3: {"status": status}})
    page.evaluate(f"location.hash = '#/m/{mission}'")
    page.wait_for_selector("#status-word")
    return page


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_find_sounds_until_it_is_seen_also_after_a_reload(open_page, walked, settings):
    page = watched(open_page, walked, "found", **settings)
    for _ in range(2):
        page.locator(".alarm", has_text="The source is found, by reading 3.").wait_for()
        assert (sounds(page), badge(page)) == ("found", "icon-alarm.svg")
        assert page.title().startswith("(!) FOUND")
        page.reload()
    page.get_by_role("button", name="I have seen it").click()
    page.locator("#alarm-seen").wait_for(state="hidden")
    assert (sounds(page), badge(page)) == ("", "icon.svg")
    page.reload()
    page.wait_for_selector("#status-word")
    page.wait_for_timeout(300)
    assert (sounds(page), page.title().startswith("FOUND")) == ("", True)


def test_a_sound_is_made_once_the_page_may(open_page, walked):
    """Browsers are silent before a first click or key."""
    page = open_page()
    page.evaluate(
        """() => {
          window.tones = [];
          const start = OscillatorNode.prototype.start;
          OscillatorNode.prototype.start = function (when) {
            tones.push(this.frequency.value);
            return start.call(this, when);
          };
        }"""
    )
    page.evaluate(f"localStorage.setItem('dowsax-alarm-{walked}', JSON.stringify({{watched: true}}))")
    change_answers(page, walked, {"status": "found"}, {3: {"status": "found"}})
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.locator("#alarm-seen").wait_for()
    page.locator("#status-word").click()
    wait_until(lambda: page.evaluate("tones.length") >= 3, 10)
    assert page.evaluate("tones.slice(0, 3)") == [660, 880, 1100]


def test_an_alarm_is_muted_for_good_and_still_shown(open_page, walked):
    page = watched(open_page, walked, "found")
    page.locator("#alarm-seen").wait_for()
    page.get_by_role("button", name="Mute the alarm").click()
    assert (sounds(page), badge(page)) == ("", "icon-alarm.svg")
    page.reload()
    page.locator("#alarm-seen").wait_for()
    assert sounds(page) == ""
    page.get_by_role("button", name="Alarm is muted: turn the sound on").click()
    assert sounds(page) == "found"


def test_an_old_find_is_no_alarm(open_page, walked):
    """Of a mission that this browser never saw searching."""
    page = open_page("#/new")
    change_answers(page, walked, {"status": "found"}, {3: {"status": "found"}})
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.locator("#status-word", has_text="FOUND").wait_for()
    page.wait_for_timeout(300)
    assert (sounds(page), badge(page)) == ("", "icon.svg")


def test_a_feed_that_stops_is_an_alarm_after_the_stated_time(open_page, walked):
    """By itself where there is a feed, else when a time is chosen; the next silence is another alarm."""
    page = open_page()
    old = {3: {"time": "2026-01-01T00:00:00+00:00"}}
    change_answers(page, walked, {"mqtt": {"readings": "r", "advice": "a"}}, old)
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.locator(".alarm", has_text="No reading has come for").wait_for()
    assert page.locator("[name=alarm-limit]").input_value() == "300"
    assert sounds(page) == "silent"
    page.locator("[name=alarm-limit]").select_option("0")
    page.locator("#alarm-seen").wait_for(state="hidden")
    page.locator("[name=alarm-limit]").select_option("60")
    page.locator("#alarm-seen").click()
    assert sounds(page) == ""
    page.reload()
    page.locator("#status-word").wait_for()
    assert page.locator("[name=alarm-limit]").input_value() == "60"
    assert sounds(page) == ""


@pytest.mark.parametrize(("minutes", "expected"), [(20, ""), (-20, "silent")], ids=["ahead", "behind"])
def test_silence_is_measured_by_the_clock_of_the_server(open_page, console, walked, minutes, expected):
    """A phone that is 20 min ahead gives no alarm at once; one that is 20 min behind gives none too late."""
    page = open_page()
    page.add_init_script(f"const own = Date.now; Date.now = () => own() + {minutes * 60_000};")
    # The newest reading is of now, and of 10 min ago.
    taken = datetime.now(UTC) - timedelta(minutes=10 if expected else 0)
    facts = {"mqtt": {"readings": "r", "advice": "a"}}
    change_answers(page, walked, facts, {3: {"time": taken.isoformat()}})
    page.goto(f"{console.url}/#/m/{walked}")
    page.reload()
    page.wait_for_selector("#status-word")
    page.wait_for_function(f"(document.body.dataset.sounds ?? '') === {expected!r}")
    assert page.locator("#alarm-seen").is_visible() is bool(expected)
    if expected:
        assert "No reading has come for 10 min." in page.locator("div.alarm").inner_text()


def test_without_a_feed_nobody_waits_for_readings(open_page, walked):
    page = open_page(f"#/m/{walked}")
    page.wait_for_selector(".reading-row")
    assert page.locator("[name=alarm-limit]").input_value() == "0"
    assert page.locator("#alarm-seen").is_hidden()


def listed(page, console, *changes):
    """Let the list of missions say these of it; returns a function that says others."""
    sockets = []
    usual = {"type": "real", "status": "searching", "has_feed": False, "snapshots": 3, "readings": 3}
    usual |= {"alarm": "", "preparing": False, "running": False, "field": "temperature"}
    usual |= {"updated": datetime.now(UTC).isoformat()}

    def say(*changes):
        items = [usual | {"id": f"{number:012x}"} | change for number, change in enumerate(changes)]
        sockets[-1].send(json.dumps({"type": "missions", "missions": items}))

    page.route_web_socket("**/api/live", lambda socket: (sockets.append(socket), say(*changes)))
    page.goto(f"{console.url}/#/")
    page.reload()
    page.locator(".missions li").first.wait_for()
    return say


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_the_list_alarms_until_it_is_seen_also_after_a_reload(open_page, console, settings):
    """For a find that it saw coming and for a feed that stopped; not for an old find, nor a simulated one."""
    page = open_page(**settings)
    old = {"name": "old", "status": "found"}
    stopped = {"name": "fed", "has_feed": True, "updated": "2026-01-01T00:00:00+00:00"}
    others = ({"name": "played", "type": "simulated"}, old, {"name": "slow", "updated": stopped["updated"]})
    say = listed(page, console, {"name": "yard"}, *others)
    page.wait_for_timeout(300)
    assert (sounds(page), badge(page), page.title()) == ("", "icon.svg", "dowsax console")
    after = ({"name": "yard", "status": "found"}, others[0] | {"status": "found"}, *others[1:], stopped)
    say(*after)
    banner = page.locator("div.alarm")
    banner.get_by_text("yard: The source is found, by reading 3.").wait_for()
    banner.get_by_text("fed: No reading has come for").wait_for()
    assert banner.locator("li").count() == 2
    assert (sounds(page), badge(page), page.title()) == ("found", "icon-alarm.svg", "(!) dowsax console")
    page.get_by_role("button", name="I have seen it").click()
    banner.wait_for(state="hidden")
    assert (sounds(page), badge(page), page.title()) == ("", "icon.svg", "dowsax console")
    listed(page, console, *after)
    page.wait_for_timeout(300)
    assert (sounds(page), banner.is_visible()) == ("", False)


def test_what_is_seen_at_the_list_is_seen_at_the_mission(open_page, console, walked):
    """And the alarm of the list ends where the list is left."""
    page = open_page()
    stopped = {"name": "walked", "id": walked, "has_feed": True, "updated": "2026-01-01T00:00:00+00:00"}
    listed(page, console, stopped)
    page.wait_for_function("document.body.dataset.sounds === 'silent'")
    page.evaluate("location.hash = '#/new'")
    page.locator("h1", has_text="New mission").wait_for()
    assert (sounds(page), badge(page), page.title()) == ("", "icon.svg", "New mission, dowsax")
    page.evaluate("location.hash = '#/'")
    page.get_by_role("button", name="I have seen it").click()
    facts = {"mqtt": {"readings": "r", "advice": "a"}}
    change_answers(page, walked, facts, {3: {"time": stopped["updated"]}})
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.wait_for_selector("#status-word")
    page.wait_for_timeout(300)
    assert (sounds(page), page.locator("#alarm-seen").is_visible()) == ("", False)


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_the_region_of_a_found_source_is_shown_on_request(open_page, console, walked, settings):
    """A button at the status brings the map there, once the source is found and not before."""
    estimate = console.get(f"/missions/{walked}/snapshots/3")["estimate"]
    estimate["mean"][:2] = [15.0, 12.0]
    square = [[14.5, 11.5], [15.5, 11.5], [15.5, 12.5], [14.5, 12.5]]
    found = {"status": "found", "estimate": estimate, "regions": {"95": [[square]]}, "next": None}
    page = open_page(**settings)
    facts = {"geographic": False, "origin": None, "status": "found", "radius": 1.0}
    change_answers(page, walked, facts, {3: found})
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.locator("#status-word", has_text="FOUND").wait_for()
    ruler = page.locator(".map .ruler-text, .legend .ruler-text").first
    before = ruler.text_content()
    button = page.get_by_role("button", name="Show the region")
    button.click()
    # From 20 m to a disc of 2 m, which lies in the middle, once the map is drawn again.
    page.wait_for_function(
        "([text, before]) => parseFloat(text.textContent) < parseFloat(before) / 4",
        arg=[ruler.element_handle(), before],
    )
    box = page.locator("canvas.map-canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    east, north = (float(part.split()[0]) for part in page.locator("output.place").text_content().split(","))
    assert (east, north) == (pytest.approx(15.0, abs=0.7), pytest.approx(12.0, abs=0.7))
    page.keyboard.press("[")
    page.locator(".status-tag", has_text="step 2 of 3").wait_for()
    assert button.is_hidden()
