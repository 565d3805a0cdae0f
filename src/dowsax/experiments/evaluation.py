"""An evaluation: runs of every policy on every field in one folder, which can be resumed.

The folder has the results (`store`), the configuration and the versions (run.json), a table with a row for
each episode (episodes.parquet), and a summary (summary.md, .csv, .json).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from dowsax.evaluate.metrics import Summary, summarise, summary_json
from dowsax.evaluate.stops import LADDER, TraceRule
from dowsax.evaluate.tables import search_csv, search_table
from dowsax.evaluate.trace import Episode
from dowsax.experiments.episode_table import holds, write_episodes
from dowsax.experiments.provenance import provenance
from dowsax.experiments.run import Run, hash_of
from dowsax.experiments.store import Shard, Store, Warn
from dowsax.extras import has_extra
from dowsax.files import replace_text
from dowsax.version import versions

SCHEMA = 2
"""The number of the folder's layout."""
_SHARED = tuple(
    field.name for field in fields(Run) if field.name not in ("policy", "field", "detail", "members")
)
"""The settings that all runs of an evaluation have in common."""


def grid(policies: Sequence[str], field_names: Sequence[str], **settings: Any) -> tuple[Run, ...]:
    """Runs of every policy on every field, field by field."""
    for what, names in (("policy", policies), ("field", field_names)):
        if not names:
            raise ValueError(f"An evaluation needs at least one {what}.")
        if len(set(names)) < len(names):
            raise ValueError(f"A {what} is given twice in {', '.join(names)}.")
    return tuple(Run(policy, field, **settings) for field in field_names for policy in policies)


def fingerprint_of(runs: Sequence[Run]) -> str:
    """Eight letters that differ between evaluations with different episodes."""
    return hash_of({"schema": SCHEMA, "runs": sorted(run.fingerprint for run in runs)})


def name_of(runs: Sequence[Run]) -> str:
    """A readable name for the folder of an evaluation."""
    policies, places = ({run.name for run in runs}, {run.field for run in runs})
    who = runs[0].name if len(policies) == 1 else f"{len(policies)}-policies"
    where = runs[0].field if len(places) == 1 else f"{len(places)}-fields"
    return f"{who}-{where}-{runs[0].scenario}-{fingerprint_of(runs)}"


@dataclass(frozen=True)
class Evaluation:
    """The folder of an evaluation, complete or not."""

    folder: Path
    runs: tuple[Run, ...]
    record: dict[str, Any]
    """The content of run.json."""

    @property
    def shard_size(self) -> int:
        return self.record["configuration"]["shard_size"]

    @property
    def store(self) -> Store:
        # Changes of the code are reported by `changes`, and do not prevent a resumption.
        return Store(self.folder, self.shard_size, trusted=None)

    @property
    def rule(self) -> TraceRule:
        """The stop rule of the summary."""
        return self.runs[0].rule

    @cached_property
    def radius(self) -> float:
        """[m], a stop with a smaller error is right; known when the first episode is computed."""
        return self.store.first_episodes(self.runs[0])[0].radius

    @property
    def table(self) -> Path:
        return self.folder / "episodes.parquet"

    def missing(self, warn: Warn = lambda message: None) -> list[Shard]:
        """The shards that must be computed; `warn` is called for files that are damaged."""
        return self.store.missing(self.runs, warn)

    def changes(self) -> list[str]:
        """The versions it was begun with that differ from those here: numbers may differ a little."""
        here = versions()
        return [f"{name} {one}" for name, one in self.record["versions"].items() if here.get(name) != one]

    def episodes(self) -> dict[Run, list[Episode]]:
        """The episodes of each run in their order; of an incomplete one up to the first missing shard."""
        return {run: self.store.first_episodes(run) for run in self.runs}

    def write_table(self) -> bool:
        """Write the table of episodes of a complete evaluation if it is missing; false without pyarrow."""
        if not has_extra("results"):
            return False
        rules = self.runs[0].rules
        if not holds(self.table, rules):
            search, _ = self.runs[0].build()
            write_episodes(self.table, self.episodes(), search.model, rules)
        return True


def open_evaluation(folder: Path, runs: Sequence[Run], shard_size: int) -> Evaluation:
    """The evaluation in a folder, which is made if it does not exist.

    An evaluation that has begun keeps its shard size. A folder with other episodes is refused. Another stop
    rule is accepted if the recorded episodes decide about it.
    """
    if not (folder / "run.json").exists():
        return _begin(folder, runs, shard_size)
    begun = read_evaluation(folder)
    require_same(begun, runs)
    if begun.runs == tuple(runs):
        return begun
    record = begun.record | {"configuration": configuration_of(runs, begun.shard_size)}
    _write_json(folder / "run.json", record)
    return Evaluation(folder, tuple(runs), record)


def read_evaluation(folder: Path) -> Evaluation:
    """The evaluation in an existing folder."""
    path = folder / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        schema, configuration, _ = record["schema"], record["configuration"], record["fingerprint"]
        runs = _runs_of(configuration) if schema == SCHEMA else None
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            f"{folder} is no run folder, as it has no run.json: `dowsax evaluate --out {folder}` makes one."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): give another folder.") from None
    if runs is None:
        raise ValueError(
            f"{folder} has layout {schema}, this version of dowsax reads {SCHEMA}: give another folder, and "
            "the same `dowsax evaluate` computes it again."
        )
    return Evaluation(folder, runs, record)


def require_same(begun: Evaluation, runs: Sequence[Run]) -> None:
    """Raise a ValueError that names the settings in which a folder and a list of runs differ."""
    if begun.record["fingerprint"] == fingerprint_of(runs):
        return
    there, here = (_described(each) for each in (begun.runs, runs))
    differing = [f"{name} is {there[name]} there and {here[name]} here" for name in here]
    differing = [text for text, name in zip(differing, here, strict=True) if there[name] != here[name]]
    what = "; ".join(differing) or "weights, filter or stop rules of these names have changed since"
    raise ValueError(
        f"{begun.folder} holds a run of another configuration: {what}. "
        "Give the same settings, or another folder with --out."
    )


def configuration_of(runs: Sequence[Run], shard_size: int) -> dict[str, Any]:
    """What was asked for, as JSON can hold it."""
    shared = {name: value for name, value in asdict(runs[0]).items() if name in _SHARED}
    names = {
        "policies": list(dict.fromkeys(run.policy for run in runs)),
        "fields": list(dict.fromkeys(run.field for run in runs)),
    }
    return names | shared | {"shard_size": shard_size, "ladder": [str(rule) for rule in LADDER]}


def _runs_of(configuration: dict[str, Any]) -> tuple[Run, ...]:
    # Evaluations of earlier versions had no problem.
    configuration = {"problem": None} | configuration
    shared = {name: configuration[name] for name in _SHARED}
    shared["rule"] = TraceRule(**shared["rule"])
    return grid(configuration["policies"], configuration["fields"], **shared)


def _described(runs: Sequence[Run]) -> dict[str, str]:
    """The settings in words."""
    names = {
        "policies": ", ".join(sorted({run.policy for run in runs})),
        "fields": ", ".join(sorted({run.field for run in runs})),
    }
    shared = {name: str(getattr(runs[0], name)) for name in _SHARED if name != "rule"}
    return names | shared | {"stop": str(runs[0].rule)}


def _begin(folder: Path, runs: Sequence[Run], shard_size: int) -> Evaluation:
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty and no run folder: give a new or empty one with --out.")
    about = {"schema": SCHEMA, "fingerprint": fingerprint_of(runs), **provenance()}
    record = about | {"configuration": configuration_of(runs, shard_size)}
    evaluation = Evaluation(folder, tuple(runs), record)
    # Refuses a shard size that cannot be.
    _ = evaluation.store
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the run folder {folder}: {error.strerror}.") from None
    _write_json(folder / "run.json", record)
    return evaluation


def _write_json(path: Path, record: dict[str, Any]) -> None:
    replace_text(path, json.dumps(record, indent=2) + "\n")


Summaries = Sequence[tuple[dict[str, str], Summary]]
"""The labels of each run, and its summary."""


def summaries(evaluation: Evaluation) -> Summaries:
    """The summary of each run under the stop rule of the evaluation."""
    return [
        (
            {
                "policy": run.policy,
                "field": run.field,
                "scenario": run.scenario,
                "stop": str(run.rule),
                "radius [m]": f"{evaluation.radius:g}",
                "preset": run.preset,
                "particles": str(run.particles),
                "seed": str(run.seed),
                "most readings": str(run.max_readings),
            },
            summarise(episodes, run.rule),
        )
        for run, episodes in evaluation.episodes().items()
    ]


def document(evaluation: Evaluation, found: Summaries) -> dict[str, Any]:
    """As JSON: the numbers of the one run, or a list of runs."""
    run = evaluation.runs[0]
    settings = {
        "stop": str(run.rule),
        "radius": evaluation.radius,
        "episodes": run.episodes,
        "seed": run.seed,
        "preset": run.preset,
        "particles": run.particles,
        "max_readings": run.max_readings,
    }
    if run.problem is not None:
        settings |= {"problem": run.problem}
    entries = [
        {name: labels[name] for name in ("policy", "field", "scenario")} | settings | summary_json(summary)
        for labels, summary in found
    ]
    return entries[0] if len(entries) == 1 else {"cells": entries}


def write_summary(evaluation: Evaluation, found: Summaries) -> None:
    """Write summary.md, .csv and .json; the last always has a list."""
    entries = document(evaluation, found)
    entries = entries if "cells" in entries else {"cells": [entries]}
    texts = {
        "md": search_table(found),
        "csv": search_csv(found),
        "json": json.dumps(entries, indent=2, allow_nan=False) + "\n",
    }
    for ending, text in texts.items():
        replace_text(evaluation.folder / f"summary.{ending}", text)
