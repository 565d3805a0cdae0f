"""One search: a source, a sensor that moves and reads, and a filter that assimilates the readings.

Rewards, observations and endings are in `environment`.
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
SUCCESS_RADIUS_M = 1.0
"""A stop with a smaller error is right; also the radius of the credible rule."""


class SearchState(eqx.Module):
    """The state of a search."""

    theta: Theta
    """The true source, as it is now. Policies must not use it."""
    station: Station
    reading: Scalar
    """The newest reading, already assimilated."""
    belief: Belief
    path_length: Scalar
    """[m], walked so far."""


class PendingUpdate(NamedTuple):
    """A search whose filter has not finished assimilating the newest reading."""

    theta: Theta
    station: Station
    reading: Scalar
    path_length: Scalar
    stage: Stage


class Search(eqx.Module):
    """The search problem: model, filter, scenario, moves and budget of readings."""

    model: Model
    preset: Preset = eqx.field(static=True)
    scenario: Scenario = eqx.field(static=True)
    motion: Motion = FOUR_MOVES
    max_readings: int = eqx.field(default=MAX_READINGS, static=True)

    def filter(self) -> Filter:
        """Build the filter; it expects jumps where the scenario has them and the preset follows them."""
        transition = self.scenario.transition if self.preset.follows_jumps else None
        preset = self.preset.with_horizon(self.max_readings)
        return preset.build(self.model, initial=self.scenario.initial, transition=transition)

    def prepare(self, key: Key) -> SearchState:
        """Draw a source, a start and a belief, before the first reading."""
        source_key, start_key, init_key = jax.random.split(key, 3)
        theta = self.scenario.sources(self.model.prior, source_key)
        station = Station(jax.random.uniform(start_key, (2,), maxval=START_SIDE_M))
        return SearchState(theta, station, jnp.zeros(()), self.filter().init(init_key), jnp.zeros(()))

    def read_at(self, key: Key, state: SearchState, position: Position) -> tuple[SearchState, FilterInfo]:
        """Take one reading at a position, and make one step of the filter."""
        pending = self.start_update(key, state, position)
        return self.finish_update(
            pending._replace(stage=while_degenerate(self.filter().refresh, pending.stage))
        )

    def start_update(self, key: Key, state: SearchState, position: Position) -> PendingUpdate:
        """Take a reading at a position and assimilate it as far as possible without refreshing particles."""
        jump_key, noise_key, filter_key = jax.random.split(key, 3)
        theta, station = self._move_source(jump_key, state), Station(position)
        reading = self.model.sample_reading(noise_key, theta, station)
        stage = self.filter().begin(filter_key, state.belief, station, reading)
        walked = jnp.linalg.norm(position - state.station.position)
        return PendingUpdate(theta, station, reading, state.path_length + walked, stage)

    def refresh(self, pending: PendingUpdate) -> PendingUpdate:
        """Run one more stage of the filter, for particles that are degenerate."""
        return pending._replace(stage=self.filter().refresh(pending.stage))

    def finish_update(self, pending: PendingUpdate) -> tuple[SearchState, FilterInfo]:
        """Return the state after the reading."""
        belief, info = self.filter().finish(pending.stage)
        state = SearchState(pending.theta, pending.station, pending.reading, belief, pending.path_length)
        return state, info

    def reset(self, key: Key) -> tuple[SearchState, FilterInfo]:
        """Start a search and take its first reading."""
        prepare_key, read_key = jax.random.split(key)
        state = self.prepare(prepare_key)
        return self.read_at(read_key, state, state.station.position)

    def step(self, key: Key, state: SearchState, action: Int[Array, ""]) -> tuple[SearchState, FilterInfo]:
        """Make one move, take one reading, make one step of the filter."""
        return self.read_at(key, state, self.motion(state.station.position, action))

    def _move_source(self, key: Key, state: SearchState) -> Theta:
        """Return the source of the next reading, moved once after the reading that the scenario names."""
        if self.scenario.jump_after is None:
            return state.theta
        place = self.model.prior.sample(key)[:2]
        moved = state.belief.history.size == self.scenario.jump_after
        return jnp.where(moved, state.theta.at[:2].set(place), state.theta)


def error(state: SearchState) -> Scalar:
    """Return the distance [m] from the mean position to the true one. Never used to stop."""
    return jnp.linalg.norm(mean(state.belief)[:2] - state.theta[:2])
