"""One search: a source, a sensor that moves and reads, and a filter that assimilates the readings.

Rewards, observations and endings are in `environment`.
"""

from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from dowsax.envs.scenarios import Scenario
from dowsax.inference import Belief, Credible, Filter, FilterInfo, Preset, Stage
from dowsax.inference.belief import recall, require_room
from dowsax.inference.filter import while_degenerate
from dowsax.inference.null_filter import NullFilter
from dowsax.inference.stopping import StopRule
from dowsax.inference.strata import StrataStage
from dowsax.inference.summaries import distance_to_truth, promising_places
from dowsax.types import Key, OpenPath, Position, Scalar, Station, Target, Theta, Waypoint
from dowsax.world import (
    FOUR_MOVES,
    ActionSpace,
    Budget,
    Candidates,
    Jump,
    Model,
    PerhapsAbsent,
    WayReadings,
    put_position,
)
from dowsax.world.fence import length_of
from dowsax.world.heights import candidates_from, fence_to, flown_height, way_length
from dowsax.world.motion import AREA_SIDE_M, START_SIDE_M
from dowsax.world.trails import advance, height_of

MAX_READINGS = 200
"""K_max: the reading at the start is the first."""
SUCCESS_RADIUS_M = 1.0
"""The benchmark's `success_radius`; also the radius of the credible rule."""


_CORNER_SHARE = START_SIDE_M / AREA_SIDE_M


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
    elapsed: Scalar
    """[s], on the way and at readings."""
    null: Belief | None = None
    """The belief that there is no source, where the problem compares the two."""
    num_on_way: Int[Array, ""] | None = None
    """The number of readings on the way, where the sensor reads while it moves."""
    num_others: Int[Array, ""] | None = None
    """The number of readings that other searchers took, where there are several."""


class PendingUpdate(NamedTuple):
    """A search whose filter has not finished assimilating the newest reading."""

    theta: Theta
    station: Station
    reading: Scalar
    path_length: Scalar
    elapsed: Scalar
    null: Belief | None
    num_on_way: Int[Array, ""] | None
    num_others: Int[Array, ""] | None
    stage: Stage | StrataStage


@runtime_checkable
class Start(Protocol):
    """Where a search starts: the first station, with everything that is measured along with a reading."""

    def __call__(self, key: Key) -> Station: ...


class StartInBox(eqx.Module):
    """A place anywhere in a box."""

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)
    """[m]"""

    def __call__(self, key: Key) -> Station:
        low, high = jnp.array(self.low), jnp.array(self.high)
        return Station(jax.random.uniform(key, low.shape, minval=low, maxval=high))

    @classmethod
    def in_corner(cls, low: tuple[float | Scalar, ...], high: tuple[float | Scalar, ...]) -> "StartInBox":
        """Return the low corner of an area, a fifth of it along each side, as in the benchmark."""
        corners = tuple(map(float, low)), tuple(map(float, high))
        sides = zip(*corners, strict=True)
        return cls(corners[0], tuple(first + _CORNER_SHARE * (last - first) for first, last in sides))


class SearchProblem(eqx.Module):
    """The search problem: model, filter, scenario, actions, start and budget."""

    model: Model
    preset: Preset = eqx.field(static=True)
    scenario: Scenario = eqx.field(static=True)
    actions: ActionSpace = FOUR_MOVES
    max_readings: int = eqx.field(default=MAX_READINGS, static=True)
    start: Start | None = None
    """Default: in the low corner of the area, with nothing but a position."""
    budget: Budget = Budget()
    """Of readings, way and time; there are at most `max_readings`."""
    stop: StopRule = Credible()
    null: NullFilter | None = None
    """The filter of the model without its source, where the evidence for a source counts."""
    truth: Model | PerhapsAbsent | None = None
    """What readings are drawn from, where that is not the model: with the same unknowns."""
    way_readings: WayReadings | None = None
    """Readings while the sensor moves, where it takes any. They are none of the `max_readings`."""
    max_on_way: int = eqx.field(default=0, static=True)
    """Readings on the way, in one search, for which there is room; no more are taken."""

    def __check_init__(self) -> None:
        if self.way_readings is not None and self.max_on_way < 1:
            raise ValueError("`max_on_way` must be > 0 where the sensor reads while it moves; got 0.")

    @property
    def horizon(self) -> int:
        """The number of readings for which a belief has room."""
        return self.max_readings + self.max_on_way

    def first_station(self, key: Key) -> Station:
        """Draw the station of the first reading."""
        start = self.start
        if start is None:
            start = StartInBox.in_corner(self.actions.low, self.actions.high)
        return start(key)

    def filter(self) -> Filter:
        """Build the filter; it expects jumps where the scenario has them and the preset follows them."""
        transition = self.scenario.transition if self.preset.follows_jumps else None
        preset = self.preset.with_horizon(self.horizon)
        template = jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
            jax.eval_shape(self.first_station, jax.random.key(0)),
        )
        return preset.build(
            self.model, initial=self.scenario.initial, transition=transition, template=template
        )

    def position(self, theta: Theta) -> Position:
        """Return the position [m] of a source, as the prior says."""
        return self.model.position(theta)

    @property
    def success_radius(self) -> float | Scalar:
        """[m], a stop with a smaller error is right: the radius of the stop rule, 1 m where it has none."""
        return getattr(self.stop, "radius", SUCCESS_RADIUS_M)

    def prepare(self, key: Key) -> SearchState:
        """Draw a source, a start and a belief, before the first reading."""
        source_key, start_key, init_key = jax.random.split(key, 3)
        theta = self.scenario.sources(self.model.prior, source_key)
        station = self.first_station(start_key)
        zero = jnp.zeros(())
        null = None if self.null is None else self.null.init(init_key, station, self.horizon)
        num_on_way = None if self.way_readings is None else jnp.zeros((), jnp.int32)
        return SearchState(theta, station, zero, self.filter().init(init_key), zero, zero, null, num_on_way)

    @property
    def whole_budget(self) -> Budget:
        """What may be spent, with the limit of readings."""
        most = jnp.minimum(jnp.asarray(self.budget.readings, jnp.float32), self.max_readings)
        return eqx.tree_at(lambda at: at.readings, self.budget, most)

    def budget_left(self, state: SearchState) -> Budget:
        """Return what is left of the budget."""
        size = state.belief.history.size
        for others in (state.num_on_way, state.num_others):
            size = size if others is None else size - others
        return self.whole_budget.minus(size.astype(jnp.float32), state.path_length, state.elapsed)

    def is_spent(self, state: SearchState) -> Bool[Array, ""]:
        """Whether the budget is spent: no reading is left, no way or no time."""
        left = self.budget_left(state)
        return jnp.stack([jnp.asarray(left.readings < 1), left.distance <= 0, left.time <= 0]).any()

    def is_over(self, state: SearchState) -> Bool[Array, ""]:
        """Whether no reading can follow: the budget is spent, or no candidate can be reached."""
        return self.is_spent(state) | ~jnp.any(self.candidates(state).mask)

    def candidates(self, state: SearchState) -> Candidates:
        """Return where the sensor can go next."""
        budget = self.budget_left(state)
        return candidates_from(self.actions, state.station, budget, promising_places(state.belief))

    def read_at(self, key: Key, state: SearchState, target: Target) -> tuple[SearchState, FilterInfo]:
        """Take one reading at a place or path, and those on the way, and make a step of the filter for each.

        There is room for `horizon` readings in all: a further one is a ValueError. In a compiled program,
        which cannot raise, it does not count: the belief stays as it is and `FilterInfo.recorded` is false.
        """
        return self._complete(self.start_update(key, state, target))

    def _complete(self, pending: PendingUpdate) -> tuple[SearchState, FilterInfo]:
        """Refresh the particles until they are not degenerate, and return the state after the reading."""
        return self.finish_update(
            pending._replace(stage=while_degenerate(self.filter().refresh, pending.stage))
        )

    def start_update(self, key: Key, state: SearchState, target: Target) -> PendingUpdate:
        """Take a reading and assimilate it as far as possible without refreshing particles.

        Readings on the way there are assimilated before it.
        """
        require_room(state.belief.history, "give the problem a larger `max_readings`")
        if self.way_readings is not None and not isinstance(target, OpenPath):
            key, way_key = jax.random.split(key)
            state = self._read_on_way(way_key, self.way_readings, state, target)
        return self._start_reading(key, state, target, self.seconds_to(state, target))

    def seconds_to(self, state: SearchState, target: Target) -> Scalar:
        """Return the time [s] of the way to the next reading and of that reading."""
        return self.actions.seconds(self._way_to(state, target))

    def _way_to(self, state: SearchState, target: Target) -> Scalar:
        """Return the length [m] of the shortest way to the next reading."""
        return way_length(self.actions, state.station, target)

    def _read_on_way(
        self, key: Key, way_readings: WayReadings, state: SearchState, target: Position | Waypoint
    ) -> SearchState:
        """Take the readings on the way to a place, as many as there is room for; none in a climb."""
        start, dwell = state.station.position, state.station.dwell
        assert state.num_on_way is not None
        position = target.position if isinstance(target, Waypoint) else target
        height = flown_height(state.station, target) if isinstance(target, Waypoint) else None
        way = fence_to(self.actions, state.station, target).way(start, position)
        number = way_readings.number(length_of(way))
        number = jnp.minimum(number, self.max_on_way - state.num_on_way)
        state = replace(state, station=way_readings.station(state.station))

        def read(index: Int[Array, ""], state: SearchState) -> SearchState:
            place = way_readings.place(way, index + 1)
            seconds = jnp.asarray(way_readings.interval, jnp.float32)
            if height is not None:
                seconds += (height - height_of(state.station)) / way_readings.speed
                place = Waypoint(place, height)
            pending = self._start_reading(jax.random.fold_in(key, index), state, place, seconds)
            state, _ = self._complete(pending)
            assert state.num_on_way is not None
            return replace(state, num_on_way=state.num_on_way + 1)

        state = jax.lax.fori_loop(0, number, read, state)
        return replace(state, station=replace(state.station, dwell=dwell))

    def _start_reading(self, key: Key, state: SearchState, target: Target, seconds: Scalar) -> PendingUpdate:
        """Take one reading, some seconds after the one before."""
        jump_key, noise_key, filter_key = jax.random.split(key, 3)
        walked = self._way_to(state, target)
        theta, station = self._move_source(jump_key, state), advance(state.station, target, seconds)
        truth = self.model if self.truth is None else self.truth
        reading = truth.sample_reading(noise_key, theta, recall(truth, state.belief.history, station))
        stage = self.filter().begin(filter_key, state.belief, station, reading)
        null = None
        if self.null is not None and state.null is not None:
            null = self.null.step(filter_key, state.null, station, reading)
        spent = state.path_length + walked, state.elapsed + seconds
        return PendingUpdate(theta, station, reading, *spent, null, state.num_on_way, state.num_others, stage)

    def refresh(self, pending: PendingUpdate) -> PendingUpdate:
        """Run one more stage of the filter, for particles that are degenerate."""
        return pending._replace(stage=self.filter().refresh(pending.stage))

    def finish_update(self, pending: PendingUpdate) -> tuple[SearchState, FilterInfo]:
        """Return the state after the reading."""
        belief, info = self.filter().finish(pending.stage)
        carried = {name: part for name, part in pending._asdict().items() if name != "stage"}
        return SearchState(belief=belief, **carried), info

    def reset(self, key: Key) -> tuple[SearchState, FilterInfo]:
        """Start a search and take its first reading."""
        prepare_key, read_key = jax.random.split(key)
        state = self.prepare(prepare_key)
        return self.read_at(read_key, state, state.station.target)

    def step(self, key: Key, state: SearchState, action: Int[Array, ""]) -> tuple[SearchState, FilterInfo]:
        """Make one move, and take the readings on the way and the one at its end."""
        return self.read_at(key, state, self.candidates(state).target(action))

    def _move_source(self, key: Key, state: SearchState) -> Theta:
        """Return the source of the next reading, moved as the scenario says."""
        moves, prior, is_later = self.scenario.moves, self.model.prior, state.belief.history.size > 0
        if isinstance(moves, Jump):
            whether_key, source_key = jax.random.split(key)
            moved = jax.random.bernoulli(whether_key, moves.hazard) & is_later
            return jnp.where(moved, moves.sample(source_key, prior, state.theta), state.theta)
        if moves is not None:
            theta = moves.sample(key, state.theta)
            # A source that would leave the support of the prior stays where it is.
            return jnp.where(is_later & (prior.log_prob(theta) > -jnp.inf), theta, state.theta)
        if self.scenario.jump_after is None:
            return state.theta
        place = self.position(prior.sample(key))
        moved = state.belief.history.size == self.scenario.jump_after
        return jnp.where(moved, put_position(state.theta, place, self.model.position_columns), state.theta)


def error(state: SearchState) -> Scalar:
    """Return the distance [m] from the mean position to the true one. Never used to stop.

    Of several sources it is the largest, each with the mean that is its own; very far for another number.
    """
    return distance_to_truth(state.belief, state.theta)
