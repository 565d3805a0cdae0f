"""The tutorials do what they say: their files are written, their commands and Python are run, in order."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from dowsax.cli import run

PAGES = Path(__file__).parents[2] / "docs" / "tutorials"
TUTORIALS = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def blocks(name):
    """(language, title, text) of each block of a page."""
    return BLOCK.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))


def command(line, monkeypatch):
    """Run a command of the page. It may end in `< file`."""
    words, _, source = line.removeprefix("$ dowsax ").partition(" < ")
    with open(source.strip() or os.devnull, encoding="utf-8") as stdin, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        assert run(shlex.split(words)) == 0, line


CASES = [pytest.param(name, marks=() if name == "robot-loop" else pytest.mark.slow) for name in TUTORIALS]
"""The one that takes seconds is always run."""


@pytest.mark.parametrize("name", CASES)
def test_the_tutorial_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "tutorial"}
    for language, title, text in blocks(name):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, f"{name}.md", "exec"), names)
        elif language == "console":
            for line in text.splitlines():
                assert line.startswith("$ dowsax "), line
                command(line, monkeypatch)
    assert "nan" not in capsys.readouterr().out


def test_every_tutorial_has_something_to_run():
    assert len(TUTORIALS) == 4
    for name in TUTORIALS:
        languages = [language for language, title, _ in blocks(name) if not title]
        assert "python" in languages
