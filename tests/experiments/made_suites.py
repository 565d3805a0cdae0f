"""Small suites: few searches of simple policies on one small filter, so that little has to be compiled."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from dowsax.experiments import walks
from dowsax.experiments.presets import VARIANTS
from dowsax.experiments.suites import figures, searches, stopping, suite
from dowsax.inference.presets import PLAIN, PRESETS
from dowsax.world import LOCATIONS

# Two fields that differ by numbers alone share their compiled programs.
FIELDS = ("temperature", "magnetic")
PLANNERS = ("infotaxis", "entrotaxis", "dcee", "random", "straight")
NUM_TRAINING_SEEDS = 2


def stand_ins(policy):
    """Simple policies in place of trained ones, one for each training seed, and of planners."""
    return ("random",) if policy in PLANNERS else ("greedy",) * NUM_TRAINING_SEEDS


@contextmanager
def made_small():
    """One filter in place of all, two fields in place of seven, two shapes in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        for presets in (PRESETS, VARIANTS):
            for name in presets:
                patch.setitem(presets, name, replace(PLAIN, config=replace(PLAIN.config, num_particles=64)))
        for module in (searches, stopping, figures):
            patch.setattr(module, "FIELDS", FIELDS)
        patch.setattr(suite, "trained_seeds", stand_ins)
        patch.setattr(searches, "LOCATIONS", {name: LOCATIONS[name] for name in ("uniform", "star")})
        patch.setattr(walks, "WALK_READINGS", 4)
        yield
