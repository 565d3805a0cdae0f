"""`dowsax recover`: a new mission log from what can be read of a damaged one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import say, waiting
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
    """Recover a damaged mission log into a new one, and report what was lost.

    The damaged log is not changed. Logs that earlier versions of dowsax wrote are converted in the same way.

    Parameters
    ----------
    log
        Damaged mission log.
    out
        New log. Default: the name of the old one with -recovered.
    site
        Site file of the mission; needed only where the beginning of the log cannot be read.
    seed
        Random seed of the mission, with --site.
    replace
        Give the new log the name of the old one, which is renamed to .damaged; stop the console first.
    """
    if replace and out is not None:
        raise ValueError("Give --out or --replace, not both.")
    path = log.with_name(f"{log.stem}-recovered{log.suffix}") if out is None else out
    header = None if site is None else _header(site, seed)
    if not replace:
        with waiting("Recovering the log"):
            recovered = recover_log(log, path, header)
        say(f"The new log is {path}.")
    else:
        with waiting("Recovering the log"), _lock_out(log):
            recovered = recover_log(log, path, header)
            damaged = _replace(log, path)
        say(f"{log} is readable again, the damaged one is {damaged}.")
    say(recovered.words())


@contextmanager
def _lock_out(log: Path) -> Iterator[None]:
    """Lock a log against advisor and console; `InUse` where one of them has it open."""
    with ExitStack() as locks:
        for path in (log, log.with_name(LOCK_FILE)):
            if path.is_file():
                locks.enter_context(lock_journal(path))
        yield


def _replace(log: Path, recovered: Path) -> Path:
    """Replace the damaged log by the recovered one, and return the new name of the damaged one."""
    damaged = _free_name(log.with_name(f"{log.name}.damaged"))
    # The pictures of the console have other numbers; it draws them again.
    frames = log.with_suffix(".frames")
    if frames.is_file():
        frames.unlink()
    log.rename(damaged)
    recovered.rename(log)
    return damaged


def _header(site: Path, seed: int) -> Header:
    """Return the header of a new mission at this site, for a log without one."""
    require_seed(seed)
    return Advisor(site, None, seed, warm_up=False).header


def _free_name(path: Path) -> Path:
    """Return the path, or one like it where that exists."""
    others = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], others) if not one.exists())
