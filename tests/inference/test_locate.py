"""The answer of `locate`: shapes, determinism, and numbers that agree with its own weighted samples."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dowsax
from dowsax.inference import PRESETS
from dowsax.types import Station
from dowsax.world import benchmark_model

NUM_PARTICLES = 64
DISTANCES = np.array([12.0, 9.0, 6.0, 4.0, 2.0, 1.0])
# A walk towards a source near (12, 10), and readings like those of a plume there.
POSITIONS = np.stack([12 - DISTANCES, np.full(6, 10.0)], axis=1)
READINGS = 20 * np.exp(-DISTANCES / 3) / DISTANCES


def located(positions=POSITIONS, readings=READINGS, seed=0):
    return dowsax.locate(positions, readings, field="temperature", particles=NUM_PARTICLES, seed=seed)


@pytest.fixture(scope="module")
def posterior():
    return located()


@pytest.fixture(scope="module")
def batch():
    return located(np.stack([POSITIONS, POSITIONS + 1, POSITIONS]), np.stack([READINGS] * 3))


def test_shapes_of_one_survey(posterior):
    assert posterior.names == ("x", "y", "q", "ux", "uy", "alpha", "lambda")
    assert posterior.samples.shape == (NUM_PARTICLES, 7)
    assert posterior.weights.shape == (NUM_PARTICLES,)
    assert posterior.mean.shape == posterior.std.shape == posterior.quantile(0.3).shape == (7,)
    assert posterior.covariance.shape == (7, 7)
    assert posterior.credible_radius(0.9).shape == posterior.log_evidence.shape == ()
    assert posterior.trace.mean.shape == posterior.trace.std.shape == (6, 7)
    assert posterior.trace.credible_radius.shape == posterior.trace.ess.shape == (6,)


def test_shapes_of_a_batch(batch):
    assert batch.samples.shape == (3, NUM_PARTICLES, 7)
    assert batch.weights.shape == (3, NUM_PARTICLES)
    assert batch.mean.shape == batch.std.shape == batch.quantile(0.3).shape == (3, 7)
    assert batch.covariance.shape == (3, 7, 7)
    assert batch.credible_radius(0.9).shape == batch.log_evidence.shape == batch.found.shape == (3,)
    assert batch.trace.mean.shape == (3, 6, 7)


def test_the_answer_is_a_distribution_in_the_support(posterior, batch):
    """Weights sum to one; every sample keeps to the prior's ranges and to λ·s ≤ 2α, up to rounding."""
    for answer in (posterior, batch):
        assert (answer.weights >= 0).all()
        np.testing.assert_allclose(answer.weights.sum(axis=-1), 1, rtol=1e-12)
        x, y, strength, wind_x, wind_y, diffusivity, length = np.moveaxis(answer.samples, -1, 0)
        assert ((x >= 5) & (x <= 20) & (y >= 5) & (y <= 20)).all()
        assert ((strength >= 9.999) & (strength <= 3000.1)).all()
        assert (length * np.hypot(wind_x, wind_y) <= 2 * diffusivity * (1 + 1e-4)).all()


def test_the_same_seed_gives_the_same_answer(posterior):
    again, other = located(), located(seed=1)
    np.testing.assert_array_equal(again.samples, posterior.samples)
    np.testing.assert_array_equal(again.weights, posterior.weights)
    assert not np.array_equal(other.samples, posterior.samples)


def test_a_survey_does_not_notice_the_others_of_its_batch(batch):
    """Survey 0 stays as it is when survey 1 changes; equal surveys in one batch have noise of their own."""
    changed = located(np.stack([POSITIONS, POSITIONS + 2, POSITIONS]), np.stack([READINGS] * 3))
    np.testing.assert_array_equal(changed.samples[0], batch.samples[0])
    assert not np.array_equal(changed.samples[1], batch.samples[1])
    assert not np.array_equal(batch.samples[2], batch.samples[0])


def test_stations_and_positions_give_the_same_answer(posterior):
    stations = Station(jnp.asarray(POSITIONS, jnp.float32))
    np.testing.assert_array_equal(located(stations).samples, posterior.samples)


def test_finds_a_source_it_walks_up_to(posterior):
    """The last reading is taken 1 m from the source: the mean is within the 99 % radius of it."""
    assert np.hypot(*(posterior.mean[:2] - (12, 10))) < posterior.credible_radius(0.99)
    assert posterior.trace.credible_radius[-1] < posterior.trace.credible_radius[0]


def test_quantiles_are_those_of_the_weighted_samples(posterior):
    """Monotone, among the samples, and with at least the asked probability at or below them."""
    shares = np.linspace(0, 1, 21)
    quantiles = np.stack([posterior.quantile(float(share)) for share in shares])
    assert (np.diff(quantiles, axis=0) >= 0).all()
    for column in range(7):
        values = posterior.samples[:, column]
        assert np.isin(quantiles[:, column], values).all()
        held = [posterior.weights[values <= quantile].sum() for quantile in quantiles[:, column]]
        assert (np.array(held) >= shares - 1e-9).all()
    low, high = posterior.interval(0.9)
    np.testing.assert_array_equal(low, posterior.quantile(0.05))
    np.testing.assert_array_equal(high, posterior.quantile(0.95))
    with pytest.raises(ValueError, match="from 0 to 1"):
        posterior.quantile(1.5)


def test_credible_radius_holds_its_probability(posterior, batch):
    """P(within r) ≥ p at r = credible_radius(p), and < p just inside it; the trace ends there."""
    for probability in (0.5, 0.9, 0.95):
        for answer in (posterior, batch):
            radius = answer.credible_radius(probability)
            offsets = np.linalg.norm(answer.samples[..., :2] - answer.mean[..., None, :2], axis=-1)
            inside = np.sum(answer.weights * (offsets <= radius[..., None]), axis=-1)
            within = np.sum(answer.weights * (offsets < radius[..., None]), axis=-1)
            assert (inside >= probability - 1e-9).all()
            assert (within < probability).all()
    # The trace is in float32, and its threshold may fall on the next particle.
    ranked = np.sort(np.linalg.norm(posterior.samples[:, :2] - posterior.mean[None, :2], axis=1))
    at = np.searchsorted(ranked, posterior.credible_radius(0.95))
    slack = 1e-3 + ranked[min(at + 1, NUM_PARTICLES - 1)] - ranked[max(at - 1, 0)]
    assert abs(posterior.trace.credible_radius[-1] - posterior.credible_radius(0.95)) <= slack
    np.testing.assert_allclose(posterior.trace.mean[-1], posterior.mean, rtol=1e-3, atol=1e-3)


def test_to_arviz_keeps_names_and_moments(posterior, batch):
    """Equally weighted draws: their mean is the weighted mean within five standard errors of one draw each.

    Systematic resampling errs by less than one draw a sample, so 5·std/√n is generous.
    """
    pytest.importorskip("arviz")
    data = posterior.to_arviz()
    assert set(data.posterior.data_vars) == set(posterior.names)
    for column, name in enumerate(posterior.names):
        draws = data.posterior[name].values
        assert draws.shape == (1, NUM_PARTICLES)
        assert np.isin(draws, posterior.samples[:, column]).all()
        error = abs(draws.mean() - posterior.mean[column])
        assert error < 5 * posterior.std[column] / NUM_PARTICLES**0.5
    assert batch.to_arviz().posterior["x"].shape == (3, NUM_PARTICLES)


def test_prints_for_people(posterior, batch):
    """A line a parameter with its unit, no line too wide for a terminal, and the verdict at the end."""
    text = repr(posterior)
    lines = text.splitlines()
    assert len(lines) == 2 + 7 + 1
    assert "6 readings" in lines[0]
    assert [line.split()[0] for line in lines[2:9]] == list(posterior.names)
    assert max(map(len, lines[:9])) <= 80
    assert lines[-1] == posterior.verdict()
    assert "3 surveys" in repr(batch)
    page = posterior._repr_html_()
    assert page.count("<tr>") == 8
    assert posterior.verdict() in page
    assert batch._repr_html_().startswith("<pre>")


def test_verdict_says_what_the_numbers_say(posterior):
    assert posterior.verdict().startswith("Located:") == bool(posterior.found)
    assert ("Contracted" in posterior.verdict()) == bool(posterior.contracted & ~posterior.found)
    assert f"{float(posterior.credible_radius(0.95)):.2f} m" in posterior.verdict()


def test_less_effort_takes_fewer_terms_and_finds_the_same():
    """A tenth of the terms for moves; means within 4 standard errors of two runs of 300 particles."""
    model, places = benchmark_model("temperature"), np.random.default_rng(2).uniform(5, 20, (24, 2))
    theta = jnp.array([12.0, 13.0, 1500.0, 1.0, 1.0, 2.0, 4.0])
    values = model.simulate(jax.random.key(4), theta, Station(jnp.asarray(places, jnp.float32)))
    config = replace(PRESETS["survey"].config, max_terms=1e6)
    preset = replace(PRESETS["survey"], config=config)
    full, quick = (
        dowsax.locate(places, values, "temperature", preset=preset, effort=share) for share in (1.0, 0.1)
    )
    assert quick.trace.evaluations.sum() < 0.5 * full.trace.evaluations.sum()
    means, spreads = zip(*((found.mean, found.std) for found in (full, quick)), strict=True)
    assert np.abs(means[0] - means[1])[:2].max() < 4 * np.sqrt(2 / 300) * max(np.max(s[:2]) for s in spreads)
