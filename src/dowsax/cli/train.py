"""`dowsax train`: train a policy, in a folder from which an interrupted run resumes."""

import json
import math
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import COMPILING, say
from dowsax.cli.outputs import can_draw, require_folder, require_writable
from dowsax.experiments.problems import open_problem, own_problem
from dowsax.experiments.provenance import commit, device
from dowsax.extras import has_extra
from dowsax.interruption import GRACE_S, Pending, defer_interruption
from dowsax.learn.base import Learner
from dowsax.learn.checkpoint import Checkpointer, Row
from dowsax.learn.curves import measures, thin_rows, write_csv
from dowsax.learn.methods import METHODS, PROBLEM_METHOD, TrainConfig
from dowsax.learn.train import Progress
from dowsax.learn.train import train as run_training
from dowsax.policies.stored import Card, load, save

_CHECKPOINT, _TABLE, _PICTURE = "checkpoint.safetensors", "curves.csv", "curves.png"
_PICTURE_INTERVAL_S, _LINE_INTERVAL_S = 30.0, 60.0
"""Drawing takes longer than a chunk on an accelerator, and a log need not have every chunk."""


def train(
    *,
    method: str | None = None,
    fields: Annotated[list[str] | None, Parameter(negative="")] = None,
    problem: str | None = None,
    site: Path | None = None,
    scenario: str | None = None,
    steps: int = 20_000_000,
    searches: int | None = None,
    rollout_length: int | None = None,
    seed: int = 0,
    preset: str | None = None,
    particles: int | None = None,
    max_readings: int | None = None,
    chunk: int = 4,
    out: Path | None = None,
) -> None:
    """Train a policy on simulated searches, on an accelerator if there is one.

    The folder holds a checkpoint, the curve (curves.csv, curves.png) and the policy as it is so far
    (.safetensors with its card .json), which can be given wherever a policy is named. After an interruption
    the same command resumes from the last checkpoint. A larger number of steps extends a finished run.

    Parameters
    ----------
    method
        The method: att-pfrl, pfrl, agdc-kld, agdc-ent, agdc-ee, att-pfrl-r2, att-pfrl-r3,
        att-pfrl-right or att-pfrl-paper; and pfrl-candidates, the default of a problem or site.
    fields
        The fields: repeat the option, or separate names with commas. Default: all.
    problem
        A search problem of your own in place of fields: file.py:name, where name is a SearchProblem or a
        function that returns one.
    site
        A site file in place of fields.
    scenario
        Where sources are: id, or ood-training for a test with sources elsewhere. Default: id.
    steps
        Moves, over all searches. In an extended run, learning rate and entropy weight continue with the
        values that a run of the larger number has at that step.
    searches
        Searches that run in parallel. Default: that of the method, mostly 8,192.
    rollout_length
        Steps of each search between two updates. Default: that of the method, mostly 16.
    seed
        The same seed gives the same policy on the same device.
    preset
        The filter in training, such as training or paper. Default: that of the method, the problem or the
        site. Another one is in the name of the policy, as in pfrl-with-paper.
    particles
        Number of particles. Default: that of the filter.
    max_readings
        A search without a stop ends after this many readings. Default: 200, or those of the problem or site.
    chunk
        Updates between two checkpoints; an interruption loses at most these.
    out
        The folder. Default: runs/train/ and the name of the policy.
    """
    with defer_interruption("No update was finished: repeat the same command.") as pending:
        sizes: dict[str, Any] = {"steps": steps, "num_searches": searches, "rollout_length": rollout_length}
        sizes |= {"seed": seed, "preset": preset, "particles": particles}
        sizes |= {} if max_readings is None else {"max_readings": max_readings}
        config = _config(method, fields, own_problem(fields, problem, site), scenario, sizes)
        if chunk < 1:
            raise ValueError(f"A chunk must have at least 1 update; got {chunk}.")
        folder = Path("runs/train") / (config.name + (f"-seed-{seed}" if seed else ""))
        folder = folder if out is None else out
        rows = _finished(config, folder)
        if rows is None:
            # Before a folder is made, as not every method fits every problem.
            learner = config.learner()
            words = _problem_words(problem, site)
            rows = _trained(config, learner, _opened(config, folder), chunk, pending, words)
        say(f"After {rows[-1]['steps']:,} steps in {_duration(rows[-1]['seconds'])}: {_said(rows)}.")
        curves = f"{_TABLE} and {_PICTURE}" if has_extra("viz") else _TABLE
        say(f"Wrote {config.name}.safetensors, {config.name}.json, {curves} to {folder}.")


def _config(
    method: str | None,
    fields: list[str] | None,
    reference: str | None,
    scenario: str | None,
    sizes: dict[str, Any],
) -> TrainConfig:
    """The settings of the run, on fields of the benchmark or on the problem of a file."""
    if reference is None:
        if method is None:
            raise ValueError(f"Give --method: {', '.join(METHODS)}.")
        chosen: dict[str, Any] = {} if fields is None else {"fields": _names(fields)}
        return TrainConfig(method, scenario=scenario or "id", **chosen, **sizes)
    if scenario is not None:
        raise ValueError("--scenario is part of the problem: leave it out.")
    source = open_problem(reference)
    problem, _ = source.build()
    return TrainConfig.for_problem(problem, source.name, method or PROBLEM_METHOD, **sizes)


def _names(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))


def _finished(config: TrainConfig, folder: Path) -> list[Row] | None:
    """The rows of a run that is finished and whose policy is written; `None` for any other."""
    checkpointer = Checkpointer(folder / _CHECKPOINT, config.settings())
    kept = checkpointer.load()
    if kept is None or not kept.rows or kept.rows[-1]["steps"] < config.steps:
        return None
    checkpointer = replace(checkpointer, extended=kept.extended)
    return kept.rows if _is_written(config, checkpointer, kept.rows) else None


def _opened(config: "TrainConfig", folder: Path) -> "Checkpointer":
    """The keeper of the folder, after checking that its content belongs to this run."""
    require_folder(folder)
    checkpointer = Checkpointer(folder / _CHECKPOINT, config.settings())
    kept = checkpointer.load()
    names = (_CHECKPOINT, _TABLE, _PICTURE, f"{config.name}.safetensors", f"{config.name}.json")
    # What a run that was killed had begun to write.
    leftovers = [path for name in names for path in folder.glob(f".{name}.*.partial")]
    if kept is None and set(folder.iterdir()) - set(leftovers):
        raise ValueError(f"{folder} is not empty and no training run: give a new or empty one with --out.")
    for path in leftovers:
        path.unlink(missing_ok=True)
    for name in names:
        require_writable(folder / name)
    if kept is not None and kept.path != checkpointer.path and checkpointer.path.exists():
        _warn(f"{checkpointer.path.name} is truncated and cannot be read: {kept.path.name} is used.")
    if kept is not None and kept.rows and kept.rows[-1]["steps"] < config.steps:
        _warn(f"resumes from {kept.rows[-1]['steps']:,} steps in {folder}.")
    return checkpointer if kept is None else replace(checkpointer, extended=kept.extended)


def _trained(
    config: "TrainConfig",
    learner: Learner,
    checkpointer: "Checkpointer",
    chunk: int,
    pending: Pending,
    words: Sequence[str] = (),
) -> "list[Row]":
    """The rows of the finished run; curve, picture and policy are written after each chunk.

    A signal that arrives while a chunk is computed takes effect after its checkpoint.
    """
    import jax

    kept, folder = checkpointer.load(), checkpointer.path.parent
    rows = [] if kept is None else kept.rows
    if rows:
        pending.message = _kept(rows, folder)
    can_draw(_PICTURE)
    drawn = time.monotonic()
    with _display(config) as show:

        def on_chunk(progress: Progress) -> None:
            nonlocal drawn
            pending.message = _kept(progress.rows, folder)
            _write(config, checkpointer, progress, words)
            if time.monotonic() > drawn + _PICTURE_INTERVAL_S:
                _draw(config, folder, progress.rows)
                drawn = time.monotonic()
            show(progress)
            pending.check()
            # All is compiled now: the next chunk may be over soon enough to be kept.
            pending.grace_s = GRACE_S

        state, rows = run_training(
            learner,
            jax.random.key(config.seed),
            steps=config.steps,
            chunk=chunk,
            checkpointer=checkpointer,
            on_chunk=on_chunk,
        )
    if not _is_written(config, checkpointer, rows):
        # The run had been ended between its last checkpoint and the last file of the policy.
        _write(config, checkpointer, Progress(state, rows, 0.0), words)
    _draw(config, folder, rows)
    return rows


def _kept(rows: "list[Row]", folder: Path) -> str:
    return f"{rows[-1]['steps']:,} steps are kept in {folder}: the same command goes on from there."


def _is_written(config: "TrainConfig", checkpointer: "Checkpointer", rows: "list[Row]") -> bool:
    """Whether the policy in the folder is complete, has these settings, and has as many steps as the rows."""
    try:
        _, card = load(checkpointer.path.with_name(f"{config.name}.safetensors"))
    except ValueError:
        return False
    return card.steps == rows[-1]["steps"] and card.settings == _settings(checkpointer)


def _settings(checkpointer: "Checkpointer") -> dict[str, Any]:
    """All that decides about the result, as JSON returns it: a tuple is a list."""
    extended = {"extended": checkpointer.extended} if checkpointer.extended else {}
    return json.loads(json.dumps({**checkpointer.configuration, **extended}))


def _write(
    config: "TrainConfig", checkpointer: "Checkpointer", progress: "Progress", words: Sequence[str]
) -> None:
    """Write the curve and the policy as it is so far."""
    folder, numbers = checkpointer.path.parent, (*checkpointer.extended, config.steps)
    write_csv(folder / _TABLE, progress.rows, config.fields)
    card = Card(
        encoder=METHODS[config.method].encoder,
        sample=METHODS[config.method].sample,
        method=config.method,
        fields=config.fields,
        problem=config.fingerprint,
        command=" && ".join(_command(replace(config, steps=number), words) for number in numbers),
        settings=_settings(checkpointer),
        commit=commit() or "",
        seeds=(config.seed,),
        device=device(),
        steps=int(progress.rows[-1]["steps"]),
        curves=thin_rows(progress.rows),
    )
    save(folder / f"{config.name}.safetensors", progress.state.network, card)


def _draw(config: "TrainConfig", folder: Path, rows: "list[Row]") -> None:
    import numpy as np

    if not has_extra("viz"):
        return
    steps, seconds = (np.array([row[name] for row in rows], float) for name in ("steps", "seconds"))
    curve = viz.LearningCurve(steps, seconds, measures(rows))
    viz.save(
        viz.learning_figure({config.name: curve}, f"{config.name}, seed {config.seed}"), folder / _PICTURE
    )


def _problem_words(problem: str | None, site: Path | None) -> tuple[str, ...]:
    """The words of the command line that name the problem; none for fields of the benchmark."""
    if problem is not None:
        return "--problem", problem
    return () if site is None else ("--site", str(site))


def _command(config: "TrainConfig", words: Sequence[str]) -> str:
    """The command line that repeats the run; `words` name its problem."""
    names = {"steps": "steps", "num_searches": "searches"}
    names = names if words else {"scenario": "scenario"} | names
    names |= {
        "rollout_length": "rollout-length",
        "seed": "seed",
        "preset": "preset",
        "particles": "particles",
        "max_readings": "max-readings",
    }
    words = ["dowsax", "train", "--method", config.method, *words]
    if config.problem is None and config.fields != TrainConfig(config.method).fields:
        words += ["--fields", ",".join(config.fields)]
    for name, option in names.items():
        value = getattr(config, name)
        if value is not None:
            words += [f"--{option}", str(value)]
    return shlex.join(words)


def _said(rows: "list[Row]") -> str:
    """The newest measures in words."""
    newest = {name: float(column[-1]) for name, column in measures(rows).items()}
    if math.isnan(newest["stop_rate"]):
        return "no search has ended yet"
    said = f"{100 * newest['stop_rate']:.1f} % of the latest searches stopped"
    if not newest["stop_rate"]:
        return said
    false_stops = f"{100 * newest['false_stops']:.1f} % of the stops were false"
    return f"{said}, {false_stops}, the mean path to a stop was {newest['path_length']:.1f} m"


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes else f"{left} s"


def _warn(message: str) -> None:
    print(f"dowsax: {message}", file=sys.stderr)


@contextmanager
def _display(config: "TrainConfig") -> "Iterator[Callable[[Progress], None]]":
    """A bar with the newest measures on stderr; a line per minute if it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        said = time.monotonic()

        def tell(progress: "Progress") -> None:
            nonlocal said
            if time.monotonic() > said + _LINE_INTERVAL_S:
                said = time.monotonic()
                _warn(f"{progress.rows[-1]['steps']:,} steps: {_state(progress)}")

        yield tell
        return
    columns = (
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(COMPILING, total=config.steps)
        yield lambda progress: bar.update(
            task, completed=progress.rows[-1]["steps"], description=_state(progress)
        )


def _state(progress: "Progress") -> str:
    return f"{_said(progress.rows)}, {progress.steps_per_second:,.0f} steps/s"
