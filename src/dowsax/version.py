"""The version of dowsax, and of what its numbers depend on."""

import platform

VERSION = "0.1.0"


def versions() -> dict[str, str]:
    """Return the versions to write down beside numbers."""
    import jax
    import numpy as np

    return {
        "dowsax": VERSION,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
