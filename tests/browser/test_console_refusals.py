"""Refused input on the page: explained in the words of the form, until the form is changed.

The browser reports a refused request in its console; each test here allows the status codes it provokes.
"""

import re

import pytest
from served_console import SITE, refused, site_text

from dowsax.mission.stations import Stations
from dowsax.survey.reading import Reading, Refused

pytestmark = pytest.mark.slow

NONE = "0" * 12


def error(page):
    return page.locator(".form-message.error")


def written(page, **values: str) -> None:
    """Fill in inputs by their names, folded ones too."""
    for folded in page.locator("details.more:not([open]) > summary").all():
        folded.click()
    for name, text in values.items():
        page.fill(f"[name={name.replace('_', '-')}]", text)


SIMULATED = [
    ({"seed": "-1"}, "Seed: a whole number from 0 to 2147483647; -1 is not."),
    ({"seed": "1.5"}, "Seed: a whole number from 0 to 2147483647; 1.5 is not."),
    ({"seed": "3000000000"}, "Seed: a whole number from 0 to 2147483647; 3000000000 is not."),
    ({"seed": "many"}, "Seed: many is not a number."),
    ({"speed": "80"}, "Readings per second: a number from 0.05 to 50; 80 is not."),
    ({"particles": "3"}, "Particles: a whole number from 16 to 20000; 3 is not."),
]


def test_a_form_names_its_fields_and_sends_nothing_that_is_wrong(open_page, console):
    """The error goes with the next key, and what is wrong has the focus."""
    page = open_page("#/new/simulated")
    before = len(console.get("/missions"))
    for values, words in SIMULATED:
        written(page, seed="0", speed="4", particles="")
        assert error(page).count() == 0
        written(page, **values)
        page.keyboard.press("Enter")
        error(page).wait_for()
        assert error(page).inner_text() == words
        [name] = values
        assert page.evaluate("document.activeElement.name") == name
    assert len(console.get("/missions")) == before


READINGS = [
    ({"value": ""}, "Reading [K] is missing."),
    ({"value": "1e16"}, "Reading [K]: a number within ±1000000000000000; 1e16 is not."),
    ({"value": "2", "wind_speed": "-3"}, "Wind speed [m/s]: a number from 0 to 150; -3 is not."),
    ({"value": "2", "altitude": "30000"}, "Height [m]: a number from -500 to 20000; 30000 is not."),
    ({"value": "2", "time": "yesterday"}, "Time is neither seconds nor a date"),
    ({"value": "2", "east": "99"}, "The position"),
]


def test_a_reading_that_is_refused_is_so_in_the_words_of_its_form(open_page, console, real, allowed_errors):
    """Whether the page or the server refuses it; each error is gone with the next key, or place clicked."""
    allowed_errors.append(refused(422))
    page = open_page(f"#/m/{real}")
    for values, words in READINGS:
        written(page, east="2", value="", wind_speed="", altitude="", time="")
        assert error(page).count() == 0
        written(page, **values)
        page.locator("[name=value]").press("Enter")
        error(page).wait_for()
        assert error(page).inner_text().startswith(words)
        assert "`" not in error(page).inner_text()
    page.locator("canvas").click()
    error(page).wait_for(state="detached")
    written(page, value="1.5")
    page.locator("[name=value]").press("Enter")
    page.locator(".form-message.good", has_text="Reading 1 ").wait_for()
    assert console.get(f"/missions/{real}")["readings"] == 1


def test_a_missing_wind_is_named_as_on_the_form(open_page):
    """The server names both ways to give one, of which the form has one."""
    with pytest.raises(Refused, match="wind_u and wind_v, or wind_speed and wind_from") as refusal:
        Stations(("wind",)).complete(Reading((0.0, 0.0), 1.0), [])
    page = open_page()
    told = page.evaluate(
        """async (text) => {
          const { buildValue } = await import("/panel/reading_inputs.js");
          const { inFormWords } = await import("/forms.js");
          return inFormWords(text, buildValue({ unit: "K", field: "gas-plume" }).names);
        }""",
        str(refusal.value),
    )
    assert told.startswith(
        "The wind is missing, and the field depends on it: give Wind speed [m/s] and Wind from [°], or set "
    )


def test_a_feed_without_a_broker_is_refused_by_its_name(open_page):
    page = open_page("#/new/real")
    page.locator(".verdict.good").wait_for()
    page.click("text=Live feed by MQTT")
    page.get_by_label("Readings come on").fill("yard/in")
    page.click("button[type=submit]")
    page.locator(".form-message.error", has_text="Broker is missing: topics need one.").wait_for()
    page.get_by_label("Broker").fill("https://127.0.0.1")
    error(page).wait_for(state="detached")
    page.click("button[type=submit]")
    page.locator(".form-message.error", has_text="Broker: an address such as mqtt://").wait_for()


def test_an_empty_or_wrong_site_is_reported(open_page, allowed_errors):
    allowed_errors.append(refused(422))
    page = open_page("#/new/real")
    page.locator(".verdict.good").wait_for()
    site_text(page).fill("")
    page.locator(".verdict.error", has_text="Site file: it is empty").wait_for()
    site_text(page).fill(SITE.replace('kind = "temperature"', 'kind = "heat"'))
    page.locator(".verdict.error", has_text=re.compile("^Site file, line 8")).wait_for()


def test_an_unknown_mission_is_reported(open_page, allowed_errors):
    """As from an old bookmark."""
    allowed_errors.append(refused(404))
    page = open_page(f"#/m/{NONE}")
    page.locator("h1", has_text="This cannot be shown").wait_for()
    page.locator("p", has_text="There is no such mission").wait_for()
    page.click("text=All missions")
    page.locator("h1", has_text="Find the source").wait_for()


def test_a_refusal_of_the_server_is_no_fault_of_the_page(open_page, real, allowed_errors):
    """The page gets the status code and the reason of each."""
    allowed_errors.extend(map(refused, (404, 409, 422)))
    page = open_page(f"#/m/{real}")
    told = page.evaluate(
        """async (mission) => {
          const { get, post, postFile, getFile } = await import("/api.js");
          const all = [
            get("/missions/000000000000"),
            get(`/missions/${mission}/snapshots/77`),
            post(`/missions/${mission}/control`, { action: "step" }),
            post(`/missions/${mission}/readings`, { position: [1e6, 0], value: 1 }),
            postFile(`/missions/${mission}/survey`, new File(["nothing"], "x.csv")),
            getFile(`/missions/${mission}/export?to=csv`, "x"),
          ];
          return (await Promise.allSettled(all)).map(({ reason }) => [reason?.status, reason?.message]);
        }""",
        real,
    )
    assert [status for status, _ in told] == [404, 404, 409, 422, 422, 409]
    assert all(words for _, words in told)
