"""The filters of the suites: each differs from its preset in what it is named after, and in nothing else."""

from dataclasses import replace

import pytest

from dowsax.experiments.presets import RHOS, VARIANTS, known_presets, mixing
from dowsax.inference import DEFAULT, PAPER
from dowsax.world import benchmark_model


def with_config(preset, **changes):
    return replace(preset, config=replace(preset.config, **changes))


def test_the_parts_of_algorithm_1():
    assert known_presets()["paper"] is PAPER
    assert known_presets()["default"] is DEFAULT
    assert VARIANTS["paper-no-attention"] == with_config(PAPER, attention=None)
    assert VARIANTS["paper-no-moves"] == with_config(PAPER, num_moves=0, max_moves=0)
    assert VARIANTS["paper-bare"] == with_config(PAPER, attention=None, num_moves=0, max_moves=0)


def test_mixing_is_in_the_place_of_attention():
    assert RHOS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert (mixing("paper", 0.0), mixing("default", 0.0)) == ("paper-no-attention", "default")
    assert VARIANTS[mixing("paper", 0.3)] == with_config(PAPER, attention=None, mixing=0.3)
    assert VARIANTS[mixing("default", 0.3)] == with_config(DEFAULT, mixing=0.3)


def test_attention_in_the_default_filter_is_trained():
    with_attention = known_presets()["default-attention"]
    assert with_attention.config.attention is not None
    assert with_attention.projection is not None
    bare = replace(with_attention, projection=None)
    assert with_config(bare, attention=None) == DEFAULT


@pytest.mark.parametrize("name", list(VARIANTS))
def test_can_be_built(name):
    VARIANTS[name].build(benchmark_model("temperature"))
