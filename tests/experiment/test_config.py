"""Run configurations: what is refused, and what makes two runs the same."""

import json
from dataclasses import replace

import pytest

from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.experiment.config import RunConfig, stop_rule


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": ()}, "at least one policy"),
        ({"fields": ("gas", "gas")}, "field is given twice"),
        ({"episodes": 0}, "at least 1 episode; got 0"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"max_readings": 1}, "at least 2 readings"),
        ({"shard_size": 0}, "at least 1 episode; got 0"),
    ],
)
def test_is_validated(config, changes, message):
    with pytest.raises(ValueError, match=message):
        replace(config, **changes)


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


def test_survives_json(config):
    config = replace(config, rule=stop_rule("entropy", 2.0), to_the_end=True)
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_the_fingerprint_is_that_of_the_episodes(config):
    """Neither the cut nor a rule the episodes can answer for changes it; all else does."""
    same = [{"shard_size": 3}, {"rule": LADDER[0]}, {"policies": ("random", "greedy")}]
    other = [
        {"seed": 1},
        {"episodes": 7},
        {"policies": ("greedy",)},
        {"scenario": "ood"},
        {"particles": 128},
        {"max_readings": 7},
        {"preset": "paper"},
        {"to_the_end": True},
        {"rule": stop_rule("entropy")},
    ]
    assert {replace(config, **changes).fingerprint for changes in same} == {config.fingerprint}
    assert len({config.fingerprint, *(replace(config, **changes).fingerprint for changes in other)}) == 10


def test_an_episode_waits_for_the_ladder_and_the_rule_of_the_summary(config):
    entropy = stop_rule("entropy")
    assert config.until == LADDER
    assert replace(config, rule=entropy).until == (*LADDER, entropy)
    assert replace(config, to_the_end=True).until == (TraceRule("fixed", 6.0),)
