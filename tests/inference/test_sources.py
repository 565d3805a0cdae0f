"""Posteriors of several sources: their order, their number and the distance of two sets."""

import itertools

import numpy as np
import pytest

from dowsax.inference.locate import locate
from dowsax.inference.sources import Published, estimate_sources, ospa
from dowsax.world import UniformBox, compose
from dowsax.world.distributions import Uniform

PLACES = np.random.default_rng(0).uniform(0, 25, (12, 2))


@pytest.mark.parametrize(("few", "many"), [(1, 1), (2, 2), (2, 3), (0, 2)])
def test_ospa_is_the_least_over_all_matches(few, many):
    """Against the definition by assignments of all places, those without a match at the cutoff."""
    random = np.random.default_rng(few + 10 * many)
    one, other, cutoff = random.normal(0, 2, (few, 2)), random.normal(0, 2, (many, 2)), 1.5
    costs = []
    for order in itertools.permutations(range(many), few):
        matched = [min(np.linalg.norm(one[i] - other[j]), cutoff) for i, j in enumerate(order)]
        costs.append((sum(matched) + cutoff * (many - few)) / many)
    assert ospa(one, other, cutoff) == pytest.approx(min(costs))
    assert ospa(other[::-1], one, cutoff) == pytest.approx(min(costs))


@pytest.fixture(scope="module")
def values():
    return np.exp(-np.linalg.norm(PLACES - [12.0, 9.0], axis=1) / 3) + 0.01


def test_columns_are_source_by_source_the_strongest_first(values):
    found = locate(PLACES, values, "temperature", particles=128, sources=2)
    assert found.names == ("x1", "y1", "q1", "x2", "y2", "q2", "ux", "uy", "alpha", "lambda")
    assert found.source_columns == ((0, 1, 2), (3, 4, 5))
    assert found.mean[2] >= found.mean[5]
    assert found.source_positions(found.samples).shape == (128, 2, 2)
    assert found.trace.mean.shape == (12, 10)


def test_of_an_unknown_number_the_samples_are_those_of_the_most_probable(values):
    found = locate(PLACES, values, "temperature", particles=64, sources="1-2")
    chances = found.number_probabilities
    assert sum(chances.values()) == pytest.approx(1.0)
    assert found.num_sources == max(chances, key=chances.get)
    assert found.number_probability + found.more_probability <= 1.0 + 1e-9
    assert len(found.weights) == 64
    names = ("x", "y", "q") if found.num_sources == 1 else ("x1", "y1", "q1", "x2", "y2", "q2")
    assert found.names == (*names, "ux", "uy", "alpha", "lambda")
    assert len(estimate_sources(found)) == found.num_sources


def test_a_range_of_numbers_is_for_one_survey_of_a_field():
    with pytest.raises(ValueError, match="one by one"):
        locate(np.zeros((2, 3, 2)), np.ones((2, 3)), "temperature", sources="1-2")
    with pytest.raises(ValueError, match="whole number, or a range"):
        locate(np.zeros((3, 2)), np.ones(3), "temperature", sources="many")


def test_names_that_end_in_a_number_are_no_sources():
    """The backgrounds of sensors may, which are shared."""
    box, sensors = UniformBox((0.0, 0.0), (50.0, 50.0)), ("1", "s1")
    model = compose("level", box, sources=2, background=Uniform(20.0, 40.0), sensors=sensors)
    columns = model.prior.source_columns
    order = Published.of(model.prior.parameters, columns, 2, np.zeros(len(model.prior.parameters)))
    size = len(columns.own)
    assert order.sources == (tuple(range(size)), tuple(range(size, 2 * size)))
    names = [parameter.name for parameter in order.parameters]
    assert names[2 * size :].count("background 1") == 1
    assert sorted(order.columns.tolist()) == list(range(len(names)))
