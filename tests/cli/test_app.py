"""The command line as a whole: help, version, usage errors, interruption, and what is not imported."""

import os
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts import App

import dowsax
from dowsax import cli
from dowsax.cli import COMMANDS, MODULES

SOURCE = Path(__file__).parents[2] / "src"


def in_a_process(script):
    """Run a script where nothing of this process is imported."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )


def test_help_names_every_verb(dowsax_command):
    code, stdout, stderr = dowsax_command("--help")
    assert (code, stderr) == (0, "")
    assert all(verb in stdout for verb in ("locate", "simulate", "demo", "--version"))


@pytest.mark.parametrize("verb", ["locate", "simulate", "demo"])
def test_help_of_a_verb_explains_its_options(dowsax_command, verb):
    code, stdout, _ = dowsax_command(verb, "--help")
    assert code == 0
    assert "CSV" in stdout or "survey" in stdout


def test_version(dowsax_command):
    assert dowsax_command("--version").stdout.strip() == dowsax.__version__


def test_usage_errors(complaint):
    assert "lokate" in complaint("lokate")
    assert "--field" in complaint("locate", "readings.csv")
    assert "--bogus" in complaint("locate", "readings.csv", "--field", "gas", "--bogus")
    assert "int" in complaint("locate", "readings.csv", "--field", "gas", "--seed", "many")


def interrupted(*_, **__):
    raise KeyboardInterrupt


def interrupted_while_importing(*_, **__):
    try:
        interrupted()
    except KeyboardInterrupt as error:
        raise RuntimeError("Error calling __set_name__") from error


@pytest.mark.parametrize("work", [interrupted, interrupted_while_importing])
def test_interruption_is_quiet(dowsax_command, monkeypatch, work):
    monkeypatch.setattr(cli, "app", work)
    assert dowsax_command("demo") == (130, "", "")


def test_help_waits_for_nothing():
    """Neither jax nor matplotlib nor scipy is imported before a command runs."""
    heavy = "{'jax', 'matplotlib', 'scipy', 'equinox'} & set(sys.modules)"
    outcome = in_a_process(f"import sys; from dowsax.cli import run; run(['--help']); print({heavy})")
    assert outcome.stdout.splitlines()[-1] == "set()", outcome.stderr


def test_a_real_process_fails_in_one_line():
    outcome = in_a_process(
        "import sys; sys.argv = ['dowsax', 'locate', 'missing.csv', '--field', 'gas'];"
        "from dowsax.__main__ import main; main()"
    )
    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr.splitlines() == [
        "dowsax: error: missing.csv does not exist: give a CSV file with the columns x, y, value."
    ]


def test_a_warning_is_one_line_and_said_once(dowsax_command, monkeypatch):
    """Those for people; what is for programmers is shown as Python shows it."""

    def warned(*arguments, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for _ in range(2):
                warnings.warn("Not\n trained for that.", stacklevel=1)
            warnings.warn("Old.", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", warned)
    with pytest.warns(DeprecationWarning, match="Old"):
        code, _, stderr = dowsax_command("search")
    assert (code, stderr) == (0, "dowsax: Not trained for that.\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_help_says(name):
    """The list is written apart, so that `dowsax --help` imports none of them."""
    command = getattr(import_module(f"dowsax.cli.{MODULES.get(name, name)}"), name)
    own = command.help if isinstance(command, App) else command.__doc__.split("\n\n")[0]
    assert COMMANDS[name] == " ".join(own.split())
