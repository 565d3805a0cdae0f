"""The command line: one file a verb. Heavy imports wait until a verb runs, so that help comes at once."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cyclopts import App, CycloptsError

from dowsax.cli.advise import advise
from dowsax.cli.calibrate import calibrate
from dowsax.cli.compare import compare
from dowsax.cli.correct import correct, withdraw
from dowsax.cli.demo import demo
from dowsax.cli.evaluate import evaluate
from dowsax.cli.export import export
from dowsax.cli.locate import locate
from dowsax.cli.recover import recover
from dowsax.cli.rehearse import rehearse
from dowsax.cli.reproduce import reproduce
from dowsax.cli.search import search
from dowsax.cli.serve import serve
from dowsax.cli.simulate import simulate
from dowsax.cli.site import site
from dowsax.cli.train import train
from dowsax.interruption import exit_code
from dowsax.version import VERSION

NOBODY_THERE = 1
BAD_INPUT = 2


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
app.command(locate)
app.command(simulate)
app.command(demo)
app.command(calibrate)
app.command(search)
app.command(evaluate)
app.command(compare)
app.command(reproduce)
app.command(train)
app.command(site)
app.command(rehearse)
app.command(advise)
app.command(export)
app.command(withdraw)
app.command(correct)
app.command(recover)
app.command(serve)


def run(tokens: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Bad input is one line on stderr, never a traceback."""
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
            raise
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
