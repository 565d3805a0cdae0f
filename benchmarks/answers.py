"""How long an answer to a reading takes in missions: `python -m benchmarks.answers`

Simulated missions at the site files of `dowsax site new`, one of each kind, after warm-up: from a reading
that is understood to the advice, without a log, on however many cores there are. A reading of a gas plume in
measured wind takes longest, as its likelihood is a mean over winds. The CPU time, summed over the
cores, depends little on what else the machine does. Compilation is counted, so that it can be seen that none
is left for the mission.
"""

import argparse
from collections.abc import Sequence

import jax
import numpy as np

from benchmarks import machine
from benchmarks.standard_sites import standard_site
from benchmarks.timing import Timing, timed
from dowsax.compilation import enable_cache
from dowsax.evaluate.advised_missions import simulate_mission
from dowsax.evaluate.missions import RehearsalConfig
from dowsax.evaluate.tables import markdown
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.site import parse_site
from dowsax.survey.reading import Reading

KINDS = ("gas-plume", "radiation", "level", "magnetic-dipole")
LIMIT = 1.0
"""[s], what an answer may take."""
HEADINGS = (
    "site",
    "answers",
    "median",
    "95 %",
    "99 %",
    "worst",
    f"over {LIMIT:g} s",
    "worst CPU time",
    "compiled meanwhile",
)


class Clocked(Advisor):
    """An advisor that notes how long its answers take."""

    def __init__(self, plan, guide, seed: int) -> None:
        self.timings: list[Timing] = []
        super().__init__(plan, guide, seed, warm_up=False)

    def add(self, reading: Reading, given: str = "") -> Advice:
        given_: list[Advice] = []
        self.timings.append(timed(lambda: given_.append(super(Clocked, self).add(reading, given))))
        return given_[0]


def measured(kind: str, missions: int, seed: int) -> list[Timing]:
    """The answers of so many missions, one after another."""
    ready = Advisor(parse_site(standard_site(kind), f"{kind}.toml"), None, seed)
    # The first mission compiles what simulates readings, too.
    simulate_mission(ready.new_mission(seed), jax.random.key(seed), RehearsalConfig(max_readings=2))
    timings: list[Timing] = []
    for number in range(missions):
        advisor = Clocked(ready.plan, ready.policy, seed + number)
        simulate_mission(advisor, jax.random.fold_in(jax.random.key(seed), number), RehearsalConfig())
        timings += advisor.timings
    return timings


def row(kind: str, timings: Sequence[Timing]) -> tuple[str, ...]:
    """One line of the table."""
    walls = np.array([timing.wall for timing in timings])
    told = [f"{seconds:.2f} s" for seconds in (*np.quantile(walls, (0.5, 0.95, 0.99)), walls.max())]
    compiled = sum(timing.compiled for timing in timings)
    worst = max(timing.cpu for timing in timings)
    return kind, str(len(walls)), *told, str(int(np.sum(walls > LIMIT))), f"{worst:.2f} s", str(compiled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--missions", type=int, default=5, help="of each kind")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    enable_cache()
    before = machine.load()
    lines = [row(kind, measured(kind, options.missions, options.seed)) for kind in options.kinds]
    print("\n".join(markdown(HEADINGS, lines)))
    print(
        f"\n{options.missions} missions each, seed {options.seed}; {machine.cores()} cores of "
        f"{machine.cpu_model()}, load {before} before; commit {machine.commit()}."
    )


if __name__ == "__main__":
    main()
