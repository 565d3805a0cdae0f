"""Whether a mission notices that its wind is reversed: results/tables/missions/reversed-wind.md.

    python -m benchmarks.flipped_wind                       # as published
    python -m benchmarks.flipped_wind --missions 4          # a trial; its numbers mean little

Missions in the yard of `benchmarks.wind_error`, whose advisors are given the wind as it is, or where it goes
for where it comes from. All meet the same sources and winds.
"""

import argparse
from dataclasses import dataclass, replace

import jax
import numpy as np

from benchmarks import machine
from benchmarks.site_stops import share
from benchmarks.wind_error import site
from dowsax.compilation import enable_cache
from dowsax.evaluate.advised_missions import simulate_mission
from dowsax.evaluate.missions import RehearsalConfig, rate
from dowsax.evaluate.tables import markdown
from dowsax.mission.advice import FOUND, Advice
from dowsax.mission.advisor import Advisor
from dowsax.survey.reading import Reading

HEADINGS = ("wind given", "said to be reversed", "at reading, median", "found", "wrong, of stops")


class Misled(Advisor):
    """An advisor that is given the opposite of the wind there is."""

    def add(self, reading: Reading, given: str = "") -> Advice:
        wind = reading.wind
        return super().add(reading if wind is None else replace(reading, wind=(-wind[0], -wind[1])), given)


@dataclass(frozen=True)
class Course:
    """How one mission went."""

    noticed: int | None
    """After so many readings; `None` where it was not."""
    found: bool
    wrong: bool


def mission(ready: Advisor, kind: type[Advisor], number: int, config: RehearsalConfig) -> Course:
    """One mission by an advisor of this kind."""
    noticed: list[int] = []

    class Noting(kind):
        def add(self, reading: Reading, given: str = "") -> Advice:
            advice = super().add(reading, given)
            if any("looks reversed" in warning for warning in advice.warnings):
                noticed.append(advice.number)
            return advice

    advisor = Noting(ready.plan, ready.policy, config.seed + number, warm_up=False)
    ended = simulate_mission(advisor, jax.random.fold_in(jax.random.key(config.seed), number), config)
    found = ended.status == FOUND
    return Course(noticed[0] if noticed else None, found, ended.wrong(ready.plan.radius))


def row(label: str, courses: list[Course]) -> tuple[str, ...]:
    """One line of the table."""
    noticed = [one.noticed for one in courses if one.noticed is not None]
    stops = [one for one in courses if one.found]
    return (
        label,
        share(rate([one.noticed is not None for one in courses])),
        f"{np.median(noticed):.0f}" if noticed else "none",
        share(rate([one.found for one in courses])),
        share(rate([one.wrong for one in stops])),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missions", type=int, default=12, help="with each wind, all with a source")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    enable_cache()
    config = RehearsalConfig(options.missions, without_source=0.0, seed=options.seed)
    ready = Advisor(site(10.0), None, options.seed)
    lines = [
        row(label, [mission(ready, kind, number, config) for number in range(options.missions)])
        for label, kind in (("as it is", Advisor), ("reversed", Misled))
    ]
    print("\n".join(markdown(HEADINGS, lines)))
    print(f"\n{options.missions} missions each, seed {options.seed}; commit {machine.commit()}.")


if __name__ == "__main__":
    main()
