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
        positions=nothing,
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


def test_of_several_sources_the_verdict_speaks_of_the_first():
    """Located or not, of one survey or of many; of one source it says nothing of the kind."""
    samples = np.random.default_rng(3).normal([3.0, 4.0, 50.0, 60.0], [0.3, 0.3, 9.0, 9.0], (NUMBER, 4))
    near = replace(posterior(samples, (0, 1)), num_sources=2)
    far = replace(near, position_columns=(2, 3))
    assert near.verdict().startswith("Located: the first of 2 sources is within ")
    assert far.verdict().startswith("Not located yet: standard deviation of the first of 2 sources ")
    assert "sources" not in replace(near, num_sources=1).verdict()
    batch = replace(near, samples=samples[None], weights=near.weights[None], fit=np.array([0.5]))
    assert batch.verdict() == "Located the first of 2 sources within 1 m at 95 % in 1 of 1 surveys."
