"""`dowsax export`: options of plans."""

import json

import pytest
from made_findings import made_findings

from dowsax.cli.export import with_flight
from dowsax.report.export import qgc_plan


@pytest.mark.parametrize(("altitude", "hold"), [(30.0, None), (None, 4.0), (31.0, 5.0)])
def test_altitude_and_hold_of_a_plan_are_those_given(altitude, hold):
    findings = made_findings()
    usual = json.loads(qgc_plan(findings))["mission"]["items"][-1]["params"]
    params = json.loads(qgc_plan(with_flight(findings, altitude, hold)))["mission"]["items"][-1]["params"]
    assert params[6] == (usual[6] if altitude is None else altitude)
    assert params[0] == (usual[0] if hold is None else hold)


def test_options_of_plans_are_for_plans(complaint, tmp_path):
    log = tmp_path / "mission.log"
    assert "export --to qgc" in complaint("export", log, "--to", "kml", "--altitude", "30")
    assert "must be from 0 to" in complaint("export", log, "--to", "qgc", "--hold", "-1")


def test_a_format_or_a_recording_has_to_be_asked_for(complaint, tmp_path):
    log = tmp_path / "mission.log"
    assert complaint("export", log) == "Say what to write: --to geojson, kml, qgc, csv, html, or --mcap FILE."
    words = "--mcap", tmp_path / "a.mcap", "--out", tmp_path / "a.kml"
    assert complaint("export", log, *words).startswith("--out, --altitude and --hold go with --to")
    assert "does not exist" in complaint("export", log, "--mcap", tmp_path / "a.mcap")
