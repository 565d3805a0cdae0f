"""A policy of candidates is the same in any units, sizes, directions and orders: laws of its two parts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief

from dowsax.geo.polygons import Bounds
from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.candidate_network import CandidateNetwork, CandidateSizes
from dowsax.policies.layers import MASKED_LOGIT
from dowsax.types import Station
from dowsax.world import (
    Budget,
    Candidates,
    Fence,
    Gaussian,
    Model,
    NearAndFar,
    ProductPrior,
    UniformBox,
)
from dowsax.world.distributions import LogUniform
from dowsax.world.fields.nothing import Nothing
from dowsax.world.source import Parameter

NUM_PARTICLES, NUM_PLACES = 64, 12


class Drift(eqx.Module):
    """A puff that the wind has carried to one side, in a unit and of a width [m]."""

    unit: float
    width: float

    def __call__(self, theta, station):
        offset = (station.position - theta[:2] - station.wind) / self.width
        return self.unit * theta[2] * jnp.exp(-0.5 * jnp.sum(offset**2))

    def without_source(self):
        return Nothing()


class Scene:
    """A belief, candidates and a budget; lengths times `size`, readings times `unit`, turned by a matrix."""

    def __init__(self, size=1.0, unit=1.0, turn=((1.0, 0.0), (0.0, 1.0))):
        random, turn = np.random.default_rng(7), np.array(turn)
        place = lambda *shape: jnp.asarray(size * random.uniform(-8, 8, (*shape, 2)) @ turn.T, jnp.float32)  # noqa: E731
        positions, visited, places = place(NUM_PARTICLES), place(8), place(NUM_PLACES)
        strengths = jnp.asarray(random.uniform(1, 5, (NUM_PARTICLES, 1)), jnp.float32)
        weights, readings = random.normal(size=NUM_PARTICLES), unit * random.uniform(0, 3, 8)
        wind = jnp.asarray(size * np.array([2.0, 0.5]) @ turn.T, jnp.float32)
        stations = Station(visited, wind=jnp.broadcast_to(wind, (8, 2)))
        self.belief = as_belief(
            jnp.concatenate([positions, strengths], axis=1),
            jnp.asarray(weights, jnp.float32),
            stations,
            jnp.asarray(readings, jnp.float32),
            size=5,
        )
        self.station = Station(place(1)[0], wind=wind)
        way = jnp.linalg.norm(places - self.station.position[None, :], axis=1)
        mask = jnp.arange(NUM_PLACES) != 3
        self.candidates = Candidates(places, way, way / size + 2.0, mask)
        self.budget = Budget(jnp.float32(20.0), jnp.float32(100.0 * size), jnp.float32(300.0))
        low, high = (-8.0 * size, -8.0 * size), (8.0 * size, 8.0 * size)
        named = (Parameter("strength", "", "height of the puff"),)
        prior = ProductPrior(UniformBox(low, high), (LogUniform(1.0, 5.0),), named)
        self.model = Model(prior, Drift(unit, 2.0 * size), Gaussian(0.1, 0.05 * unit))
        self.actions = NearAndFar(Fence.of(Bounds()), low, high, lengths=(size,))
        self.radius = 0.5 * size

    def observe(self):
        encoder = CandidateEncoder.build(
            self.model, self.actions, self.radius, num_particles=8, num_readings=4, num_reweighted=64
        )
        left = self.station, self.candidates, self.budget
        return _encode(encoder, jax.random.key(3), self.belief, *left)


@eqx.filter_jit
def _encode(encoder, *parts):
    return encoder(*parts)


@eqx.filter_jit
def score(network, observation):
    return network(observation)


@pytest.fixture(scope="module")
def observation():
    return Scene().observe()


@pytest.fixture(scope="module", params=[0, 32], ids=["pooled", "attention"])
def network(request, observation):
    """A network whose weights are not those of an untrained one, whose policy is nearly uniform."""
    num_features, num_numbers = observation.candidates.shape[1], observation.numbers.shape[0]
    sizes = CandidateSizes(num_features, num_numbers, particle_width=request.param)
    blank, key = CandidateNetwork.build(jax.random.key(0), sizes), jax.random.key(1)
    return jax.tree.map(lambda leaf: leaf + 0.1 * jax.random.normal(key, leaf.shape), blank)


# The sums of turned coordinates are rounded in another order, and what is far apart in a logarithm more so.
TURNED = {"rtol": 2e-3, "atol": 2e-3}
TURNS = {
    "quarter turn": ((0.0, -1.0), (1.0, 0.0)),
    "mirror": ((1.0, 0.0), (0.0, -1.0)),
    "any turn": ((np.cos(0.7), -np.sin(0.7)), (np.sin(0.7), np.cos(0.7))),
}


def assert_alike(network, one, other, **tolerances):
    (logits, value), (other_logits, other_value) = score(network, one), score(network, other)
    np.testing.assert_allclose(logits, other_logits, **tolerances)
    np.testing.assert_allclose(value, other_value, **tolerances)


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_turns_and_mirrors_do_not_matter(turn, network, observation):
    turned = Scene(turn=turn).observe()
    np.testing.assert_allclose(turned.candidates, observation.candidates, **TURNED)
    np.testing.assert_allclose(turned.numbers, observation.numbers, **TURNED)
    np.testing.assert_allclose(turned.offsets, observation.offsets @ np.array(turn).T, atol=1e-4)
    assert_alike(network, observation, turned, **TURNED)


@pytest.mark.parametrize("scales", [(8.0, 1.0), (1.0, 1024.0), (1 / 16, 1 / 256)], ids=str)
def test_sizes_and_units_do_not_matter(scales, network, observation):
    """Factors are powers of two, which round nothing."""
    size, unit = scales
    scaled = Scene(size, unit).observe()
    for leaf, other in zip(scaled, observation, strict=True):
        np.testing.assert_allclose(leaf, other, rtol=1e-4, atol=1e-4)
    assert_alike(network, observation, scaled, rtol=1e-4, atol=1e-4)


def test_the_observation_sees_what_matters(observation):
    """A field that cannot be read, or a longer way, is another observation."""
    scene = Scene()
    scene.model = eqx.tree_at(lambda at: at.field.unit, scene.model, 1e-6)
    assert not np.allclose(scene.observe().signals, observation.signals, atol=0.1)
    scene = Scene()
    scene.radius = 2.0
    assert not np.allclose(scene.observe().candidates, observation.candidates, atol=0.1)


def test_the_order_of_particles_does_not_matter(network, observation):
    order = np.random.default_rng(1).permutation(observation.particles.shape[0])
    other = observation._replace(
        particles=observation.particles[order], signals=observation.signals[:, order]
    )
    assert_alike(network, observation, other, rtol=1e-4, atol=1e-5)


def test_particles_matter_only_with_attention(network, observation):
    other = observation._replace(particles=observation.particles + 3.0)
    is_same = np.allclose(score(network, observation).logits, score(network, other).logits, atol=1e-5)
    assert is_same == (network.sizes.particle_width == 0)


def test_the_order_of_candidates_does_not_matter(network, observation):
    """Scores go with their candidates, the value stays, and what is masked has no say."""
    order = np.random.default_rng(0).permutation(NUM_PLACES)
    rows = lambda members: observation._replace(  # noqa: E731
        candidates=observation.candidates[members],
        free=observation.free[members],
        offsets=observation.offsets[members],
        signals=observation.signals[members],
    )
    (logits, value), (other_logits, other_value) = score(network, observation), score(network, rows(order))
    np.testing.assert_allclose(logits[order], other_logits, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value, other_value, rtol=1e-4, atol=1e-5)
    assert logits[3] == MASKED_LOGIT
    moved = observation._replace(candidates=observation.candidates.at[3].add(9.0))
    np.testing.assert_allclose(score(network, moved).logits, logits, rtol=1e-5, atol=1e-5)
    left = np.delete(np.arange(NUM_PLACES), 3)
    fewer = score(network, rows(left))
    np.testing.assert_allclose(fewer.logits, logits[left], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fewer.value, value, rtol=1e-4, atol=1e-5)
