"""Learning of the olfactory search: returns by a loop, and values against the best policy by enumeration."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.otto_learner import LearnerConfig, Visit, build, lambda_returns, learn
from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_network import ValuePolicy
from dowsax.leaderboards.otto_search import search

CORRIDOR = Case("a corridor", (6, 1), (2, 0), 2, lambda east, north: np.abs(east) ** -2.0, 60, False)
"""Hits tell how near the source is."""
TINY = LearnerConfig(searches=32, length=8, minibatch=64, widths=(32, 32), learning_rate=3e-3)
HORIZON = 9
"""Steps that are planned; what is not found by then is cleared by a sweep to both ends."""


def test_returns_are_those_of_a_loop(key):
    visits = Visit(*jax.random.uniform(key, (5, 6, 3)))
    expected, later = np.zeros((6, 3)), None
    for at in range(5, -1, -1):
        correction = 0.0 if later is None else 0.7 * visits.weight[at] * (later - visits.value[at + 1])
        later = expected[at] = visits.backup[at] + correction
    np.testing.assert_allclose(lambda_returns(visits, 0.7), expected, rtol=1e-5)


def test_the_best_policy_of_a_corridor_is_learned(key):
    """Its mean time is between the best one and 1 % more, and the network knows it to 1 %."""
    best = least_mean_time()
    state = build(key, CORRIDOR, TINY)
    for number in range(200):
        progress = jnp.asarray(number / 200, jnp.float32)
        state, info = learn(jax.random.fold_in(key, number), state, CORRIDOR, TINY, progress)
    found = search(key, CORRIDOR, ValuePolicy(state.averaged), 4000)
    error = 4 * found.means.std() / 4000**0.5
    assert best - error < found.means.mean() < 1.01 * best + error
    assert float(info.first_value) == pytest.approx(best, rel=0.01)


def test_one_orientation_or_all_back_up_the_same_values_at_first(key):
    """Before it has learned anything the network does not care how a belief is turned."""
    few = replace(TINY, searches=4)
    infos = [
        learn(key, build(key, CORRIDOR, config), CORRIDOR, config, jnp.asarray(0.5, jnp.float32))[1]
        for config in (few, replace(few, all_orientations=False))
    ]
    np.testing.assert_allclose(infos[0].error, infos[1].error, rtol=1e-4)


def least_mean_time():
    """Return the mean time of the best policy, by enumeration of all moves and readings."""
    table = CORRIDOR.table[:, :, 0]

    def evidence(place, hits):
        return np.array([table[hits, 5 + source - place] for source in range(6)])

    @cache
    def least(place, counts, found, left):
        """Of unnormalised beliefs: `counts` are how often each reading was taken at each place."""
        belief = np.array([0.0 if source in found else 1.0 for source in range(6)])
        for (at, hits), number in counts:
            belief = belief * evidence(at, hits) ** number
        mass = belief.sum()
        if mass < 1e-12:
            return 0.0
        if left == 0:
            return min(swept(belief, place, order) for order in (-1, 1))
        results = []
        for there in (place - 1, place + 1):
            if 0 <= there < 6:
                after = found | {there}
                results.append(
                    sum(least(there, added(counts, (there, hits)), after, left - 1) for hits in (0, 1))
                )
        return mass + min(results)

    first = ((((2, 0), 1),), (((2, 1), 1),))
    chances = CORRIDOR.first_hits
    total = 0.0
    for hits in (0, 1):
        if chances[hits]:
            mass = evidence(2, hits).sum()
            total += chances[hits] * least(2, first[hits], frozenset({2}), HORIZON) / mass
    return total


def added(counts, reading):
    found = dict(counts)
    found[reading] = found.get(reading, 0) + 1
    return tuple(sorted(found.items()))


def swept(belief, place, order):
    """Return the time to find the source, times its mass, of a walk to one end and then to the other."""
    end = 5 if order > 0 else 0
    way = [*range(place + order, end + order, order), *range(end - order, 5 - end - order, -order)]
    first = {there: number + 1 for number, there in reversed(list(enumerate(way)))}
    return sum(belief[source] * first.get(source, 0) for source in range(6))
