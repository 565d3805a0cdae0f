"""`dowsax evaluate`: many simulated searches of every policy on every field or problem, resumable."""

import json as json_format
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dowsax.cli.console import announcing, print_status, say, waiting
from dowsax.cli.run_progress import show_progress
from dowsax.envs import MAX_READINGS
from dowsax.experiments.evaluation import (
    Evaluation,
    document,
    grid,
    name_of,
    open_evaluation,
    summaries,
    write_summary,
)
from dowsax.experiments.on_ray import on_ray
from dowsax.experiments.problems import own_problem
from dowsax.experiments.run import Run, problem_settings, require_known, stop_rule
from dowsax.experiments.runner import Engine, default_shard_size, execute, local, processes
from dowsax.extras import describe_missing
from dowsax.interruption import explain_interruption
from dowsax.policies import POLICIES
from dowsax.world import MODALITIES

ALL = "all"


def evaluate(
    *,
    policy: Annotated[list[str], Parameter(negative="")],
    field: Annotated[list[str] | None, Parameter(negative="")] = None,
    problem: str | None = None,
    site: Path | None = None,
    scenario: str | None = None,
    episodes: int = 1000,
    seed: int = 0,
    stop: str | None = None,
    threshold: float | None = None,
    preset: str | None = None,
    particles: int | None = None,
    max_readings: int | None = None,
    to_the_end: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
    workers: int | None = None,
    ray: str | None = None,
    shard_size: int | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run many simulated searches: how long they take, how far off they end, how reliable stops are.

    Results are written to a folder: after an interruption the same command resumes, and for a complete
    evaluation it prints the table at once. Every policy searches for the same sources.

    Parameters
    ----------
    policy
        The policies: repeat the option, separate names with commas, or give all. A wrong name lists the known
        ones. NAME-guarded hands a search that takes long to Infotaxis.
    field
        The fields of the benchmark, likewise.
    problem
        A search problem of your own in place of a field: file.py:name, where name is a SearchProblem or a
        function that returns one.
    site
        A site file in place of a field.
    scenario
        Where sources are and what the prior is: id, ood, shift, prior-… . Default: id.
    episodes
        Searches of each policy on each field.
    seed
        The same seed gives the same sources, noise and numbers.
    stop
        The stop rule of the table: credible, contraction, entropy, max-weight or fixed. Many
        thresholds of the first two are always recorded, so that asking for another one later costs nothing.
        Default: credible, or that of the problem or site.
    threshold
        The threshold of the stop rule. Default: that of the rule.
    preset
        The filter: default, paper or another preset. Default: default, or that of the problem or site.
    particles
        Number of particles. Default: that of the preset.
    max_readings
        A search without a stop ends after this many readings. Default: 200, or those of the problem or site.
    to_the_end
        Take all readings of every search, to compare rules that may never stop one.
    out
        The run folder. Default: runs/ and a name from the settings.
    workers
        Compute in this many processes.
    ray
        Compute on Ray: local, or the address of a cluster whose machines have this version of dowsax.
    shard_size
        Episodes computed and written together. Default: 25, or 1000 on an accelerator.
    json
        Print one JSON object and nothing else.
    """
    reference, chosen = own_problem(field, problem, site), (scenario, preset, (stop, threshold), max_readings)
    own = reference is not None
    settings = _problem_settings(reference, *chosen) if own else _benchmark_settings(field, *chosen)
    sizes = {"episodes": episodes, "seed": seed, "particles": particles, "to_the_end": to_the_end}
    runs = grid(_names(policy, POLICIES), settings.pop("fields"), **settings, **sizes)
    engine = _engine(workers, ray)
    evaluation = _open(runs, out, shard_size)
    _compute(evaluation, engine)
    _report(evaluation, json)


Rule = tuple[str | None, float | None]
"""The name of a stop rule and its threshold, where they are given."""


def _benchmark_settings(
    field: list[str] | None, scenario: str | None, preset: str | None, rule: Rule, max_readings: int | None
) -> dict[str, Any]:
    """The settings of runs on fields of the benchmark."""
    if field is None:
        raise ValueError("Give one of --field, --problem file.py:name and --site site.toml.")
    stop, threshold = rule
    return {
        "fields": _names(field, MODALITIES),
        "scenario": scenario or "id",
        "preset": preset or "default",
        "max_readings": MAX_READINGS if max_readings is None else max_readings,
        "rule": stop_rule(stop or "credible", threshold),
    }


def _problem_settings(
    reference: str, scenario: str | None, preset: str | None, rule: Rule, max_readings: int | None
) -> dict[str, Any]:
    """The settings of runs on a problem, which has a scenario, a filter and a stop rule of its own."""
    if scenario is not None or preset is not None:
        option = "--preset" if scenario is None else "--scenario"
        raise ValueError(f"{option} is part of the problem: leave it out.")
    stop, threshold = rule
    if stop is None and threshold is not None:
        raise ValueError("--threshold needs --stop, as the problem has a rule of its own.")
    own = problem_settings(reference, None if stop is None else stop_rule(stop, threshold), max_readings)
    return own | {"fields": (own.pop("field"),)}


def _open(runs: Sequence[Run], out: Path | None, shard_size: int | None) -> Evaluation:
    """Open the folder, once all names are known."""
    require_known(runs)
    # As a number, so that the folder still says it when the preset has changed.
    runs = [replace(run, particles=run.filter.config.num_particles) for run in runs]
    folder = Path("runs") / name_of(runs) if out is None else out
    evaluation = open_evaluation(folder, runs, default_shard_size() if shard_size is None else shard_size)
    if shard_size not in (None, evaluation.shard_size):
        raise ValueError(
            f"{folder} has shards of {evaluation.shard_size} episodes: leave --shard-size out, "
            "or give another --out."
        )
    return evaluation


def _compute(evaluation: Evaluation, engine: Engine) -> None:
    missing = evaluation.missing(print_status)
    if missing:
        for change in evaluation.changes():
            print_status(
                f"{evaluation.folder} was begun with {change}; the rest is computed with what is here."
            )
    message = f"Finished shards are kept in {evaluation.folder}: the same command goes on from there."
    with (
        explain_interruption(message),
        announcing("Preparing the searches") as cancel,
        show_progress(evaluation.runs, missing, on_compiled=cancel) as progress,
    ):
        execute(evaluation.store, evaluation.runs, engine, progress=progress)


def _report(evaluation: Evaluation, json: bool) -> None:
    with waiting("Summing up the searches"):
        has_table = evaluation.write_table()
        found = summaries(evaluation)
        write_summary(evaluation, found)
    if json:
        print(json_format.dumps(document(evaluation, found), allow_nan=False))
        return
    say((evaluation.folder / "summary.md").read_text(encoding="utf-8"))
    radius = evaluation.radius
    say(f"Stop: {evaluation.rule.describe(radius)}. It is false {radius:g} m or more from the source.")
    say(f"The run is in {evaluation.folder}.")
    if not has_table:
        missing = describe_missing("results", "this table")
        say(f"No episodes.parquet: {missing} The same command then writes it.")


def _names(words: list[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names in the words, each of which may hold several with commas; `all` is every known one."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    return tuple(dict.fromkeys(known if ALL in names else names))


def _engine(workers: int | None, ray: str | None) -> Engine:
    if workers is not None and workers < 1:
        raise ValueError(f"There must be at least 1 worker; got {workers}.")
    if ray is not None:
        return on_ray(ray, workers)
    return local if workers is None else processes(workers)
