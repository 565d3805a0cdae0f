"""The olfactory search: its world by the formulas of the paper, belief and time to find by enumeration."""

import json
import math

import numpy as np
import pytest
from scipy.special import k0

from dowsax.cli import run
from dowsax.leaderboards.otto import CASES, DONE, Case, evidence, look_ahead, search
from dowsax.leaderboards.otto_policies import infotaxis, space_aware

SMALL, LARGE, MEDIUM, LOW = CASES
ALONG = Case("a corridor", (7, 1), (3, 0), 2, lambda east, north: np.full(east.shape, 0.5), 100, False)
"""Hits tell nothing here: they are as frequent everywhere."""


def sweep(case, beliefs, places, after):
    """East to the end, then west; the moves are west, east, south, north."""
    is_east_left = beliefs[:, case.start[0] + 1 :].sum(axis=(1, 2)) > 0
    return np.where(is_east_left[:, None], [1.0, 0.0, 2.0, 2.0], [0.0, 1.0, 2.0, 2.0])


def test_the_cases_are_those_of_the_paper():
    assert [case.shape for case in CASES] == [(19, 19), (53, 53), (81, 41), (81, 41)]
    assert [case.num_hits for case in CASES] == [3, 4, 2, 2]
    assert [case.start for case in CASES] == [(9, 9), (26, 26), (65, 20), (65, 20)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_readings_have_probabilities_everywhere(case):
    """They sum to one, but for the cell of the source."""
    total = case.table.sum(axis=0)
    assert total[case.shape[0] - 1, case.shape[1] - 1] == 0
    assert np.sum(total == 0) == 1
    np.testing.assert_allclose(total[total > 0], 1.0)


def test_the_mean_of_the_hits_is_that_of_the_formulas():
    """Without wind K₀(d / L) / ln 2L; with wind more downwind of the source than upwind."""
    (none, *_), distance = SMALL.table[:, 18 - 3, 18 + 2], math.hypot(3, 2)
    assert none == pytest.approx(math.exp(-k0(distance) / math.log(2)))
    length = math.sqrt(150 / 4 / (1 + 150 / 4))
    # The source is 5 cells west of the searcher, which is downwind.
    none, hit = MEDIUM.table[:, 80 - 5, 40]
    assert none == pytest.approx(math.exp(-2.5 / 5 * math.exp(5 - 5 / length)))
    assert hit > MEDIUM.table[1, 80 + 5, 40]
    assert LOW.table[1, 80 - 5, 40] < hit


def test_the_first_hit_comes_from_anywhere():
    """At least one hit; of one and more as often as a plane of sources gives them, by quadrature in rings."""
    radii = np.arange(1, 200)
    means = k0(radii) / math.log(2)
    one = np.sum(radii * means * np.exp(-means))
    more = np.sum(radii * (1 - np.exp(-means) * (1 + means)))
    np.testing.assert_allclose(SMALL.first_hits, [0, one / (one + more), more / (one + more)])
    assert MEDIUM.first_hits.tolist() == [0, 1]


def test_the_evidence_is_the_table_as_seen_from_the_searcher():
    found = evidence(SMALL, np.array([[2, 5]]))[0]
    for source in ((2, 6), (0, 0), (18, 3)):
        east, north = np.subtract(source, (2, 5)) + 18
        np.testing.assert_array_equal(found[:, source[0], source[1]], SMALL.table[:, east, north])


def test_looking_ahead_is_the_law_of_bayes():
    """Of a belief by hand: found, else each reading with each place of the source."""
    belief = np.random.default_rng(0).dirichlet(np.ones(361)).reshape(1, 19, 19)
    after = look_ahead(SMALL, belief, np.array([[0, 4]]))
    assert after.possible.tolist() == [[False, True, True, True]]
    assert after.found[0, 1] == belief[0, 1, 4]
    rest = belief[0].copy()
    rest[1, 4] = 0
    expected = rest / rest.sum() * evidence(SMALL, np.array([[1, 4]]))[0]
    np.testing.assert_allclose(after.joint[0, 1], expected, atol=1e-15)


def test_the_costs_are_those_of_their_definitions():
    """Entropy and mean distance, each from one belief after one reading at a time."""
    belief = np.random.default_rng(1).dirichlet(np.full(361, 0.1)).reshape(1, 19, 19)
    place = np.array([[9, 9]])
    after = look_ahead(SMALL, belief, place)
    entropy, aware = np.zeros(4), np.zeros(4)
    for move in range(4):
        x, y = after.places[0, move]
        distance = np.abs(np.arange(19) - x)[:, None] + np.abs(np.arange(19) - y)[None]
        for joint in after.joint[0, move]:
            chance, posterior = joint.sum(), joint / joint.sum()
            bits = -np.sum(posterior[posterior > 0] * np.log2(posterior[posterior > 0]))
            entropy[move] += (1 - after.found[0, move]) * chance * bits
            value = math.log2((posterior * distance).sum() + 2 ** (bits - 1) - 0.5)
            aware[move] += (1 - after.found[0, move]) * chance * value
    np.testing.assert_allclose(infotaxis(SMALL, belief, place, after)[0], entropy)
    np.testing.assert_allclose(space_aware(SMALL, belief, place, after)[0], aware)


def test_the_mean_time_is_that_of_a_sweep():
    """In a corridor of seven, where hits tell nothing: 1, 2 and 3 steps east, then 7, 8 and 9 west."""
    found = search(ALONG, sweep, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found.means, np.mean([1, 2, 3, 7, 8, 9]), atol=9 * DONE)
    assert not found.failed.any()


def test_who_goes_to_and_fro_has_failed():
    """Where the case says so; else the search goes on until its last step."""
    turn = iter(range(10_000))

    def to_and_fro(case, beliefs, places, after):
        return (
            np.tile([0.0, 1.0, 2.0, 2.0], (len(places), 1))
            if next(turn) % 2
            else np.tile([1.0, 0.0, 2.0, 2.0], (len(places), 1))
        )

    stuck = Case("stuck", (7, 1), (3, 0), 2, ALONG.mean_hits, 100, True)
    assert search(stuck, to_and_fro, 2, np.random.default_rng(0)).failed.all()
    assert next(turn) < 20
    assert search(ALONG, to_and_fro, 2, np.random.default_rng(0)).failed.all()
    assert next(turn) > 100


def test_published_numbers_are_met():
    """Measured with the authors' code, 400 searches: infotaxis 13.96 ± 0.52, space-aware 13.76 ± 0.49.

    Both are means with standard errors; the difference has that of both together.
    """
    for policy, mean, error in ((infotaxis, 13.96, 0.52), (space_aware, 13.76, 0.49)):
        found = search(SMALL, policy, 200, np.random.default_rng(4))
        own = found.means.std() / math.sqrt(200)
        assert abs(found.means.mean() - mean) < 3 * math.hypot(own, error)
        assert found.failed.mean() < 0.02


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_case_and_policy(capsys):
    assert run(["leaderboard", "otto", "--rollouts", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["case"] for row in rows] == [case.name for case in CASES for _ in range(2)]
    assert all(row["steps"] > 1 for row in rows)
