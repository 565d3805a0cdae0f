"""Each reward against its definition, on the states of walks."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from walks import at

from dowsax.envs import REWARDS, Reward
from dowsax.inference.summaries import location_entropy
from dowsax.world import Model


class Deaf(eqx.Module):
    """A sensor whose readings have nothing to do with the field."""

    def sample(self, key, intensity, station):
        return jax.random.normal(key)

    def log_prob(self, reading, intensity, station):
        return -0.5 * reading**2 - 0.5 * jnp.log(2 * jnp.pi)


@eqx.filter_jit
def pays(reward, search, states, stopped):
    """(walks, moves) of pay."""
    before, after = (
        jax.tree.map(lambda leaf, cut=cut: leaf[:, cut], states) for cut in (slice(0, -1), slice(1, None))
    )
    return jax.vmap(jax.vmap(lambda *one: reward(search, *one)))(before, after, stopped)


@pytest.fixture(scope="module")
def never(strolls):
    return jnp.asarray(strolls.steps.terminated)


def moments(states):
    """Mean and covariance of the positions, in double precision."""
    weights = np.exp(np.asarray(states.belief.log_weights, float))
    weights /= weights.sum(-1, keepdims=True)
    places = np.asarray(states.belief.particles, float)[..., :2]
    centre = np.einsum("...n,...nd->...d", weights, places)
    offsets = places - centre[..., None, :]
    return centre, np.einsum("...n,...nd,...ne->...de", weights, offsets, offsets)


@pytest.mark.parametrize("name", REWARDS)
def test_rewards_are_finite_scalars(name, search, strolls, never):
    assert isinstance(REWARDS[name], Reward)
    paid = pays(REWARDS[name], search, strolls.states, never)
    assert paid.dtype == jnp.float32
    assert np.isfinite(paid).all()


def test_the_indicator_pays_for_stops_alone(search, strolls, never):
    ends = never.at[::2, 5].set(True)
    np.testing.assert_array_equal(
        pays(REWARDS["indicator"], search, strolls.states, ends), np.where(ends, 1, 0)
    )


def test_entropy_reduction_telescopes(search, strolls, never):
    """The sum is the first entropy less the last: each at most log 625, and rounded by 64 terms."""
    paid = np.sum(pays(REWARDS["entropy"], search, strolls.states, never), axis=1)
    entropy = jax.jit(jax.vmap(jax.vmap(location_entropy)))(strolls.states.belief)
    slack = 2 * 17 * 64 * np.finfo(np.float32).eps * np.log(625)
    np.testing.assert_allclose(paid, entropy[:, 0] - entropy[:, -1], atol=slack)
    assert paid.std() > 10 * slack


def test_dense_contraction_telescopes_but_for_the_stop(search, strolls, never):
    ends = never.at[:, -1].set(True)
    paid = np.sum(pays(REWARDS["contraction"], search, strolls.states, ends), axis=1)
    spread = np.sqrt(np.einsum("...dd->...d", moments(strolls.states)[1])).max(-1)
    np.testing.assert_allclose(paid, 1 + spread[:, 0] - spread[:, -1], atol=1e-3)


def test_information_gain_is_a_divergence(search, strolls, never):
    """Against Σ w⁺ log(w⁺/w) in double precision, with the likelihood of the newest reading."""
    paid = np.asarray(pays(REWARDS["information"], search, strolls.states, never))
    assert (paid >= 0).all()
    assert paid.max() > 0.1
    before, after = at(strolls.states, 0, 4), at(strolls.states, 0, 5)
    likelihood = jax.jit(jax.vmap(search.model.log_likelihood, in_axes=(0, None, None)))
    terms = np.asarray(likelihood(before.belief.particles, after.station, after.reading), float)
    prior = np.exp(np.asarray(before.belief.log_weights, float))
    posterior = prior * np.exp(terms - terms.max())
    posterior /= posterior.sum()
    positive = posterior > 0
    expected = np.sum(posterior[positive] * np.log(posterior[positive] / prior[positive]))
    np.testing.assert_allclose(paid[0, 4], expected, rtol=1e-3, atol=1e-4)


def test_nothing_is_gained_from_a_sensor_that_tells_nothing(search, strolls, never):
    deaf = eqx.tree_at(lambda at: at.model, search, Model(search.model.prior, search.model.field, Deaf()))
    assert np.max(pays(REWARDS["information"], deaf, strolls.states, never)) < 1e-5


def test_expected_error_is_distance_and_spread_by_the_area(search, strolls, never):
    paid = pays(REWARDS["expected-error"], search, strolls.states, never)
    centre, spread = moments(strolls.states)
    offset = centre - np.asarray(strolls.states.station.position)
    expected = -(np.sum(offset**2, -1) + np.trace(spread, axis1=-2, axis2=-1)) / 625
    np.testing.assert_allclose(paid, expected[:, 1:], rtol=1e-4)


@pytest.mark.parametrize("distance", [0.0, 0.9, 1.1, 5.0])
def test_right_stop_pays_by_the_truth(distance, search, strolls, never):
    centre, _ = moments(strolls.states)
    direction = np.array([0.6, 0.8])
    thetas = (
        jnp.asarray(strolls.states.theta)
        .at[..., :2]
        .set(jnp.asarray(centre + distance * direction, jnp.float32))
    )
    states = eqx.tree_at(lambda at: at.theta, strolls.states, thetas)
    reward = REWARDS["right-stop"]
    assert (pays(reward, search, states, never) == 0).all()
    assert (pays(reward, search, states, ~never) == (1 if distance < 1 else -1)).all()
