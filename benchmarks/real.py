"""The real sets: where the source is believed to be, and where it was: `python -m benchmarks.real`

Prints a table of the sets with intervals over their surveys, writes one line a survey. Seeds are fixed.
With --print the table is that of numbers written before.
"""

import argparse
import csv
import math
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks import real_sets
from benchmarks.real_sets import Case, Truth
from dowsax.evaluate.statistics import resample_counts, wilson_interval
from dowsax.inference import Posterior
from dowsax.inference.locate import locate

OUT = Path(__file__).resolve().parents[1] / "results" / "real.csv"
PROBABILITY, LOCATED_PROBABILITY = 0.9, 0.95
"""Of the discs, and from which on a source counts as located."""


class Score(NamedTuple):
    """One survey against the truth; lengths in the unit of the set."""

    group: str
    name: str
    readings: int
    redundancy: float
    """How many of them count as one, as estimated."""
    error: float
    """Of the posterior mean."""
    radius: float
    """The smallest circle around the mean that holds 90 % of the belief."""
    covered: bool
    """Whether that circle holds the source."""
    strength_ratio: float
    """The median of the believed strength over the true one; NaN where none is known."""
    strength_covered: float
    """Whether the central 90 % interval of the strength holds the true one, 1 or 0; NaN as above."""
    fit: float
    wind: str = ""
    """Whether the wind was "measured", or is "unknown" and inferred; nothing where there is none."""
    equipment: float = math.nan
    """METEC: whether most of the belief is nearest to the right group of equipment, 1 or 0."""
    located: float = math.nan
    """Whether the belief fits and has the source within `LOCATED_WITHIN` with 95 %, 1 or 0; NaN as above."""


def score(case: Case, truth: Truth, posterior: Posterior) -> Score:
    error = float(np.linalg.norm(posterior.mean[:2] + case.origin - truth.position))
    radius = float(posterior.credible_radius(PROBABILITY))
    ratio = covered = math.nan
    if not math.isnan(truth.strength):
        at = posterior.names.index("q")
        low, high = (float(end[at]) for end in posterior.interval(PROBABILITY))
        ratio = float(posterior.quantile(0.5)[at]) / truth.strength
        covered = float(low <= truth.strength <= high)
    name, number, within = case.name, len(case.values), real_sets.LOCATED_WITHIN.get(case.group)
    located = math.nan
    if within is not None:
        is_trusted = posterior.fits and not posterior.has_excess_noise
        located = float(is_trusted and posterior.probability_within(within) >= LOCATED_PROBABILITY)
    return Score(
        group=case.group,
        name=name,
        readings=number,
        redundancy=posterior.redundancy,
        error=error,
        radius=radius,
        covered=error <= radius,
        strength_ratio=ratio,
        strength_covered=covered,
        fit=float(posterior.fit),
        wind="measured" if case.stations.wind is not None else "unknown" if "ux" in posterior.names else "",
        located=located,
    )


def nearest_group(samples: np.ndarray, weights: np.ndarray, groups: dict[str, np.ndarray]) -> str:
    """The group of equipment that is the nearest one for most of the belief."""
    places = np.stack(list(groups.values()))
    nearest = np.linalg.norm(samples[:, None, :2] - places, axis=-1).argmin(axis=1)
    return list(groups)[int(np.bincount(nearest, weights, len(groups)).argmax())]


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap interval of the median; NaN without any value."""
    if not values:
        return math.nan, math.nan
    ordered = np.sort(np.asarray(values, np.float64))
    below = np.cumsum(resample_counts(len(ordered)), axis=1)
    low, high = (len(ordered) - 1) // 2, len(ordered) // 2
    medians = (ordered[(below > low).argmax(axis=1)] + ordered[(below > high).argmax(axis=1)]) / 2
    ends = np.quantile(medians, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(ends[0]), float(ends[1])


def table(scores: Sequence[Score]) -> str:
    """One row a set."""
    lines = [
        "| set | surveys | median error [95 %] | mean | p90 | 90 % radius | covered [95 %] | rate/true "
        "| group | located, right |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for label, rows in _rows(scores):
        unit, scale = real_sets.UNITS.get(rows[0].group, ("m", 1.0))
        errors, radii = [scale * one.error for one in rows], [scale * one.radius for one in rows]
        low, high = median_interval(errors)
        hits = sum(one.covered for one in rows)
        at_least, at_most = wilson_interval(hits, len(rows))
        ratios = [one.strength_ratio for one in rows if not math.isnan(one.strength_ratio)]
        right = [one.equipment for one in rows if not math.isnan(one.equipment)]
        lines.append(
            f"| {label} | {len(rows)} | {np.median(errors):.1f} {unit} [{low:.1f}, {high:.1f}] | "
            f"{np.mean(errors):.1f} | {np.quantile(errors, 0.9):.1f} | {np.median(radii):.1f} | "
            f"{hits / len(rows):.2f} [{at_least:.2f}, {at_most:.2f}] | "
            f"{f'{np.median(ratios):.2f}' if ratios else ''} | "
            f"{f'{sum(right):.0f} of {len(right)}' if right else ''} | {_located(rows)} |"
        )
    return "\n".join(lines)


def _set_number(one: Score) -> int:
    return list(real_sets.SETS).index(one.group)


def _located(rows: Sequence[Score]) -> str:
    """How many surveys locate the source, and how many of these are right."""
    within = real_sets.LOCATED_WITHIN.get(rows[0].group)
    if within is None:
        return ""
    located = [one for one in rows if one.located == 1]
    return f"{len(located)}, {sum(one.error <= within for one in located)}"


def _rows(scores: Sequence[Score]) -> list[tuple[str, list[Score]]]:
    """The surveys of each set, and those with and without a wind where there are both."""
    found = []
    for group in dict.fromkeys(one.group for one in scores):
        rows = [one for one in scores if one.group == group]
        winds = list(dict.fromkeys(one.wind for one in rows))
        found.append((group, rows))
        if len(winds) > 1:
            found += [
                (f"{group}, wind {wind}", [one for one in rows if one.wind == wind]) for wind in sorted(winds)
            ]
    return found


def run(data: Path, case: Case, truth: Truth, particles: int | None, seed: int) -> Score:
    posterior = locate(
        case.stations,
        case.values,
        model=case.model,
        preset="survey",
        particles=particles,
        seed=seed,
        redundancy="estimated",
    )
    scored = score(case, truth, posterior)
    if case.group != "metec":
        return scored
    groups, right = real_sets.equipment(data)
    found = nearest_group(posterior.samples, posterior.weights, groups)
    return scored._replace(equipment=float(found == right[case.name]))


def _cases(name: str, arguments: argparse.Namespace) -> Iterable[Case]:
    """The surveys of a set, with what was said of it."""
    option = real_sets.OPTIONS.get(name)
    said = {} if option is None else {option: getattr(arguments, option)}
    return islice(real_sets.SETS[name](arguments.data, **said), arguments.most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=real_sets.DATA)
    parser.add_argument("--sets", nargs="+", choices=list(real_sets.SETS), default=list(real_sets.SETS))
    parser.add_argument("--particles", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=None, help="at most so many surveys of each set")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--print", action="store_true", help="print what is in --out and measure nothing")
    parser.add_argument("--direction-error", type=float, default=0.0, help="[°] of metec and ginninderra")
    parser.add_argument("--release", type=float, help="[m] above ground, of prairie; up to 3 unless given")
    arguments = parser.parse_args()
    if arguments.print:
        print(table(read(arguments.out)))
        return
    absent = real_sets.missing(arguments.data)
    if absent is not None:
        raise SystemExit(absent)
    cases = [case for name in arguments.sets for case in _cases(name, arguments)]
    truths = {name: real_sets.truths(arguments.data, name) for name in arguments.sets}
    before = read(arguments.out) if arguments.out.exists() else []
    others = [one for one in before if one.group not in arguments.sets]
    scores = []
    # The bar goes to stderr, so that stdout is the table and nothing else.
    with Progress(console=Console(stderr=True)) as progress:
        for case in progress.track(cases, description="real surveys"):
            truth = truths[case.group][case.name]
            scores.append(run(arguments.data, case, truth, arguments.particles, arguments.seed))
            # After each: what was found is kept when the rest is cut short. Lines of other sets stay.
            write(sorted([*others, *scores], key=_set_number), arguments.out)
    print(table(scores))


def write(surveys: Sequence[tuple], path: Path) -> None:
    """One line a survey, with the names of its fields above."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(type(surveys[0])._fields)
        lines.writerows(
            [f"{cell:.4g}" if isinstance(cell, float) else cell for cell in one] for one in surveys
        )


def read(path: Path) -> list[Score]:
    """The inverse of `write`, to four digits."""
    words = ("group", "name", "wind")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Score(
            **{name: row[name] for name in words},
            readings=int(row["readings"]),
            covered=row["covered"] == "True",
            **{name: float(row[name]) for name in row if name not in (*words, "readings", "covered")},
        )
        for row in rows
    ]


if __name__ == "__main__":
    main()
