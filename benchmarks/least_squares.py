"""What a plain fit makes of Prairie Grass, next to the belief: `python -m benchmarks.least_squares`

The level to reach is that of a least-squares plume. This is one: Briggs' spreads of the class that fits best,
no prior, the residuals as they are; place, rate and wind direction are free, and tried from many starts. It
gets what the belief gets, the readings and their mean wind where one was measured, and does not say
how sure it is. The belief's errors are read from the lines of `benchmarks.real`. About 4 minutes of one core.
"""

import argparse
import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import least_squares

from benchmarks import real, real_sets
from dowsax.evaluate.tables import markdown
from dowsax.types import Station

OUT = real.OUT.with_name("least-squares.csv")
STARTS = 12
"""Of each class: so far upwind of the readings, and with an unknown wind in so many directions."""
FARTHEST = 400.0
"""[m], how far upwind of the middle of the readings a fit begins at most."""
RELEASE = 0.5
"""[m], the height of a release near the ground."""
# Briggs' spreads [m] in open country at x metres downwind, from class A to F.
LATERAL = (0.22, 0.16, 0.11, 0.08, 0.06, 0.04)
VERTICAL = (
    lambda x: 0.2 * x,
    lambda x: 0.12 * x,
    lambda x: 0.08 * x / np.sqrt(1 + 0.0002 * x),
    lambda x: 0.06 * x / np.sqrt(1 + 0.0015 * x),
    lambda x: 0.03 * x / (1 + 0.0003 * x),
    lambda x: 0.016 * x / (1 + 0.0003 * x),
)
# [m], nearer to the source than this the spreads are those at this distance.
_NEAREST = 1.0


class Fit(NamedTuple):
    """The best explanation of a survey."""

    position: np.ndarray
    cost: float
    """Half the sum of squared residuals, as shares of the greatest reading."""


def plume(
    position: np.ndarray, log_rate: float, direction: float, stability: int, places: np.ndarray, height: float
) -> np.ndarray:
    """The textbook plume of a rate over 2π times the wind speed, at (n, 2) places of one height [m]."""
    along, across = (
        np.array([[math.cos(direction), math.sin(direction)], [-math.sin(direction), math.cos(direction)]])
        @ (places - position).T
    )
    x = np.maximum(along, _NEAREST)
    sigma_y, sigma_z = LATERAL[stability] * x / np.sqrt(1 + 0.0001 * x), VERTICAL[stability](x)
    above, below = (np.exp(-0.5 * (gap / sigma_z) ** 2) for gap in (height - RELEASE, height + RELEASE))
    value = np.exp(log_rate - 0.5 * (across / sigma_y) ** 2) * (above + below) / (sigma_y * sigma_z)
    return np.where(along > 0, value, 0.0)


def fit(stations: Station, values: np.ndarray, starts: int = STARTS, seed: int = 0) -> Fit:
    """The least-squares plume of a survey at one height, over all classes and starts."""
    places, height = np.asarray(stations.position, float), float(np.mean(stations.altitude))
    wind = None if stations.wind is None else np.mean(stations.wind, axis=0)
    shares, middle, generator = values / values.max(), places.mean(axis=0), np.random.default_rng(seed)
    best = Fit(middle, math.inf)
    for stability in range(len(LATERAL)):
        for number in range(starts):
            turn = 2 * math.pi * number / starts if wind is None else math.atan2(wind[1], wind[0])
            away = generator.uniform(0, FARTHEST) * np.array([math.cos(turn), math.sin(turn)])

            def misses(at: np.ndarray, stability: int = stability) -> np.ndarray:
                return plume(at[:2], at[2], at[3], stability, places, height) - shares

            start = [*(middle - away), math.log(100.0), turn]
            found = least_squares(misses, start, x_scale=[20.0, 20.0, 1.0, 0.2], max_nfev=150)
            if found.cost < best.cost:
                best = Fit(found.x[:2], float(found.cost))
    return best


class Pair(NamedTuple):
    """One survey: how far off each is [m]."""

    name: str
    wind: str
    fitted: float
    believed: float


def table(pairs: Sequence[Pair]) -> str:
    """Medians with intervals, of all surveys and of those with and without a measured wind."""
    winds = sorted({pair.wind for pair in pairs})
    groups = {"all": pairs} | {f"wind {wind}": [one for one in pairs if one.wind == wind] for wind in winds}
    rows = []
    for label, group in groups.items():
        cells = []
        for errors in ([one.fitted for one in group], [one.believed for one in group]):
            low, high = real.median_interval(errors)
            cells += [f"{np.median(errors):.1f} m [{low:.1f}, {high:.1f}]", f"{np.quantile(errors, 0.9):.1f}"]
        nearer = sum(one.believed < one.fitted for one in group)
        rows.append((label, str(len(group)), *cells, f"{nearer} of {len(group)}"))
    headings = ("surveys", "number", "least squares [95 %]", "p90", "belief [95 %]", "p90", "belief nearer")
    return "\n".join(markdown(headings, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=real_sets.DATA)
    parser.add_argument("--believed", type=Path, default=real.OUT, help="the lines of benchmarks.real")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    absent = real_sets.missing(arguments.data)
    if absent is not None:
        raise SystemExit(absent)
    believed = {one.name: one for one in real.read(arguments.believed) if one.group == "prairie"}
    truths, pairs = real_sets.truths(arguments.data, "prairie"), []
    with Progress(console=Console(stderr=True)) as progress:
        for case in progress.track(list(real_sets.prairie(arguments.data)), description="least squares"):
            error = float(
                np.linalg.norm(
                    fit(case.stations, case.values).position + case.origin - truths[case.name].position
                )
            )
            line = believed[case.name]
            pairs.append(Pair(case.name, line.wind, error, line.error))
    real.write(pairs, arguments.out)
    print(table(pairs))


def read(path: Path) -> list[Pair]:
    """The inverse of `real.write`, to four digits."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Pair(row["name"], row["wind"], float(row["fitted"]), float(row["believed"])) for row in rows]


if __name__ == "__main__":
    main()
