"""Compiled programs are kept in a user cache folder, so that the second start is a fast one."""

import os
import sys
from pathlib import Path

SWITCH = "DOWSAX_COMPILATION_CACHE"
_LEAST_SECONDS = 0.0
"""Compiled in less is not kept: nothing, as a start has dozens of small programs that add up."""


def silence_compiler() -> None:
    """Keep alarms of XLA ("Very slow compile", "Constant folding") off stderr; errors come as exceptions.

    A level that the user has set stays. XLA reads it once: call this before jax is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def cache_folder() -> Path:
    """Where compiled programs are kept: under XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dowsax" / "jax"


def enable_cache() -> None:
    """Turn JAX's persistent compilation cache on.

    Set DOWSAX_COMPILATION_CACHE=off to do without it. A folder the user has given JAX is left as it is.
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return
    if "jax" not in sys.modules:
        # jax reads these when it is imported; until then nobody has to wait for it.
        if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
            os.environ["JAX_COMPILATION_CACHE_DIR"] = str(cache_folder())
            os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(_LEAST_SECONDS))
        return
    import jax

    if getattr(jax.config, "jax_compilation_cache_dir") is not None:  # noqa: B009 (unknown to type checkers)
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _LEAST_SECONDS)
