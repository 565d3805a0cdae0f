"""`dowsax recover`: a new mission log from what can be read of a damaged one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import say
from dowsax.cli.locate import require_seed
from dowsax.journal import LOCK_FILE, lock_journal
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import Header
from dowsax.mission.recovery import recover as recover_log


def recover(
    log: Path,
    *,
    out: Path | None = None,
    site: Path | None = None,
    seed: int = 0,
    replace: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Save what can be read of a damaged mission log into a new one, and say what was lost.

    The damaged log is not changed. Logs that earlier versions of dowsax wrote are converted in the same way.

    Parameters
    ----------
    log
        The damaged mission log.
    out
        The new log. Default: the name of the old one with -recovered.
    site
        The site file of the mission; needed only where the beginning of the log cannot be read.
    seed
        The seed of the mission, with --site.
    replace
        Give the new log the name of the old one, which gets .damaged at its end: for a mission of the
        console, while that is not running.
    """
    if replace and out is not None:
        raise ValueError("Give --out or --replace, not both.")
    path = log.with_name(f"{log.stem}-recovered{log.suffix}") if out is None else out
    header = None if site is None else _header(site, seed)
    if not replace:
        recovered = recover_log(log, path, header)
        say(f"The new log is {path}.")
    else:
        with _unused(log):
            recovered = recover_log(log, path, header)
            kept = _replace(log, path)
        say(f"{log} is readable again, the damaged one is {kept}.")
    say(recovered.words())


@contextmanager
def _unused(log: Path) -> Iterator[None]:
    """Keep advisor and console from opening a log; `InUse` where one has: it would write to the old file."""
    with ExitStack() as locks:
        for path in (log, log.with_name(LOCK_FILE)):
            if path.is_file():
                locks.enter_context(lock_journal(path))
        yield


def _replace(log: Path, recovered: Path) -> Path:
    """Put the recovered log in the place of the damaged one, and return where that is now."""
    kept = _free(log.with_name(f"{log.name}.damaged"))
    # What the console has drawn of it has other numbers, and is drawn again.
    frames = log.with_suffix(".frames")
    if frames.is_file():
        frames.unlink()
    log.rename(kept)
    recovered.rename(log)
    return kept


def _header(site: Path, seed: int) -> "Header":
    """What a mission at this site begins with, for one whose own beginning is lost."""
    require_seed(seed)
    return Advisor(site, None, seed, warm_up=False).header


def _free(path: Path) -> Path:
    """The path, or one like it where that exists."""
    others = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], others) if not one.exists())
