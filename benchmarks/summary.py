"""The tables of all steps in one file, with what they were measured on."""

import csv
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median


def write(out: Path, outcomes: Mapping[str, Mapping], machine: Mapping[str, object]) -> str:
    """A section for each step that was run in the folder; of a step that failed only the error."""
    parts = ["# Speed", _machine(machine)]
    for name, outcome in outcomes.items():
        parts += [f"## {TITLES[name]}", _stamp(outcome)]
        parts.append(f"Failed: {outcome['error']}" if outcome["error"] else SECTIONS[name](out))
    return "\n\n".join(parts) + "\n"


def speed(out: Path) -> str:
    """One survey, a batch, the paper's 20 readings."""
    report = json.loads((out / "speed.json").read_text())
    lines = ["| what | wall ms a reading | CPU ms a reading | wall ms a survey |", "|---|---|---|---|"]
    for row in report["single"]:
        a, whole = row["a_reading"], row["a_survey"]
        lines.append(
            f"| one survey of {row['readings']}, {row['preset']} preset ({row['particles']:,} particles) "
            f"| {a['wall_ms']:.2f} | {a['cpu_ms']:.2f} | {whole['wall_ms']:.0f} |"
        )
    batch = report["batch"]
    lines.append(
        f"| batch of {batch['surveys']}, default preset | {batch['ms_per_reading']:.2f} "
        f"| {batch['cpu_ms_per_reading']:.2f} | {1000 / batch['surveys_per_second']:.0f} |"
    )
    paper = report["paper"]
    lines.append(
        f"| one survey of {paper['readings']}, paper preset; in the paper {paper['paper_ms']:.0f} ms | – | – "
        f"| {paper['a_survey']['wall_ms']:.0f} |"
    )
    compiled = batch["compiled"] + sum(one["a_survey"]["compiled"] for one in (*report["single"], paper))
    return "\n".join(lines) + _warning(compiled)


def startup(out: Path) -> str:
    """CPU and wall seconds of each start against the limits."""
    lines = [
        "| start | | CPU seconds, all runs | limit | within | wall seconds, the median |",
        "|---|---|---|---|---|---|",
    ]
    for start in json.loads((out / "startup.json").read_text()):
        for kind in ("cold", "warm", "another site"):
            if not start[kind]:
                continue
            cpu, wall = zip(*start[kind], strict=True)
            limit = start["cold_limit" if kind == "cold" else "warm_limit"]
            lines.append(
                f"| {start['name']} | {kind} | {', '.join(f'{value:.1f}' for value in cpu)} | {limit:.0f} "
                f"| {'yes' if max(cpu) < limit else 'no'} | {median(wall):.1f} |"
            )
    return "\n".join(lines)


def growth(out: Path) -> str:
    """The curves as tables, and how the last points compare with N log N."""
    with (out / "growth.csv").open(encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    by_curve = {
        name: [one for one in points if one["curve"] == name] for name in ("attention", "step", "survey")
    }
    lines = ["| particles | search | recall | attention [ms] | whole step [ms] |", "|---|---|---|---|---|"]
    for one, step in zip(by_curve["attention"], by_curve["step"], strict=True):
        lines.append(
            f"| {int(one['size']):,} | {one['search']} | {float(one['recall']):.3f} "
            f"| {float(one['wall_ms']):.1f} | {float(step['wall_ms']):.1f} |"
        )
    lines += ["", "| readings | survey [ms] | a reading [ms] |", "|---|---|---|"]
    for one in by_curve["survey"]:
        size, time = int(one["size"]), float(one["wall_ms"])
        lines.append(f"| {size} | {time:.0f} | {time / size:.2f} |")
    compiled = sum(int(one["compiled"]) for one in points)
    text = "\n".join(lines) + "\n\n" + against_n_log_n(by_curve["attention"]) + _warning(compiled)
    return text + "\n\n![growth](growth.png)"


def against_n_log_n(points: list[dict], start: int = 10_000) -> str:
    """Time over N log N at the largest size, relative to that at `start`: 1 is N log N, above 1 is worse."""
    large = [(int(one["size"]), float(one["wall_ms"])) for one in points if int(one["size"]) >= start]
    if len(large) < 2:
        return f"Fewer than two sizes above {start:,}."
    (first, early), (last, late) = min(large), max(large)
    ratio = (late / (last * math.log(last))) / (early / (first * math.log(first)))
    heading = "| attention from | to | times as long | of N log N |\n|---|---|---|---|"
    return f"{heading}\n| {first:,} | {last:,} | {late / early:.1f} | {ratio:.2f} |"


def peers(out: Path) -> str:
    return (out / "peers.md").read_text(encoding="utf-8").strip()


def decisions(out: Path) -> str:
    return (out / "decisions.md").read_text(encoding="utf-8").strip()


TITLES = {
    "speed": "One survey and many",
    "startup": "From process start to the answer",
    "growth": "Growth",
    "decisions": "One decision",
    "peers": "Peers at equal accuracy",
}
SECTIONS: dict[str, Callable[[Path], str]] = {
    "speed": speed,
    "startup": startup,
    "growth": growth,
    "decisions": decisions,
    "peers": peers,
}


def _machine(machine: Mapping[str, object]) -> str:
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "jax", "jaxlib", "numpy", "scipy"))
    place = f"{machine['cpu']} ({machine['architecture']}), {machine['cores']} cores, {machine['system']}"
    return f"{place}; {versions}."


def _stamp(outcome: Mapping) -> str:
    """When and of what commit, so that steps of different runs are not mistaken for one."""
    load = "" if outcome["load_before"] is None else f", load before {outcome['load_before']:.1f}"
    note = " A rehearsal: its numbers mean nothing." if outcome["tiny"] else ""
    return f"{outcome['finished']}, commit {outcome['commit']}, {outcome['seconds']:.0f} s{load}.{note}"


def _warning(compiled: int) -> str:
    """Nothing when no program was compiled while the clock ran."""
    return f"\n\nWarning: {compiled} programs were compiled while the clock ran." if compiled else ""
