"""A simulated survey whose wind is written the wrong way round: it is said, and so is that nothing fits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_plume_sites import SITE

from dowsax.inference.redundancy import max_redundancy
from dowsax.report.locate_survey import locate_survey
from dowsax.site import build_model, parse_site
from dowsax.survey.survey import Survey
from dowsax.types import Station

SOURCE = (40.0, 40.0)
COLUMNS, ROWS = 12, 8


def survey(key, wind):
    """A grid of readings in a wind from the west, and the wind as it is written."""
    x, y = np.meshgrid(np.linspace(5, 115, COLUMNS), np.linspace(5, 75, ROWS))
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    number = len(places)
    blows = np.tile([3.0, 0.0], (number, 1))
    stations = Station(
        jnp.asarray(places, jnp.float32),
        wind=jnp.asarray(blows, jnp.float32),
        altitude=jnp.full(number, 1.5, jnp.float32),
    )
    theta = jnp.array([*SOURCE, 1.0, 0.0], jnp.float32)
    values = np.asarray(jax.jit(build_model(parse_site(SITE)).simulate)(key, theta, stations), np.float64)
    return Survey(places, values, np.arange(number) + 2, wind=wind * blows, altitude=np.full(number, 1.5))


def findings(key, wind):
    return locate_survey(survey(key, wind), parse_site(SITE), preset="default", particles=256)


@pytest.mark.slow
def test_a_flipped_wind_is_noticed_however_many_readings_err_as_one(key, monkeypatch):
    """In the wrong wind all readings may err together; a dozen are left to tell it, and that nothing fits."""
    right = findings(key, 1.0)
    assert "agrees with the readings" in " ".join(right.notes)
    assert right.caution == ""
    assert np.hypot(*(right.estimate - SOURCE)) < right.radius
    number = COLUMNS * ROWS
    monkeypatch.setattr("dowsax.inference.locate.estimate_redundancy", lambda *_: float(number))
    flipped = findings(key, -1.0)
    assert flipped.posterior.redundancy == max_redundancy(number) == 8
    assert "The wind looks reversed" in flipped.caution
    assert (
        f"The model does not fit the survey: {number} of its {number} readings err as one" in flipped.caution
    )
    assert "the direction of the wind, a second source and the background" in flipped.caution
    # Without the limit a single reading is left, and nothing is noticed.
    monkeypatch.setattr("dowsax.inference.locate.max_redundancy", float)
    assert "looks reversed" not in findings(key, -1.0).caution
