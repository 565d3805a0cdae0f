"""Findings of two sources: every output has both, and how sure their number is."""

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from made_findings import AREA, made_findings, made_posterior

from dowsax import viz
from dowsax.report.export import geojson, kml, posterior_table
from dowsax.report.export.qgc import qgc_plan
from dowsax.report.findings import Rule, regions_of
from dowsax.report.numbers import summary_numbers
from dowsax.report.summary import evidence, summary_text
from dowsax.world import Parameter

CENTRES = np.array([[40.0, 70.0], [120.0, 60.0]])
SPREAD_M = 0.4
NAMES = ("x1", "y1", "q1", "x2", "y2", "q2")


@pytest.fixture(scope="module")
def findings():
    random = np.random.default_rng(4)
    places = CENTRES[None] + SPREAD_M * random.normal(size=(800, 2, 2))
    strengths = np.array([2.0, 0.5]) + 0.05 * random.normal(size=(800, 2))
    samples = np.concatenate([places, strengths[:, :, None]], axis=2).reshape(800, 6)
    made = made_posterior(samples[:, :4])
    fall = np.repeat(made.trace.std[:, :1], 6, axis=1)
    posterior = replace(
        made,
        parameters=tuple(Parameter(name, "m", f"meaning of {name}") for name in NAMES),
        samples=samples,
        trace=replace(made.trace, mean=fall, std=fall),
        source_columns=((0, 1, 2), (3, 4, 5)),
        number_probabilities={1: 0.01, 2: 0.96, 3: 0.03},
    )
    bounds = (np.zeros(6), np.full(6, 1e3))
    return made_findings(
        posterior=posterior, regions=regions_of(posterior, AREA), prior_interval=bounds, rule=Rule(3.0, 0.9)
    )


def test_the_summary_names_each_source_and_their_number(findings):
    text = summary_text(findings)
    assert findings.status == "located"
    assert "Located: 2 sources" in text
    assert "Source 1: " in text
    assert "Source 2: " in text
    assert "probability of 0.96; there may be one more, with a probability of 0.03" in text


def test_the_evidence_says_what_is_compared(findings):
    """With none at all; another number is compared only where it was thought possible."""
    words = evidence(findings)
    assert words[0].endswith("times likelier with 2 sources than without.")
    assert len(words) == 1
    fixed = evidence(replace(findings, posterior=replace(findings.posterior, number_probabilities={})))
    assert fixed[0] == words[0]
    assert fixed[1].startswith("That compares 2 sources with none at all.")
    assert 'sources = "1-2"' in fixed[1]


def test_the_numbers_have_each_source(findings):
    numbers = summary_numbers(findings)
    for source, centre in zip(numbers["sources"], CENTRES, strict=True):
        assert np.linalg.norm([source["x"] - centre[0], source["y"] - centre[1]]) < 5 * SPREAD_M / np.sqrt(
            800
        )
        # Of a round normal distribution 95 % lie within 2.45 σ.
        assert source["radius_95"] == pytest.approx(2.45 * SPREAD_M, rel=0.1)
        assert source["latitude"] == pytest.approx(findings.degrees(centre[None])[0, 0], abs=1e-5)
    assert numbers["sources"][0]["quantiles"]["q"]["0.5"] == pytest.approx(2.0, abs=0.02)
    assert numbers["number_probabilities"] == {"1": 0.01, "2": 0.96, "3": 0.03}
    assert numbers["position"]["radius_95"] == numbers["sources"][0]["radius_95"]
    assert "sources" not in summary_numbers(made_findings())


def test_maps_have_each_source(findings):
    features = json.loads(geojson(findings))["features"]
    estimates = [each for each in features if each["properties"]["what"] == "estimate"]
    assert [each["properties"]["source"] for each in estimates] == [1, 2]
    assert estimates[0]["geometry"] != estimates[1]["geometry"]
    names = [name.text for name in ElementTree.fromstring(kml(findings)).iter() if name.tag.endswith("name")]
    assert {"Estimate 1", "Estimate 2"} <= set(names)
    assert len(findings.regions[0.95].patches) == 2
    viz.survey_figure(findings)
    assert "2 sources" in viz.html_report(findings)


def test_a_plan_flies_to_each_source(findings):
    found = replace(findings, waypoints=np.zeros((0, 2)), outcome="found", no_go=(), geofence=())
    items = json.loads(qgc_plan(found))["mission"]["items"]
    flown = {(round(item["params"][4], 5), round(item["params"][5], 5)) for item in items}
    for source in findings.sources:
        latitude, longitude = findings.degrees(source.position[None])[0]
        assert (round(latitude, 5), round(longitude, 5)) in flown


def test_the_table_has_degrees_of_each_source(findings):
    rows = list(csv.DictReader(io.StringIO(posterior_table(findings))))
    assert {"latitude1", "longitude1", "latitude2", "longitude2", *NAMES} <= set(rows[0])
