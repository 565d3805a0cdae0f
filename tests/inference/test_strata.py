"""One filter a number of sources in one belief, against the filters of each number by themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference import summaries
from dowsax.inference.presets import DEFAULT
from dowsax.inference.strata import StratifiedFilter
from dowsax.inference.widening import Widening
from dowsax.types import Station
from dowsax.world import benchmark_model

NUM_READINGS = 6
PRESET = DEFAULT.with_particles(128).with_horizon(NUM_READINGS)
MODEL = benchmark_model("temperature", sources=(1, 2))
COLUMNS = MODEL.prior.source_columns
PLACES = jnp.asarray(np.random.default_rng(1).uniform(5, 20, (NUM_READINGS, 2)), jnp.float32)
VALUES = jnp.asarray([0.4, 1.9, 0.1, 3.0, 0.6, 0.2])


@pytest.fixture(scope="module")
def filtered():
    """The belief after the readings, by the whole filter and by the parts of it, with the same keys."""
    whole = PRESET.with_ranks().build(MODEL, template=Station(jnp.zeros(2)))
    filters = [PRESET.build(each, template=Station(jnp.zeros(2))) for each in MODEL.by_number]
    strata = StratifiedFilter.build(MODEL, filters, NUM_READINGS, keep_ranks=True)

    def step(belief, number):
        key = jax.random.fold_in(jax.random.key(7), number)
        return whole.step(key, belief, Station(PLACES[number]), VALUES[number])[0]

    step = jax.jit(step)
    belief = whole.init(jax.random.key(3))
    for number in range(NUM_READINGS):
        belief = step(belief, number)
    keys = jax.random.split(jax.random.key(3), 2)
    alone = []
    for at, one in enumerate(filters):
        part = one.init(keys[at])
        run = jax.jit(one.step)
        for number in range(NUM_READINGS):
            key = jax.random.split(jax.random.fold_in(jax.random.key(7), number), 2)[at]
            part = run(key, part, Station(PLACES[number]), VALUES[number])[0]
        alone.append(part)
    return belief, alone, strata


def test_each_stratum_is_the_filter_of_its_number(filtered):
    """The same particles, weights and evidence, up to rounding."""
    belief, alone, strata = filtered
    for part, own in zip(strata._split(belief), alone, strict=True):
        assert float(part.log_evidence) == pytest.approx(float(own.log_evidence), abs=1e-2)
        np.testing.assert_allclose(part.particles, own.particles, rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(part.log_weights, own.log_weights, atol=1e-2)
        assert part.position_columns == own.position_columns


def test_numbers_have_the_weight_of_their_evidence(filtered):
    belief, _, strata = filtered
    parts = strata._split(belief)
    evidences = np.array([float(part.log_evidence) for part in parts])
    shares = np.exp(evidences - np.logaddexp(*evidences))
    np.testing.assert_allclose(summaries.number_probabilities(belief)[1:], shares, atol=1e-4)
    mixed = np.logaddexp(*evidences) - np.log(2)
    assert float(belief.log_evidence) == pytest.approx(mixed, abs=1e-3)


def test_a_belief_is_summed_up_for_its_most_probable_number(filtered):
    belief, _, strata = filtered
    number = int(summaries.likeliest_number(belief))
    part = strata._split(belief)[number - 1]
    stratum = strata.strata[number - 1]
    for summary in (summaries.mean, summaries.std):
        own = summary(belief)[np.array(stratum.columns)]
        np.testing.assert_allclose(own, summary(part), rtol=2e-3, atol=2e-3)
    chance = float(summaries.number_probabilities(belief)[number])
    for radius in (0.5, 2.0, 8.0):
        expected = chance * float(summaries.mass_within(part, radius))
        assert float(summaries.mass_within(belief, radius)) == pytest.approx(expected, abs=1e-3)
    assert float(summaries.credible_radius(belief, 0.9)) == pytest.approx(
        float(summaries.credible_radius(part, 0.9)), rel=1e-3
    )


def test_a_belief_with_another_number_than_the_truth_is_far_from_it(filtered):
    belief, _, _ = filtered
    number = int(summaries.likeliest_number(belief))
    truth = summaries.mean(belief).at[COLUMNS.number_column].set(number)
    assert float(summaries.distance_to_truth(belief, truth)) == pytest.approx(0.0, abs=1e-4)
    other = truth.at[COLUMNS.number_column].set(3 - number)
    assert float(summaries.distance_to_truth(belief, other)) == summaries.FAR_M


def test_every_reading_has_a_rank(filtered):
    belief, _, _ = filtered
    ranks = np.asarray(belief.ranks)
    assert ((ranks > 0) & (ranks < 1)).all()
    assert len(set(ranks.tolist())) > 1


def test_a_wider_belief_has_the_same_numbers(filtered):
    belief, _, _ = filtered
    wide = Widening.of(MODEL.prior)(belief, 2.0)
    before, after = (summaries.number_probabilities(each) for each in (belief, wide))
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert float(summaries.location_spread(wide)) > float(summaries.location_spread(belief))


def test_promising_places_are_those_of_sources_that_are_there(filtered):
    """None is the place that fills the columns of a source that is not there."""
    belief, _, _ = filtered
    filling = MODEL.prior.sample(jax.random.key(0))
    absent = np.asarray(filling)[list(COLUMNS.blocks[1][:2])]
    places = np.asarray(summaries.promising_places(belief))
    assert (np.linalg.norm(places - absent, axis=1) > 1e-3).all()
