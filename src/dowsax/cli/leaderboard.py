"""`dowsax leaderboard`: benchmarks of others, by their rules."""

import json as json_format
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import compile_first, counting, say
from dowsax.cli.locate import require_seed
from dowsax.leaderboards import otto_table, rad_search_table
from dowsax.leaderboards.location_finding import SETTINGS
from dowsax.leaderboards.location_finding_table import NUM_CONTRASTS, measure, table

NAMES = ("location-finding", "rad-search", "otto")
WORLDS = Path("../shared/data/rad_search_worlds")
MIN_ROLLOUTS = 2


def leaderboard(
    name: str,
    *,
    rollouts: int = 200,
    contrasts: int = NUM_CONTRASTS,
    worlds: Path = WORLDS,
    first: int | None = None,
    runs: int = 1,
    jobs: int | None = None,
    case: Annotated[list[str] | None, Parameter(negative="")] = None,
    policy: Annotated[list[str] | None, Parameter(negative="")] = None,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run a benchmark of others by its rules, and print the table.

    Parameters
    ----------
    name
        The benchmark: location-finding, rad-search or otto.
    rollouts
        Of location-finding and otto: simulated searches of each line, at least 2.
    contrasts
        Of location-finding: of the bounds of the information, a multiple of 10,000; the lower bound is at
        most the logarithm of one more.
    worlds
        Of rad-search: the folder of the worlds, walls0_low.json to walls7_high.json; those that are there
        are run.
    first
        Of rad-search: number of worlds of each file, from the first one on. Default: all.
    runs
        Of rad-search: searches of each world.
    jobs
        Of rad-search: compute in this many processes of one thread each, with the same numbers whatever it
        is. Default: one for each processor.
    case
        Of otto: isotropic-19x19, isotropic-53x53, windy-medium or windy-low; give it again for more. Default:
        all.
    policy
        Of otto: infotaxis, space-aware, planner or network; give it again for more. Default: all.
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
    for option, value in {"runs": runs, "first": first, "jobs": jobs}.items():
        if value is not None and value < 1:
            raise ValueError(f"`{option}` must be at least 1; got {value}.")
    require_seed(seed)
    if name == "rad-search":
        _rad_search(worlds, first, runs, jobs, seed, json)
    elif name == "otto":
        _otto(rollouts, case, policy, seed, json)
    else:
        _location_finding(rollouts, contrasts, seed, json)


def _location_finding(rollouts: int, contrasts: int, seed: int, json: bool) -> None:
    with counting(2 * len(SETTINGS) * rollouts) as (describe, advance):
        add = compile_first("rollouts", describe, advance)
        rows = list(measure(rollouts, seed, contrasts, lambda: add(1)))
    if json:
        lines = [row.to_json() for row in rows]
        say(
            json_format.dumps(
                {"name": "location-finding", "contrasts": contrasts, "seed": seed, "rows": lines}
            )
        )
        return
    say(table(rows))
    say(f"{rollouts} rollouts each, {contrasts:,} contrasts, seed {seed}; brackets are 95 % intervals.")


def _rad_search(folder: Path, first: int | None, runs: int, jobs: int | None, seed: int, json: bool) -> None:
    found = {name for *_, name in rad_search_table.FILES if (folder / name).is_file()}
    absent = [name for *_, name in rad_search_table.FILES if name not in found]
    if not found:
        reason = f"no worlds, such as {absent[0]}, are in {folder}: give their folder as --worlds DIR"
        say(json_format.dumps({"name": "rad-search", "skipped": reason}) if json else f"Skipped: {reason}.")
        return
    files = rad_search_table.read_files(folder, first)
    with counting(2 * runs * sum(len(file.worlds) for file in files)) as (describe, advance):
        add = compile_first("searches", describe, advance)
        rows = list(rad_search_table.measure(files, runs, seed, jobs, lambda: add(1)))
    if json:
        lines = [row.to_json() for row in rows]
        say(json_format.dumps({"name": "rad-search", "seed": seed, "skipped": absent, "rows": lines}))
        return
    say(rad_search_table.table(rows))
    if absent:
        say(f"Skipped, as they are not in {folder}: {', '.join(absent)}.")
    say(f"Searches of each world: {runs}, seed {seed}; brackets are 95 % intervals.")


def _otto(searches: int, slugs: list[str] | None, policies: list[str] | None, seed: int, json: bool) -> None:
    cases, names = otto_table.chosen(slugs, policies)
    with counting(len(cases) * len(names) * searches) as (describe, advance):
        add = compile_first("searches", describe, advance)
        rows = list(otto_table.measure(cases, names, searches, seed, add))
    if json:
        say(json_format.dumps({"name": "otto", "seed": seed, "rows": [row.to_json() for row in rows]}))
        return
    say(otto_table.table(rows))
    say(f"{searches} searches each, seed {seed}; brackets are 95 % intervals.")
