"""A mission of the console is one of the command line: its log exports as the console exports it."""

import csv
import io
import json
import re

import pytest


@pytest.fixture(scope="module")
def stepped(begin, client):
    """A simulated mission of four readings, by its id."""
    mission = begin(type="simulated", seed=11, name="stepped")["id"]
    for _ in range(4):
        assert client.post(f"/api/missions/{mission}/control", json={"action": "step"}).status_code == 200
    return mission


def test_the_log_of_a_simulation_is_exported_as_by_the_console(stepped, client):
    """The same estimate and regions to the last digit: one belief, from the prior of the simulation."""
    from dowsax.cli.export import _export_texts

    log = client.app.state.console.store.log_path(stepped)
    by_hand = json.loads(_export_texts(log, "geojson", altitude=None, hold=None)[""])
    by_console = client.get(f"/api/missions/{stepped}/export?to=geojson").json()
    assert len(by_hand["features"]) == len(by_console["features"])
    for one, other in zip(by_hand["features"], by_console["features"], strict=True):
        assert one["geometry"] == other["geometry"]


def test_regions_stay_where_the_source_can_be(stepped, client):
    """Of a simulation the inner part of the square, on the page and in what is exported."""
    snapshot = client.get(f"/api/missions/{stepped}/snapshots/2").json()
    corners = [corner for rings in snapshot["regions"]["95"] for ring in rings for corner in ring]
    assert all(5 <= number <= 20 for corner in corners for number in corner)
    features = client.get(f"/api/missions/{stepped}/export?to=geojson").json()["features"]
    shapes = [item["geometry"] for item in features if item["geometry"]["type"] == "MultiPolygon"]
    assert shapes
    for polygon in (polygon for shape in shapes for polygon in shape["coordinates"]):
        assert all(5 <= number <= 20 for ring in polygon for corner in ring for number in corner)


def test_an_id_is_no_formula_in_a_table(begin, client):
    """And is the same again for who uploads the table to another mission."""
    mission = begin()["id"]
    body = {"position": [2.0, 3.0], "value": -0.5, "id": "=1+1", "sensor": "@left"}
    assert client.post(f"/api/missions/{mission}/readings", json=body).status_code == 200
    table = client.get(f"/api/missions/{mission}/export?to=csv").content
    [row] = csv.DictReader(io.StringIO(table.decode()))
    assert (row["id"], row["sensor"], row["value"]) == ("'=1+1", "'@left", "-0.5")
    other, kind = begin()["id"], {"content-type": "text/csv"}
    assert client.post(f"/api/missions/{other}/survey", content=table, headers=kind).json()["new"] == 1
    assert client.get(f"/api/missions/{other}/snapshots/1").json()["reading"]["sensor"] == "@left"


def test_a_table_has_the_form_in_which_readings_were_given(begin, client):
    """By the API or in a file, which at this site leaves winds out; uploaded, it is the same readings."""
    kind = {"content-type": "text/csv"}
    one, other = begin()["id"], begin()["id"]
    body = {"position": [2.1, 3.3], "value": 0.7, "wind_speed": 3.3, "wind_from": 271, "time": "09:05:07.1"}
    assert client.post(f"/api/missions/{one}/readings", json=body).status_code == 200
    table = client.get(f"/api/missions/{one}/export?to=csv").content
    [row] = csv.DictReader(io.StringIO(table.decode()))
    assert (row["time"], row["wind_speed"], row["wind_from"]) == ("09:05:07.1", "3.3", "271.0")
    assert client.post(f"/api/missions/{other}/survey", content=table, headers=kind).json()["new"] == 1
    first, second = (client.get(f"/api/missions/{id}/snapshots/1").json()["reading"] for id in (one, other))
    assert second | {"id": None, "wind": first["wind"]} == first
    [again] = csv.DictReader(io.StringIO(client.get(f"/api/missions/{other}/export?to=csv").text))
    del again["id"]
    assert row.items() >= again.items()


def test_the_report_has_the_intervals_of_the_page(stepped, client):
    """Mean and 95 % interval of every unknown in the four figures of the report; regions of 50 and 95 %."""
    report = client.get(f"/api/missions/{stepped}/export?to=html").text
    estimate = client.get(f"/api/missions/{stepped}/snapshots/4").json()["estimate"]
    assert "<th class=number>95 % from</th><th class=number>to</th>" in report
    rows = re.findall(
        r"<tr><td>[^<]*\((\w+)\)</td><td>[^<]*</td>((?:<td class=number>[^<]*</td>){4})", report
    )
    table = {name: [float(cell) for cell in re.findall(r">([^<]+)<", cells)] for name, cells in rows}
    assert set(estimate["names"]) <= table.keys()
    for name, *numbers in zip(*(estimate[each] for each in ("names", "mean", "low", "high")), strict=True):
        mean, _, low, high = table[name]
        assert [mean, low, high] == pytest.approx(numbers, rel=6e-4, abs=1e-9)
    assert "50 % region" in report
    assert "95 % region" in report
    assert "90 %" not in report
