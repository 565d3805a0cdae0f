"""Findings in words and numbers: the verdict for each state of knowledge, and numbers that agree with it."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from made_findings import CENTRE, SPREAD, made_findings, made_posterior

from dowsax.geo.local import LocalCoordinates
from dowsax.inference.excess_noise import UsualNoise
from dowsax.inference.locate import locate
from dowsax.report.findings import Rule, prior_interval
from dowsax.report.locate_survey import misfit_cautions
from dowsax.report.numbers import summary_numbers
from dowsax.report.summary import (
    evidence,
    format_wind,
    parameters,
    summary_text,
    verdict,
    where,
)
from dowsax.world import PARAMETERS, Parameter, benchmark_model


def two_places():
    random = np.random.default_rng(1)
    here = CENTRE + SPREAD * random.normal(size=(700, 4))
    there = CENTRE + [60.0, 30.0, 0.0, 0.0] + SPREAD * random.normal(size=(300, 4))
    return made_findings(samples=np.concatenate([here, there]))


def test_a_located_source_is_given_in_degrees_with_its_radius():
    findings = made_findings()
    words = verdict(findings)
    assert findings.status == "located"
    latitude, longitude = findings.coordinates.to_degrees(findings.estimate[None])[0]
    assert f"{latitude:.6f}° N, {-longitude:.6f}° W" in words
    assert f"within {findings.radius:.3g} m" in words


@pytest.mark.parametrize(
    ("log_odds", "radius", "status", "words"),
    [
        (math.log(21), 30.0, "located", "Located: the source is at "),
        (math.log(19), 30.0, "likely", "; and the readings are only 19 times likelier with a source"),
        (
            math.log(21),
            5.0,
            "likely",
            ", where 5 m is asked for (radius in [search] of the site). Further",
        ),
        (math.log(5), 5.0, "likely", "(radius in [search] of the site); and the readings are only 5 times"),
        (math.log(2.7), 30.0, "no-evidence", "Cannot tell"),
    ],
)
def test_located_is_said_by_the_rule_and_on_strong_evidence_alone(log_odds, radius, status, words):
    """Odds of 20 to 1, and the site's radius held with its probability; less is likely, or no evidence.

    Of a belief with deviations of 3 and 5 m all but a thousandth lies within 30 m, and half within 5 m.
    """
    findings = made_findings(evidence=log_odds, rule=Rule(radius, 0.95))
    text = verdict(findings)
    assert findings.status == status
    assert words in text
    assert findings.is_sure == (status == "located") == text.startswith("Located")
    assert text.startswith("Likely near ") == (status == "likely")
    assert ("but not settled" in text) == (status == "likely")


def test_the_rule_is_held_by_what_lies_within_the_radius():
    """Just enough, and just not enough, by the very probability."""
    findings = made_findings()
    share = float(findings.posterior.probability_within(8.0))
    for change, status in ((-1e-9, "located"), (1e-9, "likely")):
        assert made_findings(rule=Rule(8.0, share + change)).status == status


def test_without_degrees_it_is_given_in_metres():
    assert " m east, 42." in verdict(made_findings(coordinates=LocalCoordinates()))


def test_two_places_are_listed_with_their_probabilities():
    findings = two_places()
    assert [place.probability for place in findings.places] == pytest.approx([0.67, 0.28], abs=0.03)
    np.testing.assert_allclose(
        findings.places[1].position, CENTRE[:2] + np.array([60, 30]), atol=5 * 5 / 300**0.5
    )
    assert verdict(findings).startswith("The source is in one of 2 places")
    words = " ".join(where(findings))
    assert "Place 1, with a probability of 6" in words
    assert "Place 2, with a probability of 2" in words
    assert "standard deviation" not in words
    # A normal cloud has 95 % within 2.45 standard deviations; the region cuts its rim.
    for place in findings.places:
        assert 1.9 * SPREAD[0] < place.radius < 2.6 * SPREAD[1]
    wanted = replace(findings, rule=Rule(10.0, 0.95))
    assert verdict(wanted).startswith("Not settled: the source is likely in one of 2 places: near ")


def test_a_wide_belief_cannot_tell_where():
    random = np.random.default_rng(2)
    samples = np.concatenate([random.uniform([0, 0], [160, 100], (1000, 2)), np.ones((1000, 2))], axis=1)
    findings = made_findings(samples=samples)
    assert findings.status == "inconclusive"
    assert "95 % region still covers" in verdict(findings)
    assert findings.covered == pytest.approx(0.95, abs=0.05)


def test_no_evidence_and_no_fit_are_said_first():
    assert "do not show that there is a source" in verdict(made_findings(evidence=-2.0))
    bad = made_posterior(made_findings().posterior.samples, fit=0.001)
    assert "Not to be trusted" in verdict(made_findings(posterior=bad))


def test_with_excess_noise_nothing_is_located():
    """The noise is twice of what its prior calls usual."""
    noise = Parameter("noise_ratio", "", "noise as a share of what the source adds")
    findings = made_findings()
    posterior = replace(
        findings.posterior,
        parameters=(*findings.posterior.parameters[:3], noise),
        usual_noise=(UsualNoise(noise, 3, 0.04, 0.6, 0.6),),
    )
    loud = made_findings(posterior=posterior)
    assert (findings.status, loud.status) == ("located", "likely")
    assert not loud.is_sure
    (caution,) = misfit_cautions(posterior, uses_wind=False)
    assert "adds is 1.9, where 0.04 to 0.6 is usual. Something may stand between" in caution
    assert misfit_cautions(findings.posterior, uses_wind=False) == []


def test_a_caution_comes_before_the_answer():
    text = verdict(made_findings(caution="The wind looks reversed."))
    assert text.startswith(
        "The wind looks reversed. As it stands: with 95 % probability the source is within"
    )
    assert "the source is at" not in text


def test_a_rate_that_may_be_far_larger_is_given_by_its_median():
    """Half of the samples of a strength from 1 to 1,024 are below 32; their mean is 148."""
    samples = made_findings().posterior.samples.copy()
    samples[:, 2] = np.geomspace(1.0, 1024.0, len(samples))
    text = parameters(made_findings(posterior=made_posterior(samples)), main=True)[0]
    assert re.search(r": 3[12](\.\d+)? ", text)


@pytest.mark.parametrize(
    ("log_odds", "words"),
    [
        (8.0, "Very strong evidence for a source: the readings are 2,980 times likelier with"),
        (-8.0, "Very strong evidence against a source: the readings are 2,980 times likelier without"),
        (3.5, "Strong evidence for"),
        (1.5, "Some evidence for"),
        (0.2, "do not tell a source from none"),
        (230.26, "more than a million times likelier with"),
        (1e6, "Nothing but a source"),
        (None, "not computed"),
    ],
)
def test_evidence_in_words(log_odds, words):
    assert words in evidence(made_findings(evidence=log_odds))[0]


def test_a_stuck_sensor_is_no_evidence_that_there_is_no_source():
    stuck = made_findings(evidence=-20.0, is_stuck=True, caution="The sensor reads 7 in all: is it stuck?")
    assert verdict(stuck) == (
        "The sensor reads 7 in all: is it stuck? Cannot tell: the readings do not show that there is a "
        "source here."
    )
    assert evidence(stuck) == ["No evidence against a source either: a stuck sensor says nothing about that."]
    assert "evidence for a source" in evidence(replace(stuck, evidence=8.0))[0]


def test_what_is_likely_comes_with_what_to_do():
    """Not for a mission, whose advice says it."""
    likely = made_findings(rule=Rule(5.0, 0.95), settings={"site": "rad.toml"})
    assert verdict(likely).endswith(
        "(radius in [search] of the site). Further readings near there may settle it: `dowsax advise --site "
        "rad.toml --log LOG` says where."
    )
    assert "dowsax advise" not in verdict(replace(likely, outcome="searching"))


def test_what_was_not_learnt_is_named():
    """The background's interval is the prior's; all else is narrower."""
    findings = made_findings()
    assert findings.not_learnt == ("b",)
    text = summary_text(findings)
    assert "  The readings say little or nothing about these; what is reported is the prior:\n" in text
    assert "\n    - background\n" in text


def test_a_wide_interval_beside_that_of_the_prior_says_something():
    """As wide as the prior's: learnt where it lies above it, not learnt where it holds the same."""
    samples = made_findings().posterior.samples.copy()
    samples[:, 2] = np.linspace(0.0, 10.0, len(samples))
    assert "q" in made_findings(posterior=made_posterior(samples)).not_learnt
    samples[:, 2] += 8.0
    assert "q" not in made_findings(posterior=made_posterior(samples)).not_learnt


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("found", "Located: the source is at 51."),
        ("", "Located: the source is at 51."),
        ("searching", "Not sure yet: with 95 % probability the source is within "),
        ("inconclusive", "Cannot tell as closely as wanted: with 95 % probability"),
    ],
)
def test_a_mission_that_has_not_found_the_source_does_not_say_where_it_is(outcome, words):
    findings = made_findings(outcome=outcome)
    assert verdict(findings).startswith(words)
    assert findings.is_sure == words.startswith("Located")


def test_a_place_in_degrees_comes_with_its_spread_in_metres():
    first, second, *_ = where(made_findings())
    assert re.match(r"51\.200\d{3}° N, 1\.74\d{4}° W \(WGS84\), ± [\d.]+ m from west to east and ±", first)
    assert second.startswith("In metres from 51.2000000, -1.7500000: x = ")


def test_a_place_of_no_source_is_given_with_its_condition():
    assert where(made_findings(evidence=-2.0))[0].startswith("If there is a source at all")


def test_sentences_have_no_jargon():
    """No nats, no logarithms, no probability of one."""
    for evidence_, fit in ((8.0, 0.4), (-8.0, 0.4), (0.1, 0.4), (1e6, 0.4), (8.0, 1e-4)):
        posterior = made_posterior(made_findings().posterior.samples, fit=fit)
        text = summary_text(made_findings(evidence=evidence_, posterior=posterior)).lower()
        assert not re.search(r"nats|log evidence|predictive check|10\^|\b1\.00\b", text)


def test_wind_is_given_by_where_it_comes_from():
    assert format_wind(np.array([3.0, 0.0])) == "3.0 m/s from 270°"
    assert format_wind(np.array([0.0, -2.0])) == "2.0 m/s from 0°"


def test_the_text_tells_everything():
    text = summary_text(replace(made_findings(), notes=("2 rows have no value, left out.",), seed=7))
    for part in ("release rate", "g/s", "background", "ppm", "3.", "m/s from", "50 % region", "60 readings"):
        assert part.lower() in text.lower()
    assert "2 rows have no value" in text
    assert "seed 7" in text


def test_the_numbers_agree_with_the_posterior():
    findings = made_findings()
    numbers = json.loads(json.dumps(summary_numbers(findings), allow_nan=False))
    assert numbers["position"]["x"] == pytest.approx(findings.posterior.mean[0])
    assert [each["mean"] for each in numbers["parameters"]] == pytest.approx(findings.posterior.mean.tolist())
    assert numbers["regions"][1]["area"] == pytest.approx(findings.regions[0.95].area)
    assert numbers["verdict"] == verdict(findings)
    back = findings.coordinates.to_metres(numbers["position"]["latitude"], numbers["position"]["longitude"])
    np.testing.assert_allclose(back[0], findings.estimate, atol=1e-3)


def test_the_prior_interval_is_that_of_the_prior():
    """The benchmark's box from 5 to 20 m: 90 % of it, within five standard errors of 2,000 draws."""
    low, high = prior_interval(
        benchmark_model("gas"), locate(np.zeros((1, 2)) + 9, [1.0], "gas", particles=16)
    )
    assert len(low) == len(PARAMETERS)
    error = 15 * (0.05 * 0.95 / 2000) ** 0.5
    np.testing.assert_allclose(low[:2], 5.75, atol=5 * error)
    np.testing.assert_allclose(high[:2], 19.25, atol=5 * error)


def test_positions_and_readings_must_match():
    with pytest.raises(ValueError, match="one reading for each position"):
        made_findings(values=np.ones(3))
