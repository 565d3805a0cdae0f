"""Install a wheel outside of the checkout and run it there: `python -m tools.check_wheel dist/*.whl`.

For every Python that jax supports and that can be had here, `dowsax demo` runs in a fresh environment. The
first one also locates a survey with no extra installed, and checks that the extra `all` can be installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LOCATE = """
import importlib.util
import numpy as np
import dowsax

for module in ("fastapi", "matplotlib", "pyarrow", "ray", "aiomqtt", "arviz"):
    assert importlib.util.find_spec(module) is None, f"{module} is installed without an extra"
positions = np.array([[0.0, 10], [3, 10], [6, 10], [8, 10], [10, 10], [11, 10]])
readings = np.array([0.031, 0.111, 0.451, 1.318, 5.134, 14.33])
posterior = dowsax.locate(positions, readings, field="temperature", particles=256)
assert np.hypot(*(posterior.mean[:2] - positions[-1])) < 3.0, posterior.mean
print(f"dowsax {dowsax.__version__} without extras: {posterior.verdict()}")
"""
_INSTALL_TIMEOUT_S = 300


def main() -> None:
    wheel = Path(sys.argv[1]).resolve()
    pythons = {version: python for version in PYTHONS if (python := find_python(version)) is not None}
    for version in PYTHONS:
        if version not in pythons:
            print(f"Python {version}: skipped, as it is not installed and uv cannot install it.")
    if not pythons:
        sys.exit(f"None of Python {', '.join(PYTHONS)} can be had here: install one of them.")
    with tempfile.TemporaryDirectory(prefix="dowsax-wheel-") as folder:
        for version, python in pythons.items():
            check(wheel, version, python, Path(folder) / version, is_first=version == next(iter(pythons)))


def find_python(version: str) -> str | None:
    """Return the path of a Python: on the PATH, of pyenv, or installed by uv; None where there is none."""
    folders = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin")
    candidates = [shutil.which(f"python{version}"), *(str(path / "python") for path in sorted(folders))]
    for candidate in filter(None, candidates):
        if is_python(candidate, version):
            return candidate
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        return None
    try:
        subprocess.run(
            [uv, "python", "install", version], capture_output=True, check=True, timeout=_INSTALL_TIMEOUT_S
        )
        found = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip()


def is_python(path: str, version: str) -> bool:
    """Whether this Python of the version can make environments: a shim of pyenv may stand for none."""
    script = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    outcome = subprocess.run([path, "-c", script], capture_output=True, text=True)
    return outcome.returncode == 0 and outcome.stdout.strip() == version


def check(wheel: Path, version: str, python: str, folder: Path, is_first: bool) -> None:
    """Run the wheel in a fresh environment, or end the program where a command fails."""
    print(f"Python {version}: {python}", flush=True)
    run(folder.parent, python, "-m", "venv", str(folder))
    binaries = folder / "bin"
    pip = (str(binaries / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check")
    if is_first:
        run(folder, *pip, str(wheel))
        run(folder, str(binaries / "python"), "-W", "error::ImportWarning", "-c", LOCATE)
        run(folder, *pip, "--dry-run", f"{wheel}[all]")
    run(folder, *pip, f"{wheel}[viz]")
    run(folder, str(binaries / "dowsax"), "demo", "--out", "demo")
    missing = {"search.gif", "end.png", "search.json", "survey.csv"} - set(os.listdir(folder / "demo"))
    if missing:
        sys.exit(f"Python {version}: `dowsax demo` did not write {', '.join(sorted(missing))}.")


def run(folder: Path, *command: str) -> None:
    """Run a command that sees nothing of the checkout and finds no compiled program."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["XDG_CACHE_HOME"] = str(folder / ".cache")
    if subprocess.run(command, cwd=folder, env=environment).returncode != 0:
        sys.exit(f"Failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
