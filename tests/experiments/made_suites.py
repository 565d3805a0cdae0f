"""Small suites: few searches of simple policies on one small filter, so that little has to be compiled."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from dowsax.experiments import walks
from dowsax.experiments.presets import VARIANTS
from dowsax.experiments.suites import figures, searches, stopping
from dowsax.experiments.suites.rewards import REWARDED
from dowsax.inference.presets import PLAIN
from dowsax.world import LOCATIONS

# Two fields that differ by numbers alone share their compiled programs.
FIELDS = ("temperature", "magnetic")
LEARNED = ("att-pfrl", "pfrl", *searches.AGDC)
POLICIES = {
    **{name + ending: "greedy" for name in LEARNED for ending in ("", "-ood", "-ood-guarded")},
    **dict.fromkeys(("infotaxis", "entrotaxis", "dcee", "straight"), "random"),
    **{f"{method}-seed-{seed}": "random" for method in REWARDED.values() for seed in (0, 1)},
}


@contextmanager
def made_small():
    """One filter in place of all, two fields in place of seven, two shapes in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIANTS:
            patch.setitem(VARIANTS, name, replace(PLAIN, config=replace(PLAIN.config, num_particles=64)))
        for module in (searches, stopping, figures):
            patch.setattr(module, "FIELDS", FIELDS)
        patch.setattr(searches, "LOCATIONS", {name: LOCATIONS[name] for name in ("uniform", "star")})
        patch.setattr(walks, "WALK_READINGS", 4)
        yield
