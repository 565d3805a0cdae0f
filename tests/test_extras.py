"""Without its extras dowsax does all that needs none, and names the extra of everything else in one line."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dowsax.extras import EXTRAS

ROOT = Path(__file__).parents[1]
TINY = ("--field", "temperature", "--particles", "64")
"""The same as in other tests: one compilation serves all."""

NEEDS_EXTRA = {
    "serve": ("console", ["serve"]),
    "reproduce": ("viz", ["reproduce", "--list"]),
    "locate --plot": ("viz", ["locate", "survey.csv", "--field", "gas", "--plot", "belief.png"]),
    "rehearse --plot": ("viz", ["rehearse", "site.toml", "--plot", "rehearsal.png"]),
    "export --to html": ("viz", ["export", "mission.log", "--to", "html"]),
    "advise --mqtt": (
        "mqtt",
        ["advise", "--site", "site.toml", "--log", "a.log", "--mqtt", "mqtt://localhost"],
    ),
    "advise --mcap": ("mcap", ["advise", "--site", "site.toml", "--log", "a.log", "--mcap", "a.mcap"]),
    "export --mcap": ("mcap", ["export", "mission.log", "--mcap", "a.mcap"]),
    "fly": ("mavlink", ["fly", "--site", "site.toml", "--log", "a.log", "--mavlink", "udpin:0.0.0.0:14550"]),
    "evaluate --ray": ("ray", ["evaluate", "--policy", "random", "--field", "gas", "--ray", "local"]),
}
"""Commands and the extra that they name."""

WORKS = {
    "help": ["--help"],
    "version": ["--version"],
    "site new": ["site", "new", "site.toml"],
    "site check": ["site", "check", "site.toml"],
    "simulate": ["simulate", "--field", "temperature", "--readings", "6", "--out", "survey.csv"],
    "locate": ["locate", "survey.csv", *TINY, "--out", "result"],
    "search": ["search", "--policy", "greedy", *TINY, "--max-readings", "6", "--out", "search"],
}
"""Commands that need no extra, or only for files that they leave out."""

WRONG_INPUT = {
    "advise": ["advise", "--site", "no.toml", "--log", "a.log"],
    "calibrate": ["calibrate", "--field", "gas", "--cases", "1"],
    "compare": ["compare", "no-run"],
    "correct": ["correct", "no.log", "--id", "7", "--value", "1"],
    "demo": ["demo", "--out", "survey.csv/demo"],
    "evaluate": ["evaluate", "--policy", "nobody", "--field", "gas"],
    "export": ["export", "no.log", "--to", "kml"],
    "recover": ["recover", "no.log"],
    "rehearse": ["rehearse", "no.toml"],
    "train": ["train", "--method", "none"],
    "withdraw": ["withdraw", "no.log", "--id", "7"],
    "restore": ["restore", "no.log", "--id", "7"],
}
"""Commands that need no extra, with input that they refuse: they get that far without one."""

PROGRAMS = {
    "viz": "import dowsax; dowsax.viz.belief_figure",
    "console": "import dowsax.console",
    "arviz": "from dowsax.inference import Posterior; Posterior.to_arviz(None)",
}
"""Python that needs the extra of this name."""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What all of these said, in one process: it is the imports that take long."""
    commands = WORKS | {name: words for name, (_, words) in NEEDS_EXTRA.items()} | WRONG_INPUT
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    outcome = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "without_extras.py")],
        input=json.dumps({"commands": commands, "programs": PROGRAMS}),
        cwd=tmp_path_factory.mktemp("extras"),
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("name", NEEDS_EXTRA)
def test_a_missing_extra_is_one_line_that_names_it(said, name):
    extra, _ = NEEDS_EXTRA[name]
    code, stdout, stderr = said["commands"][name].values()
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert stderr.startswith("dowsax: error: ")
    assert stderr.endswith(f" needs the extra `{extra}`: pip install 'dowsax[{extra}]'.\n")


@pytest.mark.parametrize("name", WORKS)
def test_works_without_extras(said, name):
    code, _, stderr = said["commands"][name].values()
    assert code == 0, stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize("name", WRONG_INPUT)
def test_needs_no_extra_to_start(said, name):
    code, _, stderr = said["commands"][name].values()
    *notes, last = stderr.splitlines()
    assert code == 2, stderr
    assert last.startswith("dowsax: error: ")
    assert "extra" not in last
    assert not notes


def test_files_that_need_an_extra_are_left_out_and_named(said):
    located, searched = said["commands"]["locate"], said["commands"]["search"]
    assert "No map.png and report.html: a picture needs the extra `viz`" in located["stdout"]
    assert "No posterior.nc: `to_arviz` needs the extra `arviz`" in located["stdout"]
    assert "No search.gif and end.png: a picture needs the extra `viz`" in searched["stderr"]


@pytest.mark.parametrize("extra", PROGRAMS)
def test_python_names_the_extra(said, extra):
    assert said["programs"][extra].startswith("MissingExtra: ")
    assert said["programs"][extra].endswith(f"needs the extra `{extra}`: pip install 'dowsax[{extra}]'.")


def test_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]
    assert set(EXTRAS) < set(declared)
    assert declared["all"] == [f"dowsax[{','.join(sorted(EXTRAS))}]"]
