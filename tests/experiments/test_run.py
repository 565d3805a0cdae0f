"""Runs: names, keys, what is refused, and what makes two runs the same."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.experiments.run import Run, episode_keys, require_known, stop_rule

RUN = Run("greedy", "temperature", episodes=6, particles=64, max_readings=6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": "guess"}, "Unknown policy 'guess'; known are random, oracle-straight"),
        ({"field": "heat"}, "Unknown field 'heat'; known are temperature, concentration"),
        ({"scenario": "easy"}, "Unknown scenario 'easy'; known are id, ood"),
        ({"preset": "best"}, "Unknown preset 'best'; known are default, paper"),
        ({"particles": 3}, "at least 16"),
    ],
)
def test_unknown_names_list_the_known(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        require_known([RUN, replace(RUN, **changes)])
    assert "\n" not in str(caught.value)


def test_sizes_reach_the_search():
    search, _ = replace(RUN, scenario="ood").build()
    assert search.max_readings == 6
    assert search.preset.config.num_particles == 64


def test_a_key_depends_on_seed_field_and_number_alone():
    def data(seed, field, numbers):
        return jax.random.key_data(episode_keys(seed, field, np.asarray(numbers)))

    together = data(3, "gas", range(10))
    np.testing.assert_array_equal(together[4:7], data(3, "gas", [4, 5, 6]))
    everything = np.concatenate([together, data(4, "gas", range(10)), data(3, "energy", range(10))])
    assert len(np.unique(everything, axis=0)) == 30


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "at least 1 episode; got 0"),
        ({"seed": -1}, "A seed must be"),
        ({"seed": 2**32}, "A seed must be"),
        ({"max_readings": 1}, "at least 2 readings"),
        ({"particles": 3}, "at least 16"),
    ],
)
def test_is_validated(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(RUN, **changes)


@pytest.mark.parametrize(
    ("name", "threshold", "message"),
    [
        ("guess", None, "Unknown stop rule 'guess'; known are contraction, credible"),
        ("credible", 1.0, "probability below 1"),
        ("contraction", 0.0, "above 0"),
        ("entropy", float("nan"), "above 0"),
    ],
)
def test_stop_rules_are_validated(name, threshold, message):
    with pytest.raises(ValueError, match=message):
        stop_rule(name, threshold)


def test_the_fingerprint_is_that_of_the_episodes():
    """A rule that the episodes decide about does not change it; all else does."""
    other = [
        {"seed": 1},
        {"episodes": 7},
        {"policy": "random"},
        {"field": "gas"},
        {"scenario": "ood"},
        {"particles": 128},
        {"max_readings": 7},
        {"preset": "paper"},
        {"to_the_end": True},
        {"detail": "compact"},
        {"members": ("att-pfrl", "pfrl")},
        {"rule": stop_rule("entropy")},
    ]
    assert replace(RUN, rule=LADDER[0]).fingerprint == RUN.fingerprint
    assert len({RUN.fingerprint, *(replace(RUN, **changes).fingerprint for changes in other)}) == 13


def test_an_episode_waits_for_the_ladder_and_the_rule_of_the_summary():
    entropy = stop_rule("entropy")
    assert RUN.until == LADDER
    assert replace(RUN, rule=entropy).until == (*LADDER, entropy)
    assert replace(RUN, to_the_end=True).until == (TraceRule("fixed", 6.0),)
