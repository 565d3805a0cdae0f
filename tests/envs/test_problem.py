"""Search problems of any kind: dimensions, stations, starts, sources that change, the last reading."""

from dataclasses import replace

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from walks import BOOTSTRAP, search_for

from dowsax.envs import SCENARIOS, Scenario, SearchProblem, from_prior, inside
from dowsax.envs.task import assemble
from dowsax.inference import Credible, DifferentialEvolution, FilterConfig, Preset
from dowsax.inference.null_filter import NullFilter
from dowsax.inference.summaries import credible_radius
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.simple import OracleStraight
from dowsax.types import Station
from dowsax.world import Drift, Gaussian, Identity, Jump, Model, Motion, Parameter, benchmark_model

SIDE_M = 12.0
STILL = Scenario(from_prior)
SIX_MOVES = tuple(
    tuple(2.0 * sign * (at == axis) for at in range(3)) for axis in range(3) for sign in (1, -1)
)
SMALL = Preset(
    FilterConfig(num_particles=256, num_moves=4, max_moves=4), proposals=(DifferentialEvolution(),)
)


class Box(eqx.Module):
    """Strength, then a position anywhere in a box of two or three dimensions."""

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)

    coordinates = Identity()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, "", "") for name in "qxyz"[: 1 + len(self.low)])

    @property
    def position_columns(self) -> tuple[int, ...]:
        return tuple(range(1, 1 + len(self.low)))

    @property
    def _bounds(self):
        return jnp.array((50.0, *self.low)), jnp.array((200.0, *self.high))

    def sample(self, key):
        low, high = self._bounds
        return jax.random.uniform(key, low.shape, minval=low, maxval=high)

    def log_prob(self, theta):
        low, high = self._bounds
        return jnp.where(jnp.all((theta >= low) & (theta <= high)), -jnp.sum(jnp.log(high - low)), -jnp.inf)


def inverse_square(theta, station):
    return theta[0] / (1.0 + jnp.sum((station.position - theta[1:]) ** 2))


def made(field=inverse_square, dimensions=2, preset=BOOTSTRAP, scenario=STILL, **choices):
    """A search in a box far from the benchmark's square, with moves of 2 m."""
    low, high = (100.0,) * dimensions, (100.0 + SIDE_M,) * dimensions
    moves = tuple(move[:dimensions] for move in SIX_MOVES[: 2 * dimensions])
    model = Model(Box(low, high), field, Gaussian(0.05, 0.05))
    choices = {"max_readings": 8, "stop": Credible(1.0, 2.0)} | choices
    return SearchProblem(model, preset, scenario, Motion(moves, low, high), **choices)


def walk(problem, policy_for, seed=1):
    """The states of one search through Gymnasium, and how it ended."""
    env = gymnasium.make("dowsax/Search-v0", problem=problem)
    observation, _ = env.reset(seed=seed)
    act = eqx.filter_jit(policy_for(env.unwrapped._state.theta))
    states, ended = [env.unwrapped._state], False
    while not ended:
        assert observation in env.observation_space
        action = int(act(jax.random.key(len(states)), *env.unwrapped.policy_inputs))
        observation, _, terminated, truncated, info = env.step(action)
        states.append(env.unwrapped._state)
        ended = terminated or truncated
    return states, terminated, info


def to_and_fro(theta):
    """The moves in turn."""
    del theta
    return lambda key, belief, station, candidates, budget: belief.history.size % candidates.places.shape[0]


POLICIES = {
    "oracle": lambda theta: OracleStraight().policy_for(theta),
    "planner": lambda theta: LocationPlanner(made(dimensions=3).model, 0.4, num_readings=8),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_source_in_space_is_found(name):
    """By an oracle and by the planner of sites, within the ball of the stop rule."""
    problem = made(dimensions=3, preset=SMALL, max_readings=30, stop=Credible(1.0, 0.95))
    states, terminated, info = walk(problem, POLICIES[name])
    assert terminated
    assert info["error"] < 1.0
    last = states[-1]
    assert last.belief.positions.shape == (256, 3)
    assert float(credible_radius(last.belief, 0.95)) <= 1.0
    truth = np.asarray(problem.position(last.theta))
    assert (truth == np.asarray(last.theta)[1:]).all()
    mean = np.exp(np.asarray(last.belief.log_weights)) @ np.asarray(last.belief.positions)
    assert info["error"] == pytest.approx(np.linalg.norm(mean - truth), abs=1e-3)
    path = np.stack([state.station.position for state in states])
    assert np.abs(np.diff(path, axis=0)).sum(axis=1) == pytest.approx(2.0, abs=1e-3)
    assert (path >= 100).all()
    assert (path <= 100 + SIDE_M).all()


def test_a_picture_in_space_is_the_plane_at_the_height_of_the_sensor():
    env = gymnasium.make("dowsax/Search-v0", problem=made(dimensions=3), render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (600, 600, 3)


def test_an_area_of_ones_own_has_a_start_of_its_own():
    """By default its low corner, a fifth of each side; or what is given."""
    problem = made()
    starts = np.stack([problem.first_station(jax.random.key(at)).position for at in range(200)])
    assert (starts >= 100).all()
    assert (starts <= 100 + SIDE_M / 5).all()
    assert starts.max() > 100 + 0.9 * SIDE_M / 5
    place = jnp.array([107.0, 103.0])
    states, _, info = walk(made(start=lambda key: Station(place)), to_and_fro)
    assert (states[0].station.position == place).all()
    # West, north, south and east, and again.
    offsets = np.stack([state.station.position - place for state in states])
    expected = [[0, 0], [-2, 0], [-2, 2], [-2, 0], [0, 0], [-2, 0], [-2, 2], [-2, 0]]
    assert offsets == pytest.approx(np.array(expected), abs=1e-3)
    assert info["path_length"] == pytest.approx(2.0 * 7, abs=1e-3)


def test_a_field_reads_what_the_station_has():
    """Wind, altitude, time and sensor reach the field of the truth and of the filter, at every reading."""
    sensors = 4

    def field(theta, station):
        squares = jnp.sum((station.position - theta[1:]) ** 2) + station.altitude**2
        offset = station.wind[0] + 0.1 * station.time + station.sensor.astype(jnp.float32)
        return theta[0] / (1.0 + squares) + offset

    first = Station(
        jnp.array([103.0, 103.0]),
        wind=jnp.array([30.0, 0.0]),
        altitude=jnp.float32(1.5),
        time=jnp.float32(100.0),
        sensor=jnp.asarray(sensors, jnp.int32),
    )
    problem = made(field, start=lambda key: first)
    states, _, _ = walk(problem, to_and_fro)
    stations = states[-1].belief.history.stations
    # A metre takes a second.
    assert np.asarray(stations.time) == pytest.approx(100.0 + 2.0 * np.arange(8))
    assert (np.asarray(stations.sensor) == sensors).all()
    assert (np.asarray(stations.wind) == [30.0, 0.0]).all()
    assert (np.asarray(stations.altitude) == 1.5).all()
    for at, reading in enumerate(np.asarray(states[-1].belief.history.readings)):
        station = jax.tree.map(lambda leaf, at=at: leaf[at], stations)
        expected = float(field(states[-1].theta, station))
        # Six standard deviations of the noise: the offset alone is fifteen.
        assert reading == pytest.approx(expected, abs=6 * 0.05 * (1 + expected))
    with pytest.raises(ValueError, match="give the problem a `start` that returns a Station with") as caught:
        assemble(problem=made(field))
    assert "\n" not in str(caught.value)


def test_a_source_jumps_and_the_filter_follows():
    """Only in the columns of its position, which the prior names; particles jump too."""
    jump = Jump(hazard=0.5, birth_share=0.5)
    preset = replace(BOOTSTRAP, follows_jumps=True)
    scenario = Scenario(from_prior, transition=jump, moves=jump)
    states, _, _ = walk(made(preset=preset, scenario=scenario), to_and_fro)
    thetas = np.stack([state.theta for state in states])
    moved = (np.diff(thetas[:, 1:], axis=0) != 0).any(axis=1)
    # Between none and all of 7: neither has a probability above 1 %.
    assert 0 < moved.sum() < 7
    assert (thetas[:, 0] == thetas[0, 0]).all()
    assert (np.asarray(states[-1].belief.starts) > 0).any()
    once, _, _ = walk(made(scenario=Scenario(from_prior, jump_after=3)), to_and_fro)
    positions = np.stack([state.theta for state in once])[:, 1:]
    assert np.flatnonzero((np.diff(positions, axis=0) != 0).any(axis=1)).tolist() == [2]


def test_a_source_drifts_and_the_filter_follows():
    """By its spread at each reading, in the support of the prior, and so do the particles."""
    drift = Drift(Identity(), (0.0, 0.3, 0.3))
    preset = replace(BOOTSTRAP, follows_jumps=True)
    scenario = Scenario(inside(((104.0, 104.0), (108.0, 108.0))), transition=drift, moves=drift)
    states, _, _ = walk(made(preset=preset, scenario=scenario), to_and_fro)
    thetas = np.stack([state.theta for state in states])
    steps = np.diff(thetas, axis=0)
    assert (steps[:, 0] == 0).all()
    # Two coordinates of seven steps: each beyond 5 σ has a probability below 1e-6.
    assert (steps[:, 1:] != 0).all()
    assert np.abs(steps[:, 1:]).max() < 5 * 0.3
    before, after = (np.asarray(state.belief.particles) for state in states[:2])
    assert not np.isin(after[:, 1], before[:, 1]).any()


def test_no_reading_is_taken_past_the_last(strolls):
    """Compiled, a belief that has had all its readings stays as it is, and the info says so; else it raises.

    The walks of this folder end with the last reading. The filter without a source does the same.
    """
    search = search_for()
    full = jax.tree.map(lambda leaf: jnp.asarray(leaf[0, -1]), strolls.states)
    place = full.station.position + 1.0
    key = jax.random.key(0)
    after, info = eqx.filter_jit(search.read_at)(key, full, place)
    assert not bool(info.recorded)
    for new, old in zip(*map(jax.tree.leaves, (after.belief, full.belief)), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"room for 18 readings and is full: give .* larger `max_readings`"):
        search.read_at(key, full, place)
    null = NullFilter.build(search.model, search.preset)
    with pytest.raises(ValueError, match="larger `horizon`"):
        null.step(key, full.belief, full.station, full.reading)


def test_an_environment_has_room_for_a_move():
    """A problem of one reading, which has no move to make, is refused by name."""
    problem = SearchProblem(benchmark_model("gas"), BOOTSTRAP, SCENARIOS["id"], max_readings=1)
    with pytest.raises(ValueError, match="`max_readings` must be at least 2"):
        assemble(problem=problem)
