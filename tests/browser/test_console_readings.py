"""What a person does with a real mission: describe the site, give readings, upload a survey."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from served_console import PHONE, SITE, refused, site_text

from dowsax.geo.local import LocalCoordinates


def give(page, value: float) -> None:
    """Type a reading and wait until it is taken in."""
    page.get_by_label("Reading [K]").fill(str(value))
    page.keyboard.press("Enter")


def test_a_mission_begins_from_a_site_that_is_checked_as_it_is_typed(open_page, console, allowed_errors):
    """A mistake is told with its line and nothing can be begun; a site that is understood can."""
    allowed_errors.append(refused(422))
    page = open_page("#/new/real")
    page.locator(".verdict.good").wait_for()
    text = site_text(page)
    begin = page.locator("button[type=submit]")
    text.fill(SITE.replace('kind = "temperature"', 'kind = "temperatur"'))
    page.locator(".verdict.error").wait_for()
    assert "temperatur" in page.locator(".verdict").inner_text()
    assert begin.is_disabled()
    text.fill(SITE)
    page.locator(".verdict.good", has_text="Yard").wait_for()
    begin.click()
    page.locator("h1", has_text="Yard").wait_for()
    mission = console.get(f"/missions/{page.url.rsplit('/', 1)[1]}")
    assert (mission["type"], mission["area"]) == ("real", [[0.0, 0.0], [20.0, 20.0]])


def test_every_template_is_understood(open_page, console):
    page = open_page("#/new/real")
    for kind in console.get("/choices")["kinds"][:4]:
        page.get_by_label("Kind", exact=True).select_option(kind["name"])
        # The wind around the buildings of a template is solved first.
        page.locator(".verdict.good", has_text=kind["name"]).wait_for(timeout=120_000)


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_readings_are_typed_one_by_one(open_page, console, real, settings):
    """Each is on the server as it was typed, and the next place is filled in for the one after."""
    page = open_page(f"#/m/{real}", **settings)
    values = (1.5, 2.25, 3.0)
    for number, value in enumerate(values, 1):
        give(page, value)
        page.locator(".form-message.good", has_text=f"Reading {number} ").wait_for()
    page.get_by_text("3 of 40 readings").and_(page.get_by_text("60 min at most")).wait_for()
    snapshots = console.get(f"/missions/{real}/snapshots?first=1&last=9")
    assert [snapshot["reading"]["value"] for snapshot in snapshots] == list(values)
    advised = [[2.0, 2.0], *(snapshot["next"] for snapshot in snapshots[:-1])]
    for snapshot, place in zip(snapshots, advised, strict=True):
        # Centimetres are typed.
        assert snapshot["reading"]["position"] == pytest.approx(place, abs=0.0051)


def test_a_click_on_the_map_sets_the_place(open_page, console, real):
    """Two clicks so many points apart are so many metres apart as the scale bar says."""
    page = open_page(f"#/m/{real}")
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    x, y = box["width"] / 2, box["height"] / 2
    places = []
    for offset in (0, 100):
        canvas.click(position={"x": x + offset, "y": y - offset})
        places.append([float(page.get_by_label(name).input_value()) for name in ("East [m]", "North [m]")])
    length = float(page.locator(".scale span").first.inner_text().split()[0])
    per_point = length / page.locator(".ruler").bounding_box()["width"]
    moved = [places[1][axis] - places[0][axis] for axis in (0, 1)]
    # The ruler is drawn to a point, the places to a centimetre.
    assert moved == pytest.approx([100 * per_point] * 2, rel=0.02)
    give(page, 2.0)
    page.locator(".form-message.good").wait_for()
    taken = console.get(f"/missions/{real}/snapshots/1")["reading"]["position"]
    assert taken == pytest.approx(places[1], abs=1e-9)


def test_keys_are_shortcuts_until_one_types_in_a_field(open_page, real):
    """After a click on the map, on a button or on a box; in a field they are text."""
    page = open_page(f"#/m/{real}")
    value, field = page.locator("[name=value]"), page.locator("[name=layer-field]")
    for click in ("canvas", "[aria-label='Zoom in']", "button[aria-label=Layers]", "[name=layer-grid]"):
        page.locator(click).click()
        page.keyboard.press("?")
        page.locator("dialog.help").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog.help").wait_for(state="detached")
        was = field.is_checked()
        page.keyboard.press("f")
        assert field.is_checked() is not was, click
        assert value.input_value() == ""
    value.click()
    page.keyboard.type("?f")
    assert value.input_value() == "?f"
    assert page.locator("dialog.help").count() == 0


def test_wind_is_typed_as_where_it_comes_from_and_sent_as_where_it_goes(open_page, console, real):
    """3 m/s from the west, 270 degrees, is air that moves east."""
    page = open_page(f"#/m/{real}")
    page.click("text=More about this reading")
    page.get_by_label("Wind from [°]").fill("270")
    give(page, 2.0)
    page.locator(".form-message.error", has_text="both its speed and where it comes from").wait_for()
    page.get_by_label("Wind speed [m/s]").fill("3,0")
    give(page, 2.0)
    page.locator(".form-message.good").wait_for()
    assert console.get(f"/missions/{real}/snapshots/1")["reading"]["wind"] == pytest.approx([3.0, 0.0])


def test_what_makes_no_sense_is_refused_in_words_and_not_sent(open_page, console, real):
    page = open_page(f"#/m/{real}")
    page.get_by_label("Reading [K]").fill("two")
    page.keyboard.press("Enter")
    page.locator(".form-message.error", has_text="not a number").wait_for()
    assert page.evaluate("document.activeElement.name") == "value"
    assert console.get(f"/missions/{real}")["readings"] == 0


def upload(page, *rows: str) -> None:
    text = "\n".join(("x,y,value", *rows))
    page.set_input_files("#survey-file", {"name": "a.csv", "mimeType": "text/csv", "buffer": text.encode()})


def test_a_survey_is_uploaded_and_counts_once(open_page, console, real):
    """A file that is sent twice is taken in once, and the page and its log say so."""
    page = open_page(f"#/m/{real}")
    for counts in ("3 new, 0 known", "0 new, 3 known"):
        upload(page, "2,2,1.5", "4,4,2.0", "6,4,2.5")
        page.locator(".form-message.good", has_text=f"Readings: {counts}.").wait_for()
        page.locator(".log li", has_text=f"a.csv: {counts}, 0 refused.").wait_for()
    page.wait_for_selector('#replay[max="3"]')
    values = [
        snapshot["reading"]["value"] for snapshot in console.get(f"/missions/{real}/snapshots?first=1&last=9")
    ]
    assert values == [1.5, 2.0, 2.5]


def test_a_survey_with_a_mistake_is_refused_with_its_line(open_page, console, real, allowed_errors):
    """By the name of the file as the person knows it. Markup in a cell stays text."""
    allowed_errors.append(refused(422))
    page = open_page(f"#/m/{real}")
    upload(page, "2,2,1.5", "4,4,<img src=x onerror=alert(1)>")
    page.locator(".form-message.error", has_text="a.csv, line 3, column 'value'").wait_for()
    assert page.locator("#side img").count() == 0
    assert console.get(f"/missions/{real}")["readings"] == 0


def test_a_survey_is_dropped_on_the_map(open_page, console, real):
    """While it is held over the map that says so; let go, its rows are taken in as those of any survey."""
    page = open_page(f"#/m/{real}")
    drag = """(canvas, kind) => {
      window.held ??= new DataTransfer();
      if (held.items.length === 0)
        held.items.add(new File(["x,y,value\\n2,2,1.5\\n4,4,2.0\\n"], "dropped.csv", { type: "text/csv" }));
      const event = new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: held });
      return canvas.dispatchEvent(event);
    }"""
    canvas = page.locator("canvas")
    # What is not cancelled is opened by the browser in place of the page.
    assert canvas.evaluate(drag, "dragover") is False
    assert "dropping" in page.locator(".map").get_attribute("class")
    assert canvas.evaluate(drag, "drop") is False
    assert "dropping" not in page.locator(".map").get_attribute("class")
    page.locator(".form-message.good", has_text="Readings: 2 new, 0 known.").wait_for()
    snapshots = console.get(f"/missions/{real}/snapshots")
    assert [snapshot["reading"]["value"] for snapshot in snapshots] == [1.5, 2.0]


EXPORTS = {
    "GeoJSON": lambda text: json.loads(text)["type"] == "FeatureCollection",
    "KML": lambda text: ElementTree.fromstring(text).tag.endswith("kml"),
    "QGroundControl": lambda text: json.loads(text)["fileType"] == "Plan",
    "CSV": lambda text: sum(1 for _ in csv.DictReader(io.StringIO(text))) == 3,
    "Report": lambda text: text.lstrip().lower().startswith("<!doctype html"),
}


def test_every_export_is_a_file_of_its_kind(open_page, walked):
    page = open_page(f"#/m/{walked}")
    for name, is_right in EXPORTS.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert is_right(Path(download.value.path()).read_text(encoding="utf-8")), name
        page.locator("section:has(#export-title) .good").wait_for()


def test_a_site_on_the_globe_is_read_in_degrees(open_page, console, walked):
    """The place filled in is that of the next reading, in degrees, to a tenth of a metre."""
    page = open_page(f"#/m/{walked}")
    shown = [float(page.get_by_label(name).input_value()) for name in ("Latitude [°]", "Longitude [°]")]
    advised = console.get(f"/missions/{walked}/snapshots/3")["next"]
    assert LocalCoordinates((52.1, 5.1)).to_metres(*shown)[0] == pytest.approx(advised, abs=0.1)


def test_readings_of_others_appear_by_themselves_and_after_a_break(open_page, console, real, allowed_errors):
    """What came while the page was cut off is there when it is back, in order."""
    # A page that tries to come back before the line does is told so by the browser, if it gets that far.
    allowed_errors.append("ERR_INTERNET_DISCONNECTED")
    page = open_page(f"#/m/{real}")
    console.post(f"/missions/{real}/readings", {"position": [2.0, 2.0], "value": 1.5})
    page.wait_for_selector('#replay[max="1"]')
    page.context.set_offline(True)
    page.locator("#link").wait_for()
    for place in (4.0, 6.0):
        console.post(f"/missions/{real}/readings", {"position": [place, 2.0], "value": 2.0})
    page.context.set_offline(False)
    page.locator("#link").wait_for(state="hidden")
    page.wait_for_selector('#replay[max="3"]')
    page.locator("#replay").fill("2")
    page.locator(".replay-where", has_text="2 / 3").wait_for()
