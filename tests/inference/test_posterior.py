"""The answer of a survey: what it says of the position follows the columns that are one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi

from dowsax.inference import Posterior
from dowsax.inference.posterior import Trace
from dowsax.world import Parameter

NUMBER = 20_000


def posterior(samples: np.ndarray, columns: tuple[int, ...]) -> Posterior:
    nothing, names = np.zeros(1), "abcdefg"[: samples.shape[1]]
    return Posterior(
        tuple(Parameter(name, "m", "") for name in names),
        samples,
        np.full(len(samples), 1 / len(samples)),
        places=nothing,
        readings=nothing,
        log_evidence=nothing,
        fit=np.array(0.5),
        trace=Trace(*[nothing] * 7),
        position_columns=columns,
    )


def test_columns_in_another_order_give_the_same_answer():
    samples = np.random.default_rng(1).normal([3.0, 40.0, 5.0], [0.3, 9.0, 0.2], (NUMBER, 3))
    one = posterior(samples, (0, 2))
    other = posterior(samples[:, [1, 2, 0]], (2, 1))
    assert one.verdict() == other.verdict()
    assert one.verdict().startswith("Located: the source is within ")
    assert float(one.credible_radius(0.9)) == pytest.approx(float(other.credible_radius(0.9)))
    assert bool(one.contracted)
    assert not bool(replace(one, position_columns=(0, 1)).found)


def test_the_ends_of_a_narrow_interval_differ_in_the_table():
    samples = np.linspace([0.0, 1.99995], [1.0, 2.00005], NUMBER)
    wide, narrow = posterior(samples, (0, 1)).rows()
    assert wide[-2:] == ("0.02495", "0.975")
    assert narrow[-2:] == ("1.99995", "2.00005")


@pytest.mark.parametrize("probability", [0.5, 0.95])
def test_the_radius_in_three_dimensions_is_that_of_a_ball(probability):
    """Of a round normal distribution, σχ with three degrees of freedom, to 5 standard errors."""
    spread = 0.2
    samples = np.random.default_rng(2).normal(0.0, spread, (NUMBER, 3))
    found = posterior(samples, (0, 1, 2))
    expected = spread * chi(3).ppf(probability)
    error = np.sqrt(probability * (1 - probability) / NUMBER) / (chi(3).pdf(expected / spread) / spread)
    assert abs(float(found.credible_radius(probability)) - expected) < 5 * error
    assert abs(float(found.probability_within(expected)) - probability) < 5 * np.sqrt(0.25 / NUMBER)
    assert found.verdict().count(",") == 2


def test_several_sources_are_located_when_each_of_them_is():
    """Located or not, of one survey or of many, and with a number that is not settled."""
    random = np.random.default_rng(3)
    samples = random.normal([3.0, 4.0, 50.0, 60.0], [0.3, 0.3, 0.2, 0.2], (NUMBER, 4))
    near = replace(posterior(samples, (0, 1)), source_columns=((0, 1), (2, 3)))
    far = replace(near, samples=samples * [1.0, 1.0, 9.0, 9.0])
    assert near.found
    assert not far.found
    assert near.verdict().startswith("Located: the 2 sources are within ")
    assert far.verdict().startswith("Not located yet: standard deviation of the least certain of 2 sources ")
    each = [replace(posterior(part, (0, 1))) for part in (samples[:, :2], samples[:, 2:])]
    both = np.prod([float(one.probability_within(0.5)) for one in each])
    assert float(near.probability_within(0.5)) == pytest.approx(both, abs=5 * np.sqrt(0.25 / NUMBER))
    open_number = replace(near, number_probabilities={1: 0.1, 2: 0.7, 3: 0.2})
    assert not open_number.found
    assert open_number.more_probability == pytest.approx(0.2)
    assert float(open_number.probability_within(9.0)) == pytest.approx(0.7)
    assert "2 sources with probability 0.7; there may be one more, with 0.2" in open_number.verdict()
    batch = replace(near, samples=samples[None], weights=near.weights[None], fit=np.array([0.5]))
    assert batch.verdict() == "Located all 2 sources within 1 m at 95 % in 1 of 1 surveys."
