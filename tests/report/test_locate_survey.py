"""From a survey to its findings: what was measured is in the model, and a wrong wind is noticed."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_plume_sites import SITE
from scipy.stats import poisson

from dowsax.inference.redundancy import max_redundancy
from dowsax.report.locate_survey import build_problem, locate_survey, survey_settings
from dowsax.site import build_model, parse_site
from dowsax.survey.survey import Survey, read_survey
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


def test_what_a_survey_measures_is_in_its_model(tmp_path):
    """Against scipy: Poisson's law of the known background, and of the source times the efficiency."""
    site = parse_site(
        '[area]\nlow = [0, 0]\nhigh = [9, 9]\n[field]\nkind = "radiation"\n'
        "[noise]\nratio = 0\nshielded = 0\n[background]\nvariation = 0\n"
    )
    path = tmp_path / "survey.csv"
    path.write_text(
        "x,y,counts,live_time,bg_cps,eff\n1,2,640,60,9.5,1\n5,2,900,60,12,1.25\n9,9,290,30,9.5,1\n"
    )
    problem = build_problem(read_survey(path, site), site)
    names = [parameter.name for parameter in problem.model.prior.parameters]
    assert names == ["x", "y", "q", "attenuation", "height"]
    theta = np.array([4.0, 3.0, 20.0, 0.0, 0.5])
    means = [
        dwell * (background + 20 * efficiency / (np.sum((place - theta[:2]) ** 2) + 0.5**2 + 0.1**2))
        for place, dwell, background, efficiency in zip(
            problem.survey.positions, (60, 60, 30), (9.5, 12, 9.5), (1, 1.25, 1), strict=True
        )
    ]
    terms = jax.vmap(problem.model.log_likelihood, in_axes=(None, 0, 0))(
        jnp.asarray(theta, jnp.float32), problem.stations, jnp.asarray(problem.survey.values, jnp.float32)
    )
    np.testing.assert_allclose(terms, poisson.logpmf(problem.survey.values, means), rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "unit", "names_wind"), [("gas-plume", "ppm", True), ("level", "dBm", False)]
)
def test_the_settings_name_the_wind_only_where_it_matters(kind, unit, names_wind):
    gas = 'gas = "methane"' if kind == "gas-plume" else ""
    site = parse_site(
        f"""name = "T"
        [area]
        low = [0, 0]
        high = [9, 9]
        [field]
        kind = "{kind}"
        unit = "{unit}"
        {gas}"""
    )
    one = Survey(np.ones((1, 2)), np.ones(1), np.array([2]))
    assert ("wind" in survey_settings(site, one, "survey", 512)) == names_wind


@pytest.mark.slow
@pytest.mark.slow
def test_without_times_readings_of_one_place_count_for_little_and_the_notes_say_so(key):
    """The same fixed sensors with and without times: only without, the notes say so."""
    once, site = survey(key, 1.0), parse_site(SITE)
    chosen = np.tile(np.flatnonzero(np.arange(len(once.values)) % 8 == 3), 8)
    fixed = Survey(
        once.positions[chosen],
        once.values[chosen],
        np.arange(len(chosen)) + 2,
        wind=once.wind[chosen],
        altitude=once.altitude[chosen],
    )
    timed = replace(fixed, time=np.arange(len(chosen), dtype=float))
    notes = [
        " ".join(locate_survey(one, site, preset="default", particles=256).notes) for one in (fixed, timed)
    ]
    assert "The readings have no times" in notes[0]
    assert "no times" not in notes[1]


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
