"""The runner of the benchmarks: a step that fails is told, and takes nothing else with it."""

import json
import sys

import pytest

from benchmarks import run, startup, summary

MACHINE = dict.fromkeys(
    ("cpu", "architecture", "cores", "system", "python", "jax", "jaxlib", "numpy", "scipy"), "some"
)


@pytest.fixture
def steps(monkeypatch):
    """Steps that only print, write their file, and end as told; no git."""
    programs = {
        "speed": "import sys; print('halfway'); sys.exit('it broke')",
        "peers": "import pathlib, sys; pathlib.Path(sys.argv[1], 'peers.md').write_text('| table |')",
        "growth": "print('done, but nothing is written')",
        "startup": "import time; time.sleep(60)",
    }
    monkeypatch.setattr(
        run, "command", lambda name, out, tiny: [sys.executable, "-c", programs[name], str(out)]
    )
    monkeypatch.setattr(run, "STEPS", run.STEPS | {"peers": run.Step("", ("peers.md",), "")})
    monkeypatch.setattr(run.machine, "commit", lambda: "abc")
    monkeypatch.setattr(run.machine, "describe", lambda: MACHINE)


def test_a_failing_step_does_not_stop_the_others(steps, tmp_path, monkeypatch):
    (tmp_path / "speed.json").write_text("{}")
    monkeypatch.setattr(sys, "argv", ["run", "--only", "speed", "growth", "peers", "--out", str(tmp_path)])
    assert run.main() == 1
    outcomes = json.loads((tmp_path / "steps.json").read_text())
    assert outcomes["speed"]["error"] == "exit code 1: it broke"
    assert outcomes["growth"]["error"] == "wrote no growth.csv, growth.png"
    assert outcomes["peers"]["error"] == ""
    page = (tmp_path / "summary.md").read_text()
    assert "| table |" in page
    assert "Failed: exit code 1: it broke" in page
    assert "halfway" in (tmp_path / "speed.log").read_text()
    # What an earlier run had left is gone, so that it cannot stand for this one.
    assert not (tmp_path / "speed.json").exists()


def test_a_step_that_hangs_is_stopped(steps, tmp_path):
    outcome = run.run_step("startup", tmp_path, False, 0.5, lambda line: None)
    assert outcome.error.startswith("stopped after")
    assert outcome.seconds < 30


def test_a_cold_start_does_not_inherit_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "elsewhere")
    given = startup.environment(tmp_path)
    assert "JAX_COMPILATION_CACHE_DIR" not in given
    assert given["XDG_CACHE_HOME"] == str(tmp_path)


def test_n_log_n_is_one():
    """Times of exactly N log N have the ratio 1; of N², 10 · 4/5 = 8 between 10⁴ and 10⁵."""
    from math import log

    def compare(law):
        points = [{"size": str(n), "wall_ms": str(law(n))} for n in (500, 10_000, 100_000)]
        return summary.against_n_log_n(points)

    assert compare(lambda n: n * log(n)).endswith("| 1.00 |")
    assert compare(lambda n: n**2).endswith("| 8.00 |")
