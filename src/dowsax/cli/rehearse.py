"""`dowsax rehearse`: simulated missions of a site, to measure how often a stop is wrong there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import counting, preparing, say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.outputs import require_picture, require_writable
from dowsax.evaluate.missions import RehearsalConfig
from dowsax.evaluate.missions import rehearse as simulate
from dowsax.files import replace_text
from dowsax.mission.advisor import Advisor
from dowsax.mission.rehearsal import Rehearsal, rehearsal_path, rehearsal_text
from dowsax.site import Site, read_site


def rehearse(
    site: Path,
    *,
    missions: int = 200,
    policy: str | None = None,
    without_source: float = 0.2,
    seed: int = 0,
    speed: float = 1.0,
    out: Path | None = None,
    plot: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Simulate missions of a site: how often they stop, and how often a stop is wrong.

    Sources come from the prior of the site file, and readings from its model. Filter, policy, stop rule,
    budget and start are those of a real mission. The result is saved next to the site file, where `dowsax
    advise` and `dowsax locate` quote it.

    Parameters
    ----------
    site
        Site file; `dowsax site new` writes one.
    missions
        Number of missions; more make the intervals narrower.
    policy
        Planner or trained policy. Default: that of `dowsax advise`.
    without_source
        Share of missions without a source.
    seed
        Random seed.
    speed
        Speed between readings [m/s], for budgets of time and lagging sensors.
    out
        File to write. Default: SITE.rehearsal.json next to the site file, the only one that is quoted.
    plot
        Picture of where sources were found, and where not: .png, .pdf or .svg. Default: none.
    json
        Print the result as JSON instead of text.
    """
    require_seed(seed)
    with waiting("Reading the site"):
        config = RehearsalConfig(missions, without_source, seed, speed)
        place = read_site(site)
    path = rehearsal_path(site) if out is None else out
    require_writable(path)
    if plot is not None:
        require_picture(plot)
    rehearsal = _simulate(place, policy, config)
    text = rehearsal_text(rehearsal)
    replace_text(path, text)
    if plot is not None:
        viz.save(viz.rehearsal_figure(rehearsal, place), plot)
    if json:
        print(text, end="")
        return
    for line in lines(rehearsal):
        say(line)
    quoted = ", where `dowsax advise` and `dowsax locate` quote it until the site file changes"
    say(f"Saved in {path}{quoted if out is None else ''}.")


def _simulate(site: Site, policy: str | None, config: RehearsalConfig) -> Rehearsal:
    with preparing("Preparing"):
        advisor = Advisor(site, policy, config.seed)
    with counting(config.missions) as (describe, advance):
        describe("missions")
        return simulate(advisor, config, on_progress=advance)


def lines(rehearsal: Rehearsal) -> list[str]:
    """Return the rehearsal as lines of text."""
    present = [one for one in rehearsal.missions if one.source is not None]
    stops = [one for one in present if one.found]
    broken = len(present) - rehearsal.stopped.count - rehearsal.cannot_tell.count
    refused = sum(one.refused for one in rehearsal.missions)
    allowed = f"source more than {rehearsal.radius:.3g} m off; at most {1 - rehearsal.probability:.1%} meant"
    rows = [
        ("found", rehearsal.stopped.words()),
        ("wrong, of these", f"{rehearsal.false_stops.words()} ({allowed})"),
        ("inconclusive", rehearsal.cannot_tell.words()),
        ("broken off", str(broken) if broken else ""),
        ("95 % region holds the source", rehearsal.covered.words()),
        ("found where there was nothing", rehearsal.found_nothing.words()),
        ("readings to the stop", _spread([one.readings for one in stops], "")),
        ("way to the stop", _spread([one.distance for one in stops], " m")),
        ("readings refused, and repeated", str(refused) if refused else ""),
    ]
    return [
        f"{rehearsal.name}: {len(present)} rehearsals with a source, {rehearsal.found_nothing.of} without, "
        f"by {rehearsal.policy} ({rehearsal.preset}), seed {rehearsal.seed}; brackets are 95 % intervals",
        *(f"  {heading:<30}  {words}" for heading, words in rows if words),
        *(f"  {sentence}" for sentence in rehearsal.assumed),
    ]


def _spread(numbers: Sequence[float | int], unit: str) -> str:
    """Return the median, and the central 90 %."""
    import numpy as np

    if not numbers:
        return ""
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95))
    return f"{middle:.3g}{unit} in the middle, 90 % from {low:.3g} to {high:.3g}{unit}"
