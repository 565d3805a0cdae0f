"""`dowsax locate --site --out`: a survey in degrees in, a folder that agrees with itself out."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from dowsax.geo.local import LocalCoordinates

ORIGIN = (52.1, 5.1)
SITE = """
name = "Yard"
[area]
low = [5.0, 5.0]
high = [20.0, 20.0]
origin = [52.1, 5.1]
outside = "allow"
[[geofence]]
corners = [[-2.0, -2.0], [25.0, -2.0], [25.0, 25.0], [-2.0, 25.0]]
[field]
kind = "temperature"
"""
# The filter that compiles fastest; what is tested here is not the belief.
FILTER = ("--column", "value=reading", "--preset", "plain", "--particles", "4096")
PLACES = np.array([[0.0, 10.0], [3.0, 10.0], [6.0, 10.0], [8.0, 10.0], [10.0, 10.0], [11.0, 10.0]])
VALUES = (0.031, 0.111, 0.451, 1.318, 5.134, 14.33)
FILES = {
    "summary.txt",
    "summary.json",
    "result.geojson",
    "result.kml",
    "posterior.csv",
    "map.png",
    "report.html",
}


@pytest.fixture
def site_file(tmp_path):
    def write(text=SITE):
        path = tmp_path / "site.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def drone_file(tmp_path):
    """The six readings as a logger on a drone writes them."""

    def write(values=VALUES, header="latitude,longitude,altitude,reading"):
        degrees = LocalCoordinates(ORIGIN).to_degrees(PLACES)
        rows = [
            f"{latitude:.9f},{longitude:.9f},1.5,{value}"
            for (latitude, longitude), value in zip(degrees, values, strict=True)
        ]
        path = tmp_path / "drone.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    return write


def test_the_folder_holds_everything_and_agrees_with_itself(dowsax_command, site_file, drone_file, tmp_path):
    """The same estimate in every file, in metres and degrees to centimetres; the screen shows the summary."""
    words = ("locate", drone_file(), "--site", site_file(), *FILTER)
    out = tmp_path / "results" / "first"
    code, stdout, stderr = dowsax_command(*words, "--out", out)
    assert (code, stderr) == (0, "")
    assert stdout.startswith((out / "summary.txt").read_text())
    assert stdout.splitlines()[-1] == f"The results are in {out}"
    assert FILES <= {path.name for path in out.iterdir()} <= FILES | {"posterior.nc"}

    numbers = json.loads((out / "summary.json").read_text())
    place = np.array([numbers["position"]["x"], numbers["position"]["y"]])
    degrees = np.array([numbers["position"]["latitude"], numbers["position"]["longitude"]])
    np.testing.assert_allclose(LocalCoordinates(ORIGIN).to_metres(*degrees)[0], place, atol=0.01)
    features = json.loads((out / "result.geojson").read_text())["features"]
    estimate = next(each for each in features if each["properties"]["what"] == "estimate")
    np.testing.assert_allclose(estimate["geometry"]["coordinates"], degrees[::-1], atol=1e-7)
    readings = [
        each["geometry"]["coordinates"] for each in features if each["properties"]["what"] == "reading"
    ]
    np.testing.assert_allclose(
        LocalCoordinates(ORIGIN).to_metres(*np.transpose(readings)[::-1]), PLACES, atol=0.01
    )
    assert "Estimate" in {each.text for each in ElementTree.parse(out / "result.kml").iter() if each.text}
    with (out / "posterior.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["weight"]) * float(row["x"]) for row in rows) == pytest.approx(place[0], abs=1e-3)
    assert (out / "map.png").read_bytes().startswith(b"\x89PNG")
    assert numbers["verdict"] in (out / "report.html").read_text()

    # The source is near the last reading, and the readings are far above none at all.
    assert np.linalg.norm(place - [12.0, 10.0]) < numbers["position"]["radius_95"] + 1
    assert numbers["log_evidence_for_a_source"] > 3
    assert f"was not measured: `dowsax rehearse {tmp_path / 'site.toml'}` does" in stdout

    again = dowsax_command(*words, "--json", "--plot", tmp_path / "map.svg")
    assert json.loads(again.stdout) == numbers
    assert (tmp_path / "map.svg").exists()


def test_netcdf_gives_back_the_draws(tmp_path):
    arviz = pytest.importorskip("arviz")
    from made_findings import made_findings

    from dowsax.cli.locate import write_results

    findings = made_findings()
    assert write_results(findings, tmp_path) == []
    data = arviz.from_netcdf(tmp_path / "posterior.nc")
    assert set(data.posterior.data_vars) == set(findings.posterior.names)
    error = findings.posterior.std[0] / len(findings.posterior.weights) ** 0.5
    assert float(data.posterior["x"].mean()) == pytest.approx(findings.estimate[0], abs=5 * error)


def test_what_cannot_be_written_is_said(tmp_path, monkeypatch):
    """Without ArviZ and without degrees all the rest is written."""
    from made_findings import made_findings

    from dowsax.cli.locate import write_results

    findings = made_findings(coordinates=LocalCoordinates())

    monkeypatch.setattr("dowsax.extras.has_extra", lambda extra: extra != "arviz")
    notes = write_results(findings, tmp_path)
    assert "No result.kml" in notes[0]
    assert "dowsax[arviz]" in notes[1]
    assert {path.name for path in tmp_path.iterdir()} == FILES - {"result.kml"}


def test_either_a_field_or_a_site(complaint, site_file, drone_file):
    path, site = drone_file(), site_file()
    assert "either --field" in complaint("locate", path)
    assert "either --field" in complaint("locate", path, "--field", "gas", "--site", site)
    assert "go with --site" in complaint("locate", path, "--field", "gas", "--column", "value=reading")


def test_bad_words_and_files_are_one_line(complaint, site_file, drone_file, tmp_path):
    path, site = drone_file(), site_file()
    assert "takes name=text" in complaint("locate", path, "--site", site, "--column", "reading")
    assert "site.toml" in complaint("locate", path, "--site", site_file(SITE.replace("temperature", "heat")))
    assert "nowhere.toml" in complaint("locate", path, "--site", tmp_path / "nowhere.toml")
    (tmp_path / "taken").write_text("")
    words = ("--site", site_file(), *FILTER, "--out", tmp_path / "taken" / "out")
    assert "Cannot make the folder" in complaint("locate", path, *words)


def test_a_reading_that_nothing_explains_is_named_by_its_line(complaint, site_file, drone_file):
    path = drone_file((*VALUES[:3], 1e25, *VALUES[4:]))
    message = complaint("locate", path, "--site", site_file(), *FILTER)
    assert f"{path}, line 5" in message
