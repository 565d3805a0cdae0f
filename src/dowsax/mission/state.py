"""The state of a mission, and the three filters that update it reading by reading.

- The tracker is the filter of the model: where the source is.
- The null filter is that of the same model without a source: the two give the evidence for a source.
- Where wind is measured, a second tracker assimilates the same readings with their winds reversed, on another
  core. Its evidence shows whether the wind was given the wrong way round. It has no part in where to go.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.files import finite
from dowsax.inference import Belief
from dowsax.inference.null_filter import NullFilter
from dowsax.mission.plan import Plan
from dowsax.mission.stations import example_reading, example_station, prior_log_likelihoods, to_float32
from dowsax.mission.team import whole_distance
from dowsax.mission.tracker import INITIAL_CAPACITY, Digest, Tracker, grow, unpack_digest
from dowsax.programs import stored_jit
from dowsax.survey.parallel import run_in_parallel
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.reversed_wind import LIVE_ADVICE, MIN_LOG_ODDS, WindCheck, check_wind, reverse_wind
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, without_source

MIN_CHANGE_PROBABILITY = 0.9
"""The probability from which a change of source or wind is reported."""
MAX_LOG_ODDS = 1e6
"""[nats], the largest that is reported."""
_SETTLED_LOG_ODDS = 2 * MIN_LOG_ODDS
"""[nats], either way, from which the reversed wind is no longer tracked: about 22,000 to 1."""


def build_null_filter(plan: Plan) -> NullFilter:
    """Return the filter of the plan's model without its source."""
    has_unknowns = not _has_no_unknowns(without_source(plan.model), example_station(plan.stations.names))
    return NullFilter.build(plan.model, plan.preset, has_unknowns=has_unknowns)


@stored_jit
def _init_null(null: NullFilter, key: Key, template: Station) -> Belief:
    return null.init(key, template, INITIAL_CAPACITY)


@stored_jit
def _step_null(null: NullFilter, key: Key, belief: Belief, station: Station, value: Scalar) -> Belief:
    return null.step(jax.random.fold_in(key, belief.history.size), belief, station, value)


def _has_no_unknowns(model: Model, station: Station) -> bool:
    """Whether the likelihood of a reading is the same for every Θ."""
    terms = prior_log_likelihoods(model, station, jnp.ones(()))
    return bool(jnp.all(terms == terms[0]))


def log_odds(belief: Belief, null: Belief) -> float:
    r"""$\log p(z_{1:k} \mid \text{source}) - \log p(z_{1:k} \mid \text{none})$ [nats]."""
    # Infinite where only a source explains the readings; JSON has no infinity.
    difference = float(belief.log_evidence) - float(null.log_evidence)
    return float(min(max(difference, -MAX_LOG_ODDS), MAX_LOG_ODDS))


@dataclass(frozen=True)
class ReversedWind:
    """The belief in the reversed wind, and its evidence against the wind as given."""

    belief: Belief | None
    """`None` where there is no wind to reverse, or once it is settled which wind is right."""
    log_odds: float = 0.0
    """log p(readings | −wind) − log p(readings | wind) [nats]"""

    @property
    def check(self) -> WindCheck:
        """Compare the two winds. A right wind is called reversed in at most 1 of 148 missions (Ville)."""
        return check_wind(0.0, self.log_odds, LIVE_ADVICE)

    def step(self, key: Key, tracker: Tracker, station: Station, value: Scalar) -> Belief | None:
        """Return the belief after one more reading; `None` where no source explains it in this wind.

        It uses the mission's own key, so that both winds see the same random numbers.
        """
        assert self.belief is not None
        belief, row = tracker.step(key, self.belief, reverse_wind(station), value)
        return belief if unpack_digest(row).explained else None

    def compare(self, belief: Belief | None, log_evidence: float) -> "ReversedWind":
        """Compare the belief that `step` returned with the log evidence of the mission's own belief."""
        if belief is None:
            return ReversedWind(None, -math.inf)
        log_odds = float(belief.log_evidence) - log_evidence
        return ReversedWind(belief if abs(log_odds) < _SETTLED_LOG_ODDS else None, log_odds)


@dataclass(frozen=True)
class MissionState:
    """A mission after its readings so far: everything that the next update needs."""

    belief: Belief
    null: Belief
    """The belief that there is no source."""
    reversed_wind: ReversedWind
    readings: tuple[Reading, ...] = ()
    rows: tuple[np.ndarray, ...] = ()
    """What the belief said after each reading: see `digest`."""
    regime: int = 0
    """The reading, counted from 0, since which source and wind have not changed."""

    def digest(self, number: int) -> Digest:
        """Return what the belief said after the reading of this number, counted from 1."""
        return unpack_digest(self.rows[number - 1])

    @property
    def redundancy(self) -> float:
        """How many of the readings so far count as one."""
        return float(self.digest(len(self.readings)).redundancy) if self.readings else 1.0

    def measures(self, plan: Plan) -> dict[str, float | None]:
        """Return the numbers that charts show of the belief; `None` where there is no reading."""
        if not self.readings:
            return dict.fromkeys(("spread", "mass", "ess", "fit"), None) | {"path_length": 0.0}
        digest = self.digest(len(self.readings))
        numbers = {
            "spread": float(max(digest.std[0], digest.std[1])),
            **{name: float(getattr(digest, name)) for name in ("mass", "ess", "fit")},
            "path_length": whole_distance(plan, self.readings),
        }
        return {name: finite(number) for name, number in numbers.items()}


@dataclass(frozen=True)
class Filters:
    """The filters of a mission: `init` returns the first state, `step` the state after a reading."""

    plan: Plan
    tracker: Tracker
    null_filter: NullFilter
    init_key: Key
    step_key: Key
    null_key: Key

    @classmethod
    def build(cls, plan: Plan, init_key: Key, step_key: Key, null_key: Key) -> "Filters":
        tracker = Tracker(plan.model, plan.preset, plan.jump, plan.radius)
        return cls(plan, tracker, build_null_filter(plan), init_key, step_key, null_key)

    def init(self) -> MissionState:
        """Return the state before the first reading."""
        template = example_station(self.plan.stations.names)
        belief, null = run_in_parallel(
            lambda: self.tracker.init(self.init_key, template),
            lambda: _init_null(self.null_filter, self.null_key, template),
        )
        has_wind = "wind" in self.plan.stations.names
        return MissionState(belief, null, ReversedWind(belief if has_wind else None))

    def step(self, state: MissionState, reading: Reading) -> tuple[MissionState, Station, bool]:
        """Return the state after a reading, its station, and whether it shows a change; or `Refused`."""
        station = self.plan.stations.station(reading, state.readings)
        value = to_float32(reading.value)
        (belief, row), reversed_wind = self._step_both_winds(state, station, value)
        digest = unpack_digest(row)
        if not digest.explained:
            raise Refused(self._unexplained(reading, state))
        null = _step_null(self.null_filter, self.null_key, grow(state.null), station, value)
        has_changed = float(digest.changed) >= MIN_CHANGE_PROBABILITY
        state = MissionState(
            belief,
            null,
            reversed_wind,
            readings=(*state.readings, reading),
            rows=(*state.rows, row),
            regime=int(digest.since) if has_changed else state.regime,
        )
        return state, station, has_changed

    def replay(
        self, readings: Sequence[Reading], on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> tuple[MissionState, Station | None, bool]:
        """Return what `step` returns after all these readings, from the first state on.

        `on_progress` is called with the number of readings that are done, and of all.
        """
        state, station, has_changed = self.init(), None, False
        for number, reading in enumerate(readings, start=1):
            state, station, has_changed = self.step(state, reading)
            on_progress(number, len(readings))
        return state, station, has_changed

    def _step_both_winds(
        self, state: MissionState, station: Station, value: Scalar
    ) -> tuple[tuple[Belief, np.ndarray], ReversedWind]:
        """Step the tracker and, in parallel, the belief in the reversed wind."""

        def step() -> tuple[Belief, np.ndarray]:
            return self.tracker.step(self.step_key, state.belief, station, value, state.regime)

        opposite = state.reversed_wind
        if opposite.belief is None:
            return step(), opposite
        own, reversed_belief = run_in_parallel(
            step, lambda: opposite.step(self.step_key, self.tracker, station, value)
        )
        return own, opposite.compare(reversed_belief, float(own[0].log_evidence))

    def compile(
        self, state: MissionState, choose: Callable[[Station], object]
    ) -> tuple[MissionState, Station]:
        """Make a step with a simulated reading, and `choose` in parallel, so that everything is compiled."""
        reading = example_reading((*self.plan.stations.names, "time"), self.plan.middle)
        station = self.plan.stations.station(reading, ())
        # The value of a reading is not bound to a device. JAX would compile again for it.
        value = to_float32(_sample_prior_reading(self.plan.model, self.init_key, station))
        (belief, row), null, _ = run_in_parallel(
            lambda: self.tracker.step(self.step_key, state.belief, station, value),
            lambda: _step_null(self.null_filter, self.null_key, grow(state.null), station, value),
            lambda: choose(station),
        )
        return MissionState(belief, null, ReversedWind(None), (reading,), (row,)), station

    def _unexplained(self, reading: Reading, state: MissionState) -> str:
        value = f"{reading.value:g} {self.plan.unit}".strip()
        place = self.plan.coordinates.format_both(reading.position)
        after = " after the readings before it" if state.readings else ""
        wind = " its wind," if reading.wind is not None else ""
        return (
            f"No source that the site allows explains {value} at {place}{after}: check its unit, "
            f"its position,{wind} and the prior of the site."
        )


@stored_jit
def _sample_prior_reading(model: Model, key: Key, station: Station) -> Scalar:
    """Sample a reading of a source from the prior."""
    source_key, noise_key = jax.random.split(key)
    return model.sample_reading(noise_key, model.prior.sample(source_key), station)
