"""The persistent cache of compiled programs, in a user cache folder: it makes the second start fast."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "DOWSAX_COMPILATION_CACHE"
_MIN_COMPILE_S = 0.0
"""Programs that compile faster are not cached: zero, as a start has dozens of small ones that add up."""


def silence_compiler() -> None:
    """Keep alarms of XLA ("Very slow compile", "Constant folding") off stderr; errors come as exceptions.

    A level that the user has set stays. XLA reads it once: call this before jax is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def cache_folder() -> Path:
    """Return the cache folder: under XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dowsax" / "jax"


def enable_cache() -> None:
    """Turn JAX's persistent compilation cache on.

    DOWSAX_COMPILATION_CACHE=off disables it. A cache folder that the user has set for JAX is not changed.
    """
    if os.environ.get(CACHE_VARIABLE, "").lower() in ("off", "0", "no", "false"):
        return
    if "jax" not in sys.modules:
        # jax reads these when it is imported, which takes long and may not be needed.
        if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
            os.environ["JAX_COMPILATION_CACHE_DIR"] = str(cache_folder())
            os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(_MIN_COMPILE_S))
        return
    import jax

    if getattr(jax.config, "jax_compilation_cache_dir") is not None:  # noqa: B009 (unknown to type checkers)
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _MIN_COMPILE_S)
