"""The methods by name: all that they name exists, and what a run is can be written down."""

import json
from dataclasses import replace

import pytest

from dowsax.envs import REWARDS
from dowsax.envs.task import STOPS
from dowsax.learn import methods
from dowsax.learn.base import Learner
from dowsax.learn.methods import METHODS, TrainConfig
from dowsax.policies.shipped import ENCODERS
from dowsax.world import MODALITIES


@pytest.mark.parametrize("name", METHODS)
def test_every_name_is_known(name):
    """Reward, stop rule, encoder and filter; one search per field."""
    method, config = METHODS[name], TrainConfig(name)
    assert method.reward in REWARDS
    assert method.stop in STOPS
    assert method.encoder in ENCODERS
    searches = config.searches()
    assert len(searches) == len(config.fields) == len(MODALITIES)
    assert json.loads(json.dumps(config.settings())) == config.settings()


def test_attention_is_all_that_tells_pfrl_apart():
    """The ablation changes one thing."""
    with_attention, without = METHODS["att-pfrl"], METHODS["pfrl"]
    assert replace(with_attention, meaning="", preset="") == replace(without, meaning="", preset="")
    one, other = (TrainConfig(name).searches()[0].preset for name in ("att-pfrl", "pfrl"))
    assert one.config.attention is not None
    assert other.config.attention is None
    assert replace(one, config=replace(one.config, attention=None), projection=None) == other


def test_agdc_has_a_plain_filter():
    """1,024 particles that are neither tempered nor moved."""
    for name in ("agdc-kld", "agdc-ent", "agdc-ee"):
        config = TrainConfig(name).searches()[0].preset.config
        assert (config.num_particles, config.temper, config.max_moves) == (1024, False, 0)
        assert config.attention is None


def test_schedules_end_with_the_run(monkeypatch):
    """The learner gets the total number of steps."""
    monkeypatch.setattr(methods.ppo, "build", lambda *parts, total_steps: Learner(total_steps, None))
    assert TrainConfig("pfrl", steps=77).learner().init == 77


def test_settings_tell_runs_apart():
    """Whatever is chosen is part of what a run is."""
    usual = TrainConfig("pfrl")
    others = [
        replace(usual, method="att-pfrl"),
        replace(usual, fields=("gas",)),
        replace(usual, scenario="ood-training"),
        replace(usual, steps=5),
        replace(usual, num_searches=64),
        replace(usual, rollout_length=5),
        replace(usual, seed=1),
        replace(usual, particles=64),
        replace(usual, max_readings=20),
    ]
    assert all(other.settings() != usual.settings() for other in others)
    assert others[2].name == "pfrl-ood"
    assert others[7].searches()[0].preset.config.num_particles == 64
