"""One search: a source, a sensor that moves and reads, and the belief that takes the readings in.

The physics and the filter alone; what a learner adds (rewards, observations, endings) is in `environment`.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from dowsax.envs.scenarios import Scenario
from dowsax.inference import Belief, Filter, FilterInfo, Preset, Stage
from dowsax.inference.filter import while_degenerate
from dowsax.inference.summaries import mean
from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import FOUR_MOVES, Model, Motion
from dowsax.world.motion import START_SIDE_M

MAX_READINGS = 200
"""K_max: the reading at the start is the first."""
SUCCESS = 1.0
"""[m], a stop nearer than this to the source is right; also the radius of the credible rule."""


class SearchState(eqx.Module):
    """Where a search stands."""

    theta: Theta
    """The truth, as it is now. Nothing that acts may look at it."""
    station: Station
    reading: Scalar
    """The newest reading, already taken in."""
    belief: Belief
    path_length: Scalar
    """[m], walked so far."""


class Taking(NamedTuple):
    """A reading under way: the search but for its belief, and how far the filter has taken the reading in."""

    theta: Theta
    station: Station
    reading: Scalar
    path_length: Scalar
    stage: Stage


class Search(eqx.Module):
    """The problem: what is out there, what is believed, and how one moves."""

    model: Model
    preset: Preset = eqx.field(static=True)
    scenario: Scenario = eqx.field(static=True)
    motion: Motion = FOUR_MOVES
    max_readings: int = eqx.field(default=MAX_READINGS, static=True)

    def filter(self) -> Filter:
        """The filter of the preset, told of jumps where the scenario has them and the preset listens."""
        transition = self.scenario.transition if self.preset.follows_jumps else None
        preset = self.preset.with_horizon(self.max_readings)
        return preset.build(self.model, initial=self.scenario.initial, transition=transition)

    def prepare(self, key: Key) -> SearchState:
        """Draw a source, a start and a belief; nothing has been read yet."""
        source_key, start_key, init_key = jax.random.split(key, 3)
        theta = self.scenario.sources(self.model.prior, source_key)
        station = Station(jax.random.uniform(start_key, (2,), maxval=START_SIDE_M))
        return SearchState(theta, station, jnp.zeros(()), self.filter().init(init_key), jnp.zeros(()))

    def take(self, key: Key, state: SearchState, position: Position) -> tuple[SearchState, FilterInfo]:
        """One reading at a position, and one step of the filter."""
        taking = self.begin_taking(key, state, position)
        return self.taken(taking._replace(stage=while_degenerate(self.filter().refresh, taking.stage)))

    def begin_taking(self, key: Key, state: SearchState, position: Position) -> Taking:
        """A reading at a position, taken in as far as the particles bear without being refreshed."""
        jump_key, noise_key, filter_key = jax.random.split(key, 3)
        theta, station = self._jumped(jump_key, state), Station(position)
        reading = self.model.sample_reading(noise_key, theta, station)
        stage = self.filter().begin(filter_key, state.belief, station, reading)
        walked = jnp.linalg.norm(position - state.station.position)
        return Taking(theta, station, reading, state.path_length + walked, stage)

    def refresh(self, taking: Taking) -> Taking:
        """One more stage of the filter, for a stage that is degenerate."""
        return taking._replace(stage=self.filter().refresh(taking.stage))

    def taken(self, taking: Taking) -> tuple[SearchState, FilterInfo]:
        """The search after the reading."""
        belief, info = self.filter().finish(taking.stage)
        state = SearchState(taking.theta, taking.station, taking.reading, belief, taking.path_length)
        return state, info

    def begin(self, key: Key) -> tuple[SearchState, FilterInfo]:
        """A search after the reading at its start."""
        prepare_key, take_key = jax.random.split(key)
        state = self.prepare(prepare_key)
        return self.take(take_key, state, state.station.position)

    def advance(self, key: Key, state: SearchState, action: Int[Array, ""]) -> tuple[SearchState, FilterInfo]:
        """One move, one reading, one step of the filter."""
        return self.take(key, state, self.motion(state.station.position, action))

    def _jumped(self, key: Key, state: SearchState) -> Theta:
        """The source of the next reading: elsewhere once the scenario's reading has been taken."""
        if self.scenario.jump_after is None:
            return state.theta
        place = self.model.prior.sample(key)[:2]
        moved = state.belief.history.size == self.scenario.jump_after
        return jnp.where(moved, state.theta.at[:2].set(place), state.theta)


def error(state: SearchState) -> Scalar:
    """[m], from the mean position to the true one. Never used to stop."""
    return jnp.linalg.norm(mean(state.belief)[:2] - state.theta[:2])
