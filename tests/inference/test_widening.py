"""Beliefs √κ times as wide: by how much, in which coordinates, and never beyond the prior."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from dowsax.inference.presets import PLAIN
from dowsax.inference.summaries import credible_radius, interval, mean
from dowsax.inference.widening import Widening
from dowsax.world import UniformBox, benchmark_model, compose

NUM_PARTICLES = 2000
SIDE_M = 100.0
PLUME = compose("gas-plume", UniformBox((0.0, 0.0), (SIDE_M, SIDE_M)), wind=(2.0, 1.0), background=None)
STRENGTH = 2


def belief_in(model, particles):
    """A belief of these particles, equally likely."""
    preset = PLAIN.with_particles(len(particles)).with_horizon(1)
    return replace(preset.build(model).init(jax.random.key(0)), particles=particles)


def draws(model, key):
    return jax.vmap(model.prior.sample)(jax.random.split(key, NUM_PARTICLES))


def test_a_narrow_belief_is_wider_by_the_root_of_the_count(key):
    """The disc by √κ about the same mean; the interval of a strength by √κ in its logarithm."""
    middle, kappa = draws(PLUME, key)[0], 4.0
    noise = jax.random.normal(key, (NUM_PARTICLES, len(middle)))
    narrow = jnp.tile(middle, (NUM_PARTICLES, 1))
    narrow = narrow.at[:, :2].set(50.0 + noise[:, :2])
    narrow = narrow.at[:, STRENGTH].set(1e3 * jnp.exp(0.1 * noise[:, STRENGTH]))
    belief = belief_in(PLUME, narrow)
    wide = Widening.of(PLUME.prior)(belief, kappa)
    np.testing.assert_allclose(mean(wide)[:2], mean(belief)[:2], rtol=1e-4)
    np.testing.assert_allclose(credible_radius(wide, 0.95), 2 * credible_radius(belief, 0.95), rtol=1e-3)
    before, after = (np.log(np.array(interval(one, 0.95))[:, STRENGTH]) for one in (belief, wide))
    centre = np.log(1e3) + float(jnp.mean(0.1 * noise[:, STRENGTH]))
    np.testing.assert_allclose(after - centre, 2 * (before - centre), rtol=1e-3)


@pytest.mark.parametrize("model", [PLUME, benchmark_model("temperature")], ids=["site", "benchmark"])
def test_one_reading_for_one_changes_nothing(model, key):
    belief = belief_in(model, draws(model, key))
    same = Widening.of(model.prior)(belief, 1.0)
    np.testing.assert_array_equal(same.particles, belief.particles)


def test_what_was_not_learnt_stays_the_prior(key):
    """Uniform draws in the area are uniform still, and nothing leaves it: Kolmogorov and Smirnov's test."""
    wide = Widening.of(PLUME.prior)(belief_in(PLUME, draws(PLUME, key)), 4.0)
    for axis in (0, 1):
        assert kstest(np.asarray(wide.particles[:, axis]) / SIDE_M, "uniform").pvalue > 1e-4
    assert bool(jnp.all(jnp.isfinite(jax.vmap(PLUME.prior.log_prob)(wide.particles))))


def test_particles_beyond_the_range_of_draws_are_kept(key):
    """A normal prior has no end: what the readings say counts, however unlikely it was."""
    model = benchmark_model("temperature")
    particles = draws(model, key).at[:, 0].set(1e3 + jax.random.normal(key, (NUM_PARTICLES,)))
    wide = Widening.of(model.prior)(belief_in(model, particles), 4.0)
    assert float(jnp.max(wide.particles[:, 0])) <= float(jnp.max(particles[:, 0])) * (1 + 1e-6)
    assert bool(jnp.all(jnp.isfinite(wide.particles)))
