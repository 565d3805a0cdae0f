"""What is taken away from the console opens elsewhere: reports, places on a globe, readings taken in anew."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow

KML = "{http://www.opengis.net/kml/2.2}"
PLACES = [(2.0, 2.0), (4.0, 2.0), (6.0, 2.0)]
"""[m], of the readings of the mission that was walked, about the origin (52.1, 5.1)."""


def downloaded(page, name: str, folder: Path) -> Path:
    """The file behind a button, under the name that the browser gives it."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def degrees(places) -> list[list[float]]:
    from dowsax.geo.local import LocalCoordinates

    return LocalCoordinates((52.1, 5.1)).to_degrees(places).tolist()


def test_a_report_opens_by_itself(open_page, browser, walked, tmp_path):
    """From the disk, without the console: its heading and its pictures, and nothing asked for elsewhere."""
    path = downloaded(open_page(f"#/m/{walked}"), "Report", tmp_path)
    assert path.suffix == ".html"
    context = browser.new_context(offline=True)
    page, asked, faults = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: faults.append(said.text))
    page.goto(path.as_uri())
    assert "walked" in page.locator("h1").inner_text()
    pictures = page.locator("img, svg")
    assert pictures.count() >= 1
    assert page.evaluate("Array.from(document.images).every((one) => one.naturalWidth > 0)")
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert faults == []
    context.close()


def test_geojson_and_kml_have_the_readings_where_they_were_taken(open_page, walked, tmp_path):
    """Longitude first, as both ask for; to a tenth of a metre, a millionth of a degree."""
    page = open_page(f"#/m/{walked}")
    body = json.loads(downloaded(page, "GeoJSON", tmp_path).read_text())
    points = [item["geometry"] for item in body["features"] if item["geometry"]["type"] == "Point"]
    for latitude, longitude in degrees(PLACES):
        assert any(
            point["coordinates"][:2] == pytest.approx([longitude, latitude], abs=1e-6) for point in points
        )
    page.locator("section:has(#export-title) .good").wait_for()
    tree = ElementTree.parse(downloaded(page, "KML", tmp_path))
    texts = [element.text.strip() for element in tree.iter(f"{KML}coordinates")]
    shown = [tuple(map(float, place.split(",")[:2])) for text in texts for place in text.split()]
    for latitude, longitude in degrees(PLACES):
        assert any(place == pytest.approx((longitude, latitude), abs=1e-6) for place in shown)


def test_a_plan_goes_to_the_next_place(open_page, console, walked, tmp_path):
    """Its last waypoint is the next reading."""
    plan = json.loads(downloaded(open_page(f"#/m/{walked}"), "QGroundControl", tmp_path).read_text())
    items = plan["mission"]["items"]
    [[latitude, longitude]] = degrees([console.get(f"/missions/{walked}/snapshots/3")["next"]])
    assert items[-1]["params"][4:6] == pytest.approx([latitude, longitude], abs=1e-6)


def test_readings_that_were_exported_can_be_uploaded(open_page, console, walked, real, tmp_path):
    """The CSV of one mission is a survey for another at the same place, to the millimetre."""
    path = downloaded(open_page(f"#/m/{walked}"), "CSV", tmp_path)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [float(row["value"]) for row in rows] == [1.0, 2.0, 3.0]
    page = open_page(f"#/m/{real}")
    page.set_input_files("#survey-file", path)
    page.locator(".form-message.good", has_text="Readings: 3 new, 0 known.").wait_for()
    snapshots = console.get(f"/missions/{real}/snapshots")
    for snapshot, place, value in zip(snapshots, PLACES, (1.0, 2.0, 3.0), strict=True):
        assert snapshot["reading"]["position"] == pytest.approx(place, abs=1e-3)
        assert snapshot["reading"]["value"] == value
