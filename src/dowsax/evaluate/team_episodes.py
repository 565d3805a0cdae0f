"""Searches by several searchers with one belief: the one that is ready first takes the next reading.

Each searcher has its own place, clock and budget. When it has read, it is given its next place, with the
readings that the others are on their way to. On the way to a far place it stops and reads.

Searches run one by one, one per thread.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from dowsax.envs import SearchProblem, SearchState
from dowsax.evaluate.episodes import PROGRAMS
from dowsax.evaluate.search_steps import Keys, as_arrays, decide_in_team, require_finite, with_presence
from dowsax.evaluate.trace import Episode, Recorder
from dowsax.policies import Oracle, Policy
from dowsax.policies.planned import planned_readings
from dowsax.policies.stops_on_way import StopsOnWay
from dowsax.types import Key, Station
from dowsax.world import PlacesAtHeights
from dowsax.world.actions import fence_of
from dowsax.world.fence import Way
from dowsax.world.trails import height_of, move_station, set_measurement

_decide_in_team = eqx.filter_jit(decide_in_team)
_is_over = eqx.filter_jit(SearchProblem.is_over)
_seconds_to = eqx.filter_jit(SearchProblem.seconds_to)


@eqx.filter_jit
def _way_to(search: SearchProblem, station: Station, target: Any) -> Way:
    """Return the shortest way to a place."""
    return fence_of(search.actions).way(station.position, target)


class SimulatedSearcher(NamedTuple):
    """One searcher: its problem, of which what it can reach is its own, and its policy."""

    problem: SearchProblem
    policy: Policy | Oracle
    apart: float = 0.0
    """[m], how far from the places of the others it reads, where it can."""
    stops: StopsOnWay | None = None
    """On the way to far places."""


@dataclass
class _SearcherState:
    """Where a searcher is in a search."""

    station: Station
    path_length: Any
    elapsed: Any
    num_on_way: Any
    num_own: int = 0
    """Its readings so far, those on the way included."""
    target: Any = None
    """Where it goes; `None` where it has no place yet, or cannot go on."""
    aim: Any = None
    """The far place on the way to which the target is; `None` where it is none."""
    ready: float = np.inf
    """[s], when it will have read there."""


class _TeamSearch:
    """One search by a team."""

    def __init__(self, searchers: Sequence[SimulatedSearcher], key: Key, record: Recorder) -> None:
        self.searchers, self.key, self.record = searchers, key, record
        self.has_heights = any(isinstance(one.problem.actions, PlacesAtHeights) for one in searchers)
        state = PROGRAMS.prepare(searchers[0].problem, key)
        self.theta = np.asarray(state.theta)
        self.state, self.rows = state, []
        self.states = [self._start(number, searcher) for number, searcher in enumerate(searchers)]
        starts: list[np.ndarray] = []
        for own, searcher in zip(self.states, searchers, strict=True):
            place = np.asarray(own.station.position)
            # A second reading at one place would tell little: that searcher goes on at once.
            if not any(np.array_equal(place, other) for other in starts):
                self._send(own, searcher, own.station.target)
            starts.append(place)

    def _start(self, number: int, searcher: SimulatedSearcher) -> _SearcherState:
        """Return a searcher at its own start, before its first reading."""
        state, start = self.state, searcher.problem.start
        assert start is not None
        first = start(jax.random.key(0))
        station = move_station(state.station, first.position)
        if first.altitude is not None:
            station = set_measurement(station, "altitude", first.altitude)
        station = replace(station, searcher=jnp.asarray(number, jnp.int32))
        return _SearcherState(station, state.path_length, state.elapsed, state.num_on_way)

    def _of(self, own: _SearcherState) -> SearchState:
        """Return the state of the search as one searcher has it."""
        num_others = self.state.belief.history.size - own.num_own
        parts = {name: getattr(own, name) for name in ("station", "path_length", "elapsed", "num_on_way")}
        return replace(self.state, num_others=jnp.asarray(num_others, jnp.int32), **parts)

    def _send(self, own: _SearcherState, searcher: SimulatedSearcher, target: Any) -> None:
        seconds = float(_seconds_to(searcher.problem, self._of(own), target))
        own.target, own.ready = target, float(own.elapsed) + seconds

    def _decide(self, number: int) -> None:
        """Give a searcher its next place."""
        own, searcher = self.states[number], self.searchers[number]
        others = [other for other in self.states if other is not own and other.target is not None]
        going = [
            move_station(other.station, target)
            for other in others
            for target in (other.target, other.aim)
            if target is not None
        ]
        places = [tuple(np.asarray(there.position).tolist()) for there in going]
        heights = [float(height_of(there)) for there in going] if self.has_heights else None
        planned = planned_readings(places, 2 * (len(self.states) - 1), heights)
        # The first searcher decides as one alone does.
        key = jax.random.fold_in(self.key, number) if number else self.key
        apart = jnp.asarray(searcher.apart, jnp.float32)
        target = _decide_in_team(searcher.problem, searcher.policy, key, self._of(own), planned, apart)
        target = require_finite(searcher.problem, target)
        stops = [move_station(other.station, other.target) for other in others]
        stop = self._stop_on_way(number, target, stops)
        own.aim = None if stop is None else target
        self._send(own, searcher, target if stop is None else stop)

    def _stop_on_way(self, number: int, target: Any, others: Sequence[Station]) -> Any:
        """Return where a searcher stops on its way to its next place; `None` where it goes through.

        `others` are the next stations of the others.
        """
        own, searcher = self.states[number], self.searchers[number]
        if searcher.stops is None:
            return None
        way = np.asarray(_way_to(searcher.problem, own.station, target), np.float64)
        places = [tuple(np.asarray(there.position).tolist()) for there in others]
        stop = searcher.stops.first_on(way, searcher.problem.budget_left(self._of(own)), places)
        return None if stop is None else jnp.asarray(stop, jnp.float32)

    def read(self) -> None:
        """Take the next reading, and send its searcher on."""
        number = int(np.argmin([own.ready for own in self.states]))
        own, searcher = self.states[number], self.searchers[number]
        before = self.state.belief.history.size
        state, row, is_over = PROGRAMS.read(
            searcher.problem, self.record, self.key, self._of(own), own.target
        )
        own.num_own += int(state.belief.history.size - before)
        for name in ("station", "path_length", "elapsed", "num_on_way"):
            setattr(own, name, getattr(state, name))
        self.state, own.target, own.aim, own.ready = state, None, None, np.inf
        row = jax.tree.map(np.asarray, row)
        way = sum(float(each.path_length) for each in self.states)
        self.rows.append(row._replace(path_length=np.asarray(way, np.float32)))
        waiting = [
            index for index, each in enumerate(self.states) if each.num_own == 0 and each.target is None
        ]
        for index in waiting if len(self.rows) == 1 else ():
            if not bool(_is_over(self.searchers[index].problem, self._of(self.states[index]))):
                self._decide(index)
        if not bool(is_over):
            self._decide(number)

    def compile(self) -> None:
        """Run the programs of each searcher once."""
        for own, searcher in zip(self.states, self.searchers, strict=True):
            PROGRAMS.read(searcher.problem, self.record, self.key, self._of(own), own.station.target)
        self.read()

    @property
    def is_over(self) -> bool:
        """Whether the search has ended, or nobody can go on."""
        if not self.rows:
            return False
        # No rule is checked at the start.
        has_ended = bool(self.rows[-1].settled) and len(self.rows) > 1
        is_lost = not np.isfinite(self.rows[-1].spread)
        return has_ended or is_lost or all(own.target is None for own in self.states)


def run_team_episodes(
    searchers: Sequence[SimulatedSearcher],
    keys: Keys,
    *,
    record: Recorder,
    present: Bool[np.ndarray, " searches"],
    on_progress: Callable[[int], None] = lambda ended: None,
    threads: int | None = None,
) -> list[Episode]:
    """Run one search by a team per key, until its rows say that it is settled, or nobody can go on.

    Parameters
    ----------
    searchers
        The searchers; what they search is that of the first.
    keys
        One PRNG key per search. The same key gives the same source and wind to any team.
    record
        What is recorded of each reading: rows with `settled`, `spread` and `path_length`, which becomes that
        of all searchers.
    present
        For each search, whether there is a source.
    on_progress
        Called with the number of searches that have just ended; first with 0, when all is compiled.
    threads
        Searches at a time. Default: the number of cores.
    """
    searchers = [
        searcher._replace(problem=as_arrays(searcher.problem), policy=as_arrays(searcher.policy))
        for searcher in searchers
    ]

    def team(number: int) -> list[SimulatedSearcher]:
        is_present = jnp.asarray(present[number])
        return [one._replace(problem=with_presence(one.problem, is_present)) for one in searchers]

    def one(number: int) -> Episode:
        started = time.perf_counter()
        search = _TeamSearch(team(number), keys[number], record)
        while not search.is_over:
            search.read()
        on_progress(1)
        columns = jax.tree.map(lambda *leaves: np.stack(leaves), *search.rows)
        seconds = time.perf_counter() - started
        final = np.asarray(search.state.theta)
        return Episode(search.theta, final, columns, seconds, len(search.rows))

    _TeamSearch(team(0), keys[0], record).compile()
    on_progress(0)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(one, range(keys.shape[0])))
