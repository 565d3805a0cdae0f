"""Compiled programs are kept in a user cache folder, so that the second start is a fast one."""

import os
from pathlib import Path

import jax

SWITCH = "DOWSAX_COMPILATION_CACHE"


def cache_folder() -> Path:
    """Where compiled programs are kept: under XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dowsax" / "jax"


def enable_cache() -> None:
    """Turn JAX's persistent compilation cache on.

    Set DOWSAX_COMPILATION_CACHE=off to do without it. A folder the user has given JAX is left as it is.
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return
    if jax.config.jax_compilation_cache_dir is not None:
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
