"""`import dowsax` registers the search problem with Gymnasium, and changes nothing else."""

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
    "twice": f"import sys, dowsax.registration as r, gymnasium; r.register(); assert {KNOWN}",
    "by module": (
        "import gymnasium; made = gymnasium.make('dowsax.envs.register:dowsax/Search-v0');"
        "assert made.observation_space.shape == (17,)"
    ),
    "nothing else": (
        # Gymnasium, in which the problem is registered, changes the environment itself.
        "import os, sys, gymnasium; before = list(sys.meta_path), dict(os.environ); import dowsax;"
        "assert (sys.meta_path, dict(os.environ)) == before and 'jax' not in sys.modules"
    ),
    "no setting of jax": (
        "import jax; before = dict(jax.config.values); import dowsax; dowsax.locate;"
        "assert dict(jax.config.values) == before"
    ),
    "every subpackage": (
        "import pathlib, dowsax; folder = pathlib.Path(dowsax.__file__).parent;"
        "names = {path.parent.name for path in folder.glob('*/__init__.py')};"
        "assert len(names) > 12 and all(getattr(dowsax, name) for name in {*names, *dowsax.__all__})"
    ),
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
