"""The command line: one module for each command, imported when it runs, so that help comes at once."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import Timer

from cyclopts import App, CycloptsError

from dowsax.compilation import enable_cache, silence_compiler
from dowsax.extras import describe_missing, extra_behind
from dowsax.interruption import exit_code
from dowsax.version import VERSION

CONNECTION_ERROR = 1
INPUT_ERROR = 2

COMMANDS = {
    "locate": "Locate the source from readings in a CSV file: where it is, how strong, and how sure that is.",
    "simulate": "Simulate a survey of a source and write it as CSV.",
    "demo": "Search for a simulated gas leak, and draw the search.",
    "calibrate": (
        "Simulate surveys of known sources, locate them, and test whether the beliefs are calibrated."
    ),
    "search": "Watch one search for a simulated source: the path, the belief, and the stop.",
    "evaluate": (
        "Run many simulated searches: how long they take, how far off they end, how reliable stops are."
    ),
    "compare": "Compare runs of `dowsax evaluate`. No search is run again.",
    "reproduce": "Compute the tables and figures of the paper and write ours next to theirs.",
    "leaderboard": "Run a benchmark of others by its rules, and print the table.",
    "train": "Train a policy on simulated searches, on an accelerator if there is one.",
    "site": "Write a site file to start from, or check one.",
    "rehearse": "Simulate missions of a site: how often they stop, and how often a stop is wrong.",
    "advise": "Advise a live search: one JSON object a line in, one a line out.",
    "fly": "Fly a live search with an autopilot over MAVLink: readings in, waypoints out.",
    "export": "Export what a mission has found so far from its log, which may be in use.",
    "withdraw": "Withdraw a reading of a mission; belief and advice are computed without it.",
    "correct": "Correct a reading of a mission; belief and advice are computed again.",
    "restore": "Undo a withdrawal or a correction of a reading; belief and advice are computed again.",
    "recover": "Recover a damaged mission log into a new one, and report what was lost.",
    "serve": "Open the mission console: a page to watch and steer searches, and the API behind it.",
}
"""Help of each command, here so that `dowsax --help` imports none of them."""
MODULES = {"withdraw": "correct", "restore": "correct"}
"""Module of a command that has another name; it is imported when the command runs."""

_PATIENCE_S = 1.0
"""Modules that are imported sooner need no message."""


app = App(
    name="dowsax",
    help="Find a hidden source from sparse noisy point readings, and know when to stop.",
    help_epilogue="Start with `dowsax demo`, or `dowsax locate readings.csv --field gas`.",
    version=VERSION,
    version_flags=["--version"],
    # `run` handles interruptions; otherwise they would leave it as SystemExit.
    suppress_keyboard_interrupt=False,
)
for name, sentence in COMMANDS.items():
    app.command(f"dowsax.cli.{MODULES.get(name, name)}:{name}", name=name, help=sentence)


def run(tokens: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Bad input is one line on stderr, never a traceback."""
    silence_compiler()
    enable_cache()
    try:
        with _warnings_in_one_line():
            _import_command(next(iter(sys.argv[1:] if tokens is None else tokens), ""))
            app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return _print_error(f"{_one_line(error)} See `dowsax --help`.")
    except ConnectionError as error:
        return _print_error(_one_line(error), CONNECTION_ERROR)
    except KeyboardInterrupt as error:
        return exit_code(error)
    except Exception as error:
        interruption = _interruption_behind(error)
        if interruption is not None:
            return exit_code(interruption)
        if not isinstance(error, ValueError | OSError):
            extra = extra_behind(error)
            if extra is None:
                raise
            command = next(iter(sys.argv[1:] if tokens is None else tokens), "")
            return _print_error(describe_missing(extra, f"`dowsax {command}`"))
        return _print_error(_one_line(error))
    return 0


def _import_command(name: str) -> None:
    """Import the module of a command; where that takes long, a terminal says so meanwhile."""
    if name not in COMMANDS:
        return
    is_said = []

    def say() -> None:
        is_said.append(True)
        print("dowsax: starting…", end="", file=sys.stderr, flush=True)

    timer = Timer(_PATIENCE_S, say)
    if sys.stderr.isatty():
        timer.start()
    try:
        import_module(f"dowsax.cli.{MODULES.get(name, name)}")
    finally:
        timer.cancel()
        if is_said:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print each warning of the package once, in one line."""
    printed: set[str] = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        if not issubclass(category, UserWarning):
            default_show(message, category, filename, lineno, file, line)
        elif str(message) not in printed:
            printed.add(str(message))
            print(f"dowsax: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        default_show, warnings.showwarning = warnings.showwarning, show
        yield


def _interruption_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interruption that led to an error: Python wraps one that comes while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _print_error(message: str, code: int = INPUT_ERROR) -> int:
    print(f"dowsax: error: {message}", file=sys.stderr)
    return code


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__
