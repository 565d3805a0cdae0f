"""The command line: one module for each command, imported when it runs, so that help comes at once."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cyclopts import App, CycloptsError

from dowsax.compilation import enable_cache, silence_compiler
from dowsax.extras import describe_missing, extra_behind
from dowsax.interruption import exit_code
from dowsax.version import VERSION

NOBODY_THERE = 1
BAD_INPUT = 2

COMMANDS = {
    "locate": (
        "locate",
        "Say where the source is, how strong it is and how sure that is, from readings in a CSV file.",
    ),
    "simulate": ("simulate", "Make a survey of a simulated source and write it as CSV."),
    "demo": (
        "demo",
        "Search for a simulated gas leak, draw the search, and say whether it ended where the leak is.",
    ),
    "calibrate": (
        "calibrate",
        "Simulate surveys of known sources, locate them, and test whether the beliefs are calibrated.",
    ),
    "search": (
        "search",
        "Watch one search for a simulated source: where the sensor goes, what is believed, when it stops.",
    ),
    "evaluate": (
        "evaluate",
        "Run many simulated searches: how long they take, how far off they end, and how sure that is.",
    ),
    "compare": ("compare", "Put runs of `dowsax evaluate` next to each other. No search is run again."),
    "reproduce": ("reproduce", "Compute the tables and figures of the paper and write ours next to theirs."),
    "train": ("train", "Train a policy on simulated searches, on an accelerator where there is one."),
    "site": ("site", "Write a site file to start from, or check one."),
    "rehearse": (
        "rehearse",
        "Simulate whole missions of a site, and say how often they stop and how often a stop is wrong.",
    ),
    "advise": ("advise", "Advise a search while it goes on: one JSON object a line in, one a line out."),
    "export": (
        "export",
        "Write what a mission has found so far, from its log. The log is not changed, and may be in use.",
    ),
    "withdraw": (
        "correct",
        "Withdraw a reading of a mission: belief and advice are those of the mission without it.",
    ),
    "correct": (
        "correct",
        "Correct a reading of a mission: belief and advice are as if it had been sent right.",
    ),
    "recover": (
        "recover",
        "Save what can be read of a damaged mission log into a new one, and say what was lost.",
    ),
    "serve": (
        "serve",
        "Open the mission console: a page to watch and steer searches, and the API behind it.",
    ),
}
"""Each with the module it is in, which is imported when the command runs, and its help."""


def version() -> str:
    """The version of the package."""
    return VERSION


app = App(
    name="dowsax",
    help="Find a hidden source from sparse noisy point readings, and know when to stop.",
    help_epilogue="Start with `dowsax demo`, or `dowsax locate readings.csv --field gas`.",
    version=version,
    version_flags=["--version"],
    # `run` answers for interruptions; otherwise they would leave it as SystemExit.
    suppress_keyboard_interrupt=False,
)
for name, (module, sentence) in COMMANDS.items():
    app.command(f"dowsax.cli.{module}:{name}", name=name, help=sentence)


def run(tokens: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Bad input is one line on stderr, never a traceback."""
    silence_compiler()
    enable_cache()
    try:
        with _warnings_in_one_line():
            app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return _complain(f"{_one_line(error)} See `dowsax --help`.")
    except ConnectionError as error:
        return _complain(_one_line(error), NOBODY_THERE)
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
            return _complain(describe_missing(extra, f"`dowsax {command}`"))
        return _complain(_one_line(error))
    return 0


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Warnings of the package are for people: once each, and without the code that they come from."""
    told: set[str] = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        if not issubclass(category, UserWarning):
            usual(message, category, filename, lineno, file, line)
        elif str(message) not in told:
            told.add(str(message))
            print(f"dowsax: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        usual, warnings.showwarning = warnings.showwarning, show
        yield


def _interruption_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interruption that led to an error: Python wraps one that comes while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _complain(message: str, code: int = BAD_INPUT) -> int:
    print(f"dowsax: error: {message}", file=sys.stderr)
    return code


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__
