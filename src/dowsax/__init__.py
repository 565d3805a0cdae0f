"""dowsax finds a hidden source from sparse noisy point readings, and knows when to stop."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dowsax.registration import register
from dowsax.version import VERSION

if TYPE_CHECKING:
    from dowsax import (
        envs,
        evaluate,
        experiments,
        geo,
        inference,
        leaderboards,
        learn,
        mission,
        policies,
        report,
        site,
        survey,
        types,
        viz,
        world,
    )
    from dowsax.inference.locate import locate
    from dowsax.inference.posterior import Posterior
    from dowsax.mission.advisor import Advisor
    from dowsax.policies import policy
    from dowsax.types import Station
    from dowsax.world import Model, benchmark_model

__version__ = VERSION
__all__ = [
    "Advisor",
    "Model",
    "Posterior",
    "Station",
    "benchmark_model",
    "envs",
    "evaluate",
    "experiments",
    "geo",
    "inference",
    "leaderboards",
    "learn",
    "locate",
    "mission",
    "policies",
    "policy",
    "report",
    "site",
    "survey",
    "types",
    "viz",
    "world",
]

# Names are imported when they are first used, so that `dowsax --help` need not wait for jax.
_HOMES = {
    "Advisor": "dowsax.mission.advisor",
    "Model": "dowsax.world",
    "Posterior": "dowsax.inference.posterior",
    "Station": "dowsax.types",
    "benchmark_model": "dowsax.world",
    "locate": "dowsax.inference.locate",
    "policy": "dowsax.policies",
}
# Not among `__all__`: the one is for the terminal, the other needs an extra.
_OTHER_PACKAGES = ("cli", "console")


def __getattr__(name: str) -> Any:
    if name not in (*__all__, *_OTHER_PACKAGES):
        raise AttributeError(f"module 'dowsax' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name) if name in _HOMES else import_module(f"dowsax.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


register()
