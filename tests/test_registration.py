"""Gymnasium knows the search problem once both packages are imported, and neither imports the other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
KNOWN = "'dowsax/Search-v0' in gymnasium.registry and 'jax' not in sys.modules"
SCRIPTS = {
    "gymnasium first": f"import sys, gymnasium, dowsax; assert {KNOWN}",
    "dowsax first": f"import sys, dowsax, gymnasium; assert {KNOWN}",
    "asked for before": (
        "import importlib.util, sys, dowsax; importlib.util.find_spec('gymnasium');"
        f"import gymnasium; assert {KNOWN}"
    ),
    "twice": f"import sys, gymnasium, dowsax.registration as r; r.register(); r.announce(); assert {KNOWN}",
    "by module": (
        "import gymnasium; made = gymnasium.make('dowsax.envs.register:dowsax/Search-v0');"
        "assert made.observation_space.shape == (17,)"
    ),
    "dowsax alone": "import sys, dowsax; assert not {'jax', 'gymnasium', 'numpy'} & set(sys.modules)",
    "environments alone": "import sys, dowsax.envs; assert not {'gymnasium', 'PIL'} & set(sys.modules)",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_imports(script):
    """In a fresh interpreter that takes warnings for errors."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
