"""Stacked problems are the problems one by one."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS, Credible
from dowsax.learn.stacked import StackedProblems
from dowsax.world import Budget, Fence, NearAndFar, UniformBox, compose


def problem(size: float, directions: int = 4) -> SearchProblem:
    low, high = (0.0, 0.0), (size, 0.5 * size)
    actions = NearAndFar(
        Fence.of(Bounds()), low, high, lengths=(0.1 * size, 0.2 * size), directions=directions
    )
    return SearchProblem(
        compose("radiation", UniformBox(low, high), background=10.0),
        PRESETS["training"].with_particles(16),
        SCENARIOS["id"],
        actions,
        max_readings=8,
        budget=Budget(6.0, 3 * size),
        stop=Credible(0.05 * size),
    )


SIZES = (40.0, 300.0, 1000.0)


@pytest.fixture(scope="module")
def stacked():
    return StackedProblems.of([problem(size) for size in SIZES])


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_a_selected_problem_is_that_problem(stacked, number, key):
    """Its prior, its candidates, its budget and its stop rule, also where the number is traced."""
    own, here = problem(SIZES[number]), jnp.array([0.4, 0.2]) * SIZES[number]

    def summary(search):
        candidates = search.actions.candidates(here, search.whole_budget, jnp.zeros((16, 2)))
        theta = search.model.prior.sample(key)
        return *candidates[:4], theta, search.model.prior.log_prob(theta), search.success_radius

    found = jax.jit(lambda at: summary(stacked.select(at)))(jnp.int32(number))
    for leaf, other in zip(found, summary(own), strict=True):
        np.testing.assert_allclose(leaf, other, rtol=1e-5, atol=1e-4)


def test_readings_are_limited_by_the_budget(stacked):
    assert float(stacked.select(jnp.int32(0)).whole_budget.readings) == 6.0
    most = replace(problem(40.0), budget=Budget(100.0)).whole_budget
    assert float(most.readings) == 8.0


def test_what_is_the_same_is_not_stacked(stacked):
    same = StackedProblems.of([problem(40.0), problem(40.0)])
    assert not any(same.is_stacked)
    assert any(stacked.is_stacked)


def test_other_choices_are_refused():
    with pytest.raises(ValueError, match="Problem 1 has other static choices than problem 0"):
        StackedProblems.of([problem(40.0), problem(40.0, directions=8)])
