"""The summary in sentences: of the fit, the track, and the digits of intervals."""

import numpy as np
import pytest
from made_findings import made_findings, made_posterior

from dowsax.report.summary import fit, format_interval, parameters, readings


def with_fit(share, **changes):
    return made_findings(posterior=made_posterior(made_findings().posterior.samples, fit=share), **changes)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.4, "No misfit is seen: nothing in the errors of the readings is unusual for a right model."),
        (1.0, "No misfit is seen: nothing in the errors of the readings is unusual for a right model."),
        (
            0.046,
            "The fit is borderline: the survey fits worse than about 95 of 100 surveys of a right",
        ),
        (0.001, "No source explains the readings: by chance a right model would fit so badly about 1"),
    ],
)
def test_the_fit_in_words(share, words):
    assert fit(with_fit(share)).startswith(words)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.4, "Reading by reading no misfit is seen, but mind the warning above."),
        (
            0.046,
            "The fit is borderline: the survey fits worse than about 95 of 100 surveys of a",
        ),
    ],
)
def test_the_fit_does_not_contradict_the_answer(share, words):
    """Readings may fit one by one where the whole survey errs, or where the reversed wind fits better."""
    assert fit(with_fit(share, caution="The wind looks reversed.")).startswith(words)


def test_fixed_sensors_have_no_track():
    moving, fixed = made_findings(), made_findings(has_track=False)
    assert "Length of the track: " in " ".join(readings(moving))
    assert "Length of the track" not in " ".join(readings(fixed))
    assert (len(moving.track), len(fixed.track)) == (len(moving.values), 0)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((1.2345, 2.3456, 3.4567), "2.35 (95 %: 1.23 to 3.46)"),
        ((1.9987, 2.0001, 2.0014), "2 (95 %: 1.999 to 2.001)"),
        ((1.99987, 2.00002, 2.00011), "2 (95 %: 1.9999 to 2.0001)"),
        ((2.000001, 2.000002, 2.000003), "2 (95 %: 2 to 2)"),
        ((2.0, 2.0, 2.0), "2 (95 %: 2 to 2)"),
        ((48211.0, 48213.0, 48216.0), "48,210 (95 %: 48,210 to 48,220)"),
    ],
)
def test_the_ends_of_an_interval_differ(numbers, words):
    """To the digits at which they do, from 3 to 6."""
    assert format_interval(*numbers) == words


def test_a_narrow_background_has_an_interval():
    samples = made_findings().posterior.samples.copy()
    samples[:, 3] = np.linspace(1.998, 2.002, len(samples))
    (words,) = (
        sentence
        for sentence in parameters(made_findings(posterior=made_posterior(samples)), main=False)
        if sentence.startswith("Background")
    )
    assert words == "Background: 2 ppm (95 %: 1.998 to 2.002)."
