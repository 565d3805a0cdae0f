"""`dowsax rehearse`: simulated missions of a site, to measure how often a stop is wrong there."""

import json as json_
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import COMPILING, announcing, counting, say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.outputs import require_picture, require_writable
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.missions import RehearsalConfig, Simulated
from dowsax.evaluate.missions import rehearse as simulate
from dowsax.evaluate.paired import paired_ratio, paired_share
from dowsax.files import replace_text
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Rehearsal, rehearsal_path, rehearsal_text
from dowsax.mission.site_policy import SitePolicy, oracle_policy
from dowsax.site import Site, read_site
from dowsax.site.searcher import MAX_SEARCHERS


def rehearse(
    site: Path,
    *,
    missions: int = 200,
    policy: Annotated[list[str] | None, Parameter(negative="")] = None,
    without_source: float = 0.2,
    seed: int = 0,
    speed: float | None = None,
    searchers: str | None = None,
    out: Path | None = None,
    plot: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Simulate missions of a site: how often they stop, and how often a stop is wrong.

    Sources come from the prior of the site file, and readings from its model. Filter, policy, stop rule,
    budget and start are those of a real mission. The same missions are also those of an oracle, which
    knows the source and goes there: it shows what reading around the source finds; other places can tell
    more. The result of the first policy, by as many searchers as the site file has, is saved next to it,
    where `dowsax advise` and `dowsax locate` quote it.

    Parameters
    ----------
    site
        Site file; `dowsax site new` writes one.
    missions
        Number of missions, with and without a source; more make the intervals narrower.
    policy
        Planner or trained policy; repeat it to compare several. Default: that of `dowsax advise`.
    without_source
        Share of missions without a source.
    seed
        Random seed.
    speed
        Speed between readings [m/s]. Default: those of the site file.
    searchers
        Numbers of searchers that share one belief, such as 1,2,4, each on the same missions: the first of
        the site file, or more that have nothing of their own. Default: those of the site file.
    out
        File to write. Default: SITE.rehearsal.json next to the site file, the only one that is quoted.
    plot
        Picture of where sources were found, and where not, and of three missions: .png, .pdf or .svg.
        Default: none.
    json
        Print an object for each policy, in a list, instead of text.
    """
    require_seed(seed)
    if speed is not None and not 0 < speed < float("inf"):
        raise ValueError(f"--speed must be > 0 m/s; got {speed:g}.")
    with waiting("Reading the site"):
        config = RehearsalConfig(missions, without_source, seed)
        place = read_site(site)
        plan = Plan.of(place)
        plans = _plans(plan, searchers, speed)
        policies = [plan.site_policy(name) for name in policy or [None]]
    usual = max(len(plan.searchers), 1)
    is_saved = out is not None or any(max(len(one.searchers), 1) == usual for one in plans)
    path = rehearsal_path(site) if out is None else out
    if is_saved:
        require_writable(path)
    if plot is not None:
        require_picture(plot)
    ended = _simulate(plans, policies, config)
    by_site = (one for one in ended if one.rehearsal.searchers == usual)
    first = next(by_site, ended[0])
    if is_saved:
        replace_text(path, rehearsal_text(first.rehearsal))
    if plot is not None:
        _draw(first, place, plot)
    rehearsals = [one.rehearsal for one in ended]
    if json:
        print(json_.dumps([_numbers(one, rehearsals[0]) for one in rehearsals]))
        return
    _report(rehearsals)
    if not is_saved:
        say(f"Not saved, as the site has {usual} searcher{'' if usual == 1 else 's'}: give --out.")
        return
    quoted = ", where `dowsax advise` and `dowsax locate` quote it until the site file changes"
    say(f"Saved in {path}{quoted if out is None else ''}.")


def _draw(simulated: Simulated, place: Site, plot: Path) -> None:
    with waiting("Drawing the picture"):
        viz.save(viz.rehearsal_figure(simulated.rehearsal, place, simulated.paths), plot)


def _report(rehearsals: Sequence[Rehearsal]) -> None:
    """Print each rehearsal, and how the others compare with the first."""
    for line in (line for one in rehearsals for line in lines(one)):
        say(line)
    for line in map(comparison, rehearsals[1:], [rehearsals[0]] * (len(rehearsals) - 1)):
        say(line)


def _plans(plan: Plan, searchers: str | None, speed: float | None) -> list[Plan]:
    """Return the plan of each number of searchers; a `speed` [m/s] is that of all of them."""
    plans = [plan] if searchers is None else [plan.with_searchers(n) for n in _numbers_of(searchers)]
    return plans if speed is None else [one.with_speed(speed) for one in plans]


def _numbers_of(searchers: str) -> list[int]:
    """Return the numbers of a text such as 1,2,4; a ValueError for anything else."""
    numbers = [int(part) if part.strip().isdigit() else 0 for part in searchers.split(",")]
    if not all(1 <= number <= MAX_SEARCHERS for number in numbers) or len(set(numbers)) != len(numbers):
        raise ValueError(
            f"--searchers must be different numbers from 1 to {MAX_SEARCHERS}, such as 1,2,4; "
            f"got {searchers!r}."
        )
    return numbers


def _simulate(
    plans: Sequence[Plan], policies: Sequence[SitePolicy], config: RehearsalConfig
) -> list[Simulated]:
    """Return the missions of each policy and plan, and last those of the oracle, which have a source."""
    oracle = oracle_policy(plans[0].model, plans[0].reach, plans[0].radius)
    parts = [(plan, policy, config) for policy in policies for plan in plans]
    parts += [(plans[0], oracle, config.with_source_only())] if config.num_present else []
    total = sum(part.missions for *_, part in parts)
    with announcing("Preparing the missions") as cancel, counting(total) as (describe, advance):

        def simulate_by(plan: Plan, policy: SitePolicy, config: RehearsalConfig) -> Simulated:
            team = f" by {len(plan.searchers)} searchers" if plan.searchers else ""
            words = f"missions of {policy.name}{team}"
            describe(f"{words}: {COMPILING}")

            def progress(more: int) -> None:
                cancel()
                describe(words)
                advance(more)

            policy = policy.of_reach(plan.reach, plan.radius)
            return simulate(plan, config, policy, on_progress=progress)

        return [simulate_by(*part) for part in parts]


def difference(one: Rehearsal, first: Rehearsal) -> Estimate:
    """Return how much more often one policy finds the source than the first, on the same missions."""
    found = [
        np.array([end.found for end in each.missions if end.source is not None]) for each in (one, first)
    ]
    return paired_share(*found)


def _numbers(one: Rehearsal, first: Rehearsal) -> dict[str, Any]:
    more = difference(one, first)
    interval = [0.0, 0.0] if one is first else [more.low, more.high]
    shares = time_share(one, first)
    return one.numbers() | {
        "found_minus_first": more.value,
        "found_minus_first_interval": interval,
        "time_of_first": shares.value,
        "time_of_first_interval": [shares.low, shares.high],
    }


def time_share(one: Rehearsal, first: Rehearsal) -> Estimate:
    """Return the time to the stop as a share of that of the first, over the missions that both found."""
    ended = [[end for end in each.missions if end.source is not None] for each in (one, first)]
    pairs = [(a.time, b.time) for a, b in zip(*ended, strict=True) if a.found and b.found]
    return paired_ratio(*np.reshape(pairs, (-1, 2)).T)


def comparison(one: Rehearsal, first: Rehearsal) -> str:
    """Return the difference of two policies as a line of text."""
    more = difference(one, first)
    if more.value is None or more.low is None or more.high is None:
        return ""
    interval = f"[{100 * more.low:+.1f}, {100 * more.high:+.1f}]"
    line = f"{_title(one)} against {_title(first)}: found {100 * more.value:+.1f} % {interval} more often"
    shares = time_share(one, first)
    if shares.value is None or shares.low is None or shares.high is None:
        return line
    return f"{line}, in {shares.value:.2f} [{shares.low:.2f}, {shares.high:.2f}] of the time"


def _title(rehearsal: Rehearsal) -> str:
    number = rehearsal.searchers
    return rehearsal.policy if number == 1 else f"{rehearsal.policy} by {number} searchers"


def lines(rehearsal: Rehearsal) -> list[str]:
    """Return the rehearsal as lines of text."""
    present = [one for one in rehearsal.missions if one.source is not None]
    stops = [one for one in present if one.found]
    broken = len(present) - rehearsal.stopped.count - rehearsal.cannot_tell.count
    allowed = f"source more than {rehearsal.radius:.3g} m off; at most {1 - rehearsal.probability:.1%} meant"
    rows = [
        ("found", rehearsal.stopped.words()),
        ("wrong, of these", f"{rehearsal.false_stops.words()} ({allowed})"),
        ("inconclusive", rehearsal.cannot_tell.words()),
        ("broken off", str(broken) if broken else ""),
        ("95 % region holds the source", rehearsal.covered.words()),
        (
            "found where there was nothing",
            rehearsal.found_nothing.words() if rehearsal.found_nothing.of else "",
        ),
        ("readings to the stop", _spread([one.readings for one in stops], "")),
        (
            "way to the stop, of all" if rehearsal.searchers > 1 else "way to the stop",
            _spread([one.distance for one in stops], " m"),
        ),
        ("time to the stop", _spread([one.time for one in stops], " s")),
    ]
    return [
        f"{rehearsal.name}: {len(present)} rehearsals with a source, {rehearsal.found_nothing.of} without, "
        f"by {_title(rehearsal)} ({rehearsal.preset}), seed {rehearsal.seed}; brackets are 95 % intervals",
        *(f"  {heading:<30}  {words}" for heading, words in rows if words),
        *(f"  {sentence}" for sentence in rehearsal.assumed),
    ]


def _spread(numbers: Sequence[float | int], unit: str) -> str:
    """Return the median, and the central 90 %."""
    if not numbers:
        return ""
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95))
    return f"{middle:.3g}{unit} in the middle, 90 % from {low:.3g} to {high:.3g}{unit}"
