"""Names and keys of a run."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from dowsax.experiment.assemble import Cell, assemble, cells_of, episode_keys, require_known


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"policies": ("guess",)},
            "Unknown policy 'guess'; known are random, oracle-straight",
        ),
        ({"fields": ("heat",)}, "Unknown field 'heat'; known are temperature, concentration"),
        ({"scenario": "easy"}, "Unknown scenario 'easy'; known are id, ood"),
        ({"preset": "best"}, "Unknown preset 'best'; known are default, paper"),
        ({"particles": 3}, "at least 16"),
    ],
)
def test_unknown_names_list_the_known(config, changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        require_known(replace(config, **changes))
    assert "\n" not in str(caught.value)


def test_every_policy_meets_every_field(config):
    config = replace(config, fields=("gas", "energy"), scenario="ood")
    require_known(config)
    cells = cells_of(config)
    assert sorted(cells) == sorted(
        Cell(policy, field, "ood") for policy in ("greedy", "random") for field in ("gas", "energy")
    )
    search, _ = assemble(config, cells[0])
    assert search.max_readings == 6
    assert search.preset.config.num_particles == 64


def test_a_key_depends_on_seed_field_and_number_alone():
    def data(seed, field, numbers):
        return jax.random.key_data(episode_keys(seed, field, np.asarray(numbers)))

    together = data(3, "gas", range(10))
    np.testing.assert_array_equal(together[4:7], data(3, "gas", [4, 5, 6]))
    everything = np.concatenate([together, data(4, "gas", range(10)), data(3, "energy", range(10))])
    assert len(np.unique(everything, axis=0)) == 30
