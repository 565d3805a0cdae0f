"""The command line called in this process, and what it said."""

from typing import NamedTuple

import pytest


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def dowsax_command(capsys, monkeypatch):
    """(words) -> exit code, stdout and stderr, on a terminal of 100 columns without colours.

    Without what is said of having to wait, which depends on how fast the machine is.
    """
    # Imported late: the checks of shapes must be installed first.
    from dowsax.cli import run
    from dowsax.cli.console import FIRST_TIME

    monkeypatch.setenv("COLUMNS", "100")

    def command(*words):
        code = run([str(word) for word in words])
        stdout, stderr = capsys.readouterr()
        kept = [line for line in stderr.splitlines(keepends=True) if FIRST_TIME not in line]
        return Outcome(code, stdout, "".join(kept))

    return command


@pytest.fixture
def complaint(dowsax_command):
    """(words) -> the one line in which a command that must fail says why, after `dowsax: error: `."""

    def command(*words):
        code, stdout, stderr = dowsax_command(*words)
        assert code == 2
        assert stdout == ""
        assert stderr.count("\n") == 1
        assert stderr.startswith("dowsax: error: ")
        return stderr.removeprefix("dowsax: error: ").strip()

    return command


@pytest.fixture
def survey_file(tmp_path):
    """(text) -> a file that holds it; six readings on the way to a source when no text is given."""
    lines = [
        "x,y,value",
        "0,10,0.031",
        "3,10,0.111",
        "6,10,0.451",
        "8,10,1.318",
        "10,10,5.134",
        "11,10,14.33",
    ]

    def write(text=None, name="readings.csv"):
        path = tmp_path / name
        path.write_bytes(("\n".join(lines) + "\n" if text is None else text).encode())
        return path

    return write
