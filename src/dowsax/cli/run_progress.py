"""Progress of runs on stderr: two bars with the time left, for the current run and for all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from dowsax.cli.console import COMPILING
from dowsax.experiments.runner import ShardProgress
from dowsax.experiments.store import AnyRun, Shard


@contextmanager
def show_progress(
    runs: Sequence[AnyRun], missing: Sequence[Shard], on_compiled: Callable[[], None] = lambda: None
) -> Iterator[ShardProgress]:
    """Yield the progress function of a runner; it shows nothing where stderr is no terminal.

    A run compiles until an episode has ended, or until the second call for a shard; then `on_compiled` is
    called. On Ray there is one call for each shard, at its end.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    ended = {run: run.episodes for run in runs}
    for shard in missing:
        ended[shard.run] -= shard.size
    shards, begun, compiled, lock = dict.fromkeys(missing, 0), set(), set(), Lock()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        run_bar = bars.add_task("")
        total_bar = bars.add_task("all runs", total=sum(run.episodes for run in runs))

        def show(shard: Shard, more: int) -> None:
            # A shard that is computed again, after a death or for want of memory, must not count twice.
            with lock:
                before = shards[shard]
                shards[shard] = min(before + more, shard.size)
                ended[shard.run] += shards[shard] - before
                if more or shard in begun:
                    compiled.add(shard.run)
                    on_compiled()
                begun.add(shard)
            run = shard.run
            description = f"{run.name} on {run.field}"
            description += "" if run in compiled else f": {COMPILING}"
            bars.update(run_bar, description=description, completed=ended[run], total=run.episodes)
            bars.update(total_bar, completed=sum(ended.values()))

        yield show
