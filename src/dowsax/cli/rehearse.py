"""`dowsax rehearse`: simulated missions of a site, to know what a stop is worth there."""

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
from dowsax.files import replace_file
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
    """Simulate whole missions of a site, and say how often they stop and how often a stop is wrong.

    Sources are drawn from what the site file believes of them, readings from its model, and the next place is
    the advisor's own: the filter, stop rule, budget and start are those of a real mission. The result is kept
    next to the site file, where `dowsax advise` and `dowsax locate` find it and quote it.

    Parameters
    ----------
    site
        The site file; `dowsax site new` writes one.
    missions
        How many to simulate; more make the intervals narrower.
    policy
        Who chooses the next place, as in `dowsax advise`.
    without_source
        The share of missions in which there is nothing to find.
    seed
        The same seed gives the same missions.
    speed
        How fast one goes between readings [m/s]: for budgets of time, and sensors that lag.
    out
        The file to write, instead of SITE.rehearsal.json next to the site file, where alone it is quoted.
    plot
        Draw where sources were found, and where not, into this file: .png, .pdf or .svg.
    json
        Print what is written, and nothing else.
    """
    require_seed(seed)
    with waiting("Reading the site"):
        config = RehearsalConfig(missions, without_source, seed, speed)
        understood = read_site(site)
    path = rehearsal_path(site) if out is None else out
    require_writable(path)
    if plot is not None:
        require_picture(plot)
    rehearsal = _rehearsed(understood, policy, config)
    text = rehearsal_text(rehearsal)
    _write(path, text)
    if plot is not None:
        _draw(understood, rehearsal, plot)
    if json:
        print(text, end="")
        return
    for line in lines(rehearsal):
        say(line)
    quoted = ", where `dowsax advise` and `dowsax locate` quote it until the site file changes"
    say(f"Kept in {path}{quoted if out is None else ''}.")


def _rehearsed(site: "Site", policy: str | None, config: "RehearsalConfig") -> "Rehearsal":
    with preparing("Preparing"):
        advisor = Advisor(site, policy, config.seed)
    with counting(config.missions) as (describe, advance):
        describe("missions")
        return simulate(advisor, config, on_progress=advance)


def _write(path: Path, text: str) -> None:

    with replace_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _draw(site: "Site", rehearsal: "Rehearsal", path: Path) -> None:

    viz.save(viz.rehearsal_figure(rehearsal, site), path)


def lines(rehearsal: "Rehearsal") -> list[str]:
    """The rehearsal as people read it."""
    present = [one for one in rehearsal.missions if one.source is not None]
    stops = [one for one in present if one.found]
    broken = len(present) - rehearsal.stopped.count - rehearsal.cannot_tell.count
    refused = sum(one.refused for one in rehearsal.missions)
    allowed = f"source more than {rehearsal.radius:.3g} m off; at most {1 - rehearsal.probability:.1%} meant"
    rows = [
        ("found", rehearsal.stopped.words()),
        ("wrong, of these", f"{rehearsal.false_stops.words()} ({allowed})"),
        ("cannot tell", rehearsal.cannot_tell.words()),
        ("broken off", str(broken) if broken else ""),
        ("95 % region holds the source", rehearsal.covered.words()),
        ("found where there was nothing", rehearsal.found_nothing.words()),
        ("readings to the stop", _spread([one.readings for one in stops], "")),
        ("way to the stop", _spread([one.distance for one in stops], " m")),
        ("readings refused, taken anew", str(refused) if refused else ""),
    ]
    return [
        f"{rehearsal.name}: {len(present)} rehearsals with a source, {rehearsal.found_nothing.of} without, "
        f"by {rehearsal.policy} ({rehearsal.preset}), seed {rehearsal.seed}; brackets are 95 % intervals",
        *(f"  {heading:<30}  {words}" for heading, words in rows if words),
        *(f"  {sentence}" for sentence in rehearsal.assumed),
    ]


def _spread(numbers: Sequence[float | int], unit: str) -> str:
    """The median, and what nine of ten lie between."""
    import numpy as np

    if not numbers:
        return ""
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95))
    return f"{middle:.3g}{unit} in the middle, 90 % from {low:.3g} to {high:.3g}{unit}"
