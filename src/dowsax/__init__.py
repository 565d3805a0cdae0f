"""dowsax finds a hidden source from sparse noisy point readings, and knows when to stop."""

from dowsax import inference, types, world
from dowsax.compilation import enable_cache
from dowsax.inference.locate import locate
from dowsax.inference.posterior import Posterior
from dowsax.types import Station
from dowsax.world import Model, benchmark_model

__version__ = "0.1.0"
__all__ = ["Model", "Posterior", "Station", "benchmark_model", "inference", "locate", "types", "world"]

enable_cache()
