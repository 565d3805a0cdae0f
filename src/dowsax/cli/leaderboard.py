"""`dowsax leaderboard`: benchmarks of others, by their rules."""

import json as json_format
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import counting, say
from dowsax.cli.locate import require_seed
from dowsax.leaderboards.location_finding import SETTINGS
from dowsax.leaderboards.location_finding_table import NUM_CONTRASTS, measure, table

NAMES = ("location-finding",)
MIN_ROLLOUTS = 2


def leaderboard(
    name: str,
    *,
    rollouts: int = 200,
    contrasts: int = NUM_CONTRASTS,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run a benchmark of others by its rules, and print the table.

    Parameters
    ----------
    name
        The benchmark: location-finding.
    rollouts
        Simulated searches of each line, at least 2.
    contrasts
        Of the bounds of the information, a multiple of 10,000; the lower bound is at most the logarithm of
        one more.
    seed
        The same seed gives the same numbers, but for the time.
    json
        Print one JSON object, and nothing else.
    """
    if name not in NAMES:
        raise ValueError(f"Unknown benchmark {name!r}; known are {', '.join(NAMES)}.")
    if rollouts < MIN_ROLLOUTS:
        raise ValueError(f"`rollouts` must be at least {MIN_ROLLOUTS}; got {rollouts}.")
    if contrasts < 1 or (contrasts > 10_000 and contrasts % 10_000):
        raise ValueError(f"`contrasts` must be a multiple of 10,000, or fewer; got {contrasts}.")
    require_seed(seed)
    with counting(2 * len(SETTINGS) * rollouts) as (describe, advance):
        describe("rollouts")
        rows = list(measure(rollouts, seed, contrasts, lambda: advance(1)))
    if json:
        lines = [row.to_json() for row in rows]
        say(json_format.dumps({"name": name, "contrasts": contrasts, "seed": seed, "rows": lines}))
        return
    say(table(rows))
    say(f"{rollouts} rollouts each, {contrasts:,} contrasts, seed {seed}; brackets are 95 % intervals.")
