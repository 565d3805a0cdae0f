"""Searches by several searchers with one belief: the one that is ready first takes the next reading.

Each searcher has its own place, clock and budget. When it has read, it is given its next place, with the
readings that the others are on their way to. Searches run one by one, one per thread.
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
from dowsax.policies.others import pending_at
from dowsax.types import Key, Station
from dowsax.world import PlacesAtHeights
from dowsax.world.trails import height_of, move_station, set_measurement

_decide_in_team = eqx.filter_jit(decide_in_team)
_is_over = eqx.filter_jit(SearchProblem.is_over)
_seconds_to = eqx.filter_jit(SearchProblem.seconds_to)


class TeamMember(NamedTuple):
    """One searcher: its problem, of which what it can reach is its own, and its policy."""

    problem: SearchProblem
    policy: Policy | Oracle
    apart: float = 0.0
    """[m], how far from the places of the others it reads, where it can."""


@dataclass
class _Seat:
    """Where a searcher is in a search."""

    station: Station
    path_length: Any
    elapsed: Any
    num_on_way: Any
    num_own: int = 0
    """Its readings so far, those on the way included."""
    target: Any = None
    """Where it goes; `None` where it has no place yet, or cannot go on."""
    ready: float = np.inf
    """[s], when it will have read there."""


class _TeamSearch:
    """One search by a team."""

    def __init__(self, members: Sequence[TeamMember], key: Key, record: Recorder) -> None:
        self.members, self.key, self.record = members, key, record
        self.has_heights = any(isinstance(one.problem.actions, PlacesAtHeights) for one in members)
        state = PROGRAMS.prepare(members[0].problem, key)
        self.theta = np.asarray(state.theta)
        self.state, self.rows = state, []
        self.seats = [self._seat(number, member) for number, member in enumerate(members)]
        starts: list[np.ndarray] = []
        for seat, member in zip(self.seats, members, strict=True):
            place = np.asarray(seat.station.position)
            # A second reading at one place would tell little: that searcher goes on at once.
            if not any(np.array_equal(place, other) for other in starts):
                self._send(seat, member, seat.station.target)
            starts.append(place)

    def _seat(self, number: int, member: TeamMember) -> _Seat:
        state, start = self.state, member.problem.start
        assert start is not None
        own = start(jax.random.key(0))
        station = move_station(state.station, own.position)
        if own.altitude is not None:
            station = set_measurement(station, "altitude", own.altitude)
        station = replace(station, searcher=jnp.asarray(number, jnp.int32))
        return _Seat(station, state.path_length, state.elapsed, state.num_on_way)

    def _of(self, seat: _Seat) -> SearchState:
        """Return the state of the search as one searcher has it."""
        num_others = self.state.belief.history.size - seat.num_own
        own = {name: getattr(seat, name) for name in ("station", "path_length", "elapsed", "num_on_way")}
        return replace(self.state, num_others=jnp.asarray(num_others, jnp.int32), **own)

    def _send(self, seat: _Seat, member: TeamMember, target: Any) -> None:
        seconds = float(_seconds_to(member.problem, self._of(seat), target))
        seat.target, seat.ready = target, float(seat.elapsed) + seconds

    def _decide(self, number: int) -> None:
        """Give a searcher its next place."""
        seat, member = self.seats[number], self.members[number]
        going = [
            move_station(other.station, other.target)
            for other in self.seats
            if other is not seat and other.target is not None
        ]
        places = [tuple(np.asarray(there.position).tolist()) for there in going]
        heights = [float(height_of(there)) for there in going] if self.has_heights else None
        pending = pending_at(places, len(self.seats) - 1, heights)
        # The first searcher decides as one alone does.
        key = jax.random.fold_in(self.key, number) if number else self.key
        apart = jnp.asarray(member.apart, jnp.float32)
        target = _decide_in_team(member.problem, member.policy, key, self._of(seat), pending, apart)
        self._send(seat, member, require_finite(member.problem, target))

    def read(self) -> None:
        """Take the next reading, and send its searcher on."""
        number = int(np.argmin([seat.ready for seat in self.seats]))
        seat, member = self.seats[number], self.members[number]
        before = self.state.belief.history.size
        state, row, is_over = PROGRAMS.read(
            member.problem, self.record, self.key, self._of(seat), seat.target
        )
        seat.num_own += int(state.belief.history.size - before)
        for name in ("station", "path_length", "elapsed", "num_on_way"):
            setattr(seat, name, getattr(state, name))
        self.state, seat.target, seat.ready = state, None, np.inf
        row = jax.tree.map(np.asarray, row)
        way = sum(float(each.path_length) for each in self.seats)
        self.rows.append(row._replace(path_length=np.asarray(way, np.float32)))
        waiting = [
            index for index, each in enumerate(self.seats) if each.num_own == 0 and each.target is None
        ]
        for index in waiting if len(self.rows) == 1 else ():
            if not bool(_is_over(self.members[index].problem, self._of(self.seats[index]))):
                self._decide(index)
        if not bool(is_over):
            self._decide(number)

    @property
    def is_over(self) -> bool:
        """Whether the search has ended, or nobody can go on."""
        if not self.rows:
            return False
        # No rule is checked at the start.
        has_ended = bool(self.rows[-1].settled) and len(self.rows) > 1
        is_lost = not np.isfinite(self.rows[-1].spread)
        return has_ended or is_lost or all(seat.target is None for seat in self.seats)


def run_team_episodes(
    members: Sequence[TeamMember],
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
    members
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
    members = [
        member._replace(problem=as_arrays(member.problem), policy=as_arrays(member.policy))
        for member in members
    ]

    def team(number: int) -> list[TeamMember]:
        is_present = jnp.asarray(present[number])
        return [one._replace(problem=with_presence(one.problem, is_present)) for one in members]

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

    first = _TeamSearch(team(0), keys[0], record)
    first.read()
    on_progress(0)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(one, range(keys.shape[0])))
