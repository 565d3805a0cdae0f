"""`dowsax search`: one search that can be watched, with an animation and every step in a file."""

import json as json_format
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from dowsax.cli.console import preparing, say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.search_files import SearchFiles, document, draw_search, prepared, write_steps
from dowsax.cli.search_run import INTERRUPTED, SearchConfig, Searcher, SearchLog
from dowsax.cli.search_view import watching
from dowsax.cli.search_words import claim, truth_sentence
from dowsax.experiments.run import Run, stop_rule
from dowsax.extras import has_extra

_FASTEST = 50
"""Frames a second: a GIF cannot do more."""


def search(
    *,
    field: str = "gas",
    policy: str = "att-pfrl",
    scenario: str = "id",
    seed: int = 0,
    episode: int = 0,
    stop: str = "credible",
    threshold: float | None = None,
    preset: str = "default",
    particles: int | None = None,
    max_readings: int = 200,
    fps: int = 8,
    live: bool = True,
    json: Annotated[bool, Parameter(negative="")] = False,
    out: Path = Path("search"),
) -> None:
    """Watch one search for a simulated source: where the sensor goes, what is believed, when it stops.

    Parameters
    ----------
    field
        What is measured: temperature, concentration, magnetic, electric, gas, energy or noise.
    policy
        Who decides where to go: att-pfrl (trained), att-pfrl-guarded (from which Infotaxis takes over when it
        takes long), infotaxis, entrotaxis, dcee, greedy, random and more; a wrong name lists all.
    scenario
        What is searched for: id, a source from the prior; ood, elsewhere; shift, one that moves; and more.
    seed
        The same seed gives the same source, noise and search.
    episode
        Which of the searches of `dowsax evaluate` with this seed, from 0.
    stop
        The rule that ends it: credible, contraction, entropy, max-weight or fixed.
    threshold
        Of the rule: a probability, [m], [nats], a weight or a number of readings; its own unless given.
    preset
        The filter: default or paper.
    particles
        Another number of particles than the preset's, at least 16.
    max_readings
        The search gives up after so many.
    fps
        Readings a second, from 1 to 50, in the animation and at most in the live view.
    live
        Draw a map in the terminal; plain lines where there is none.
    json
        Print the steps as one JSON object, and nothing else.
    out
        Folder to write search.gif, end.png and search.json (every step) into; made where there is none.
    """
    require_seed(seed)
    if not 1 <= fps <= _FASTEST:
        raise ValueError(f"`fps` is a number of frames a second from 1 to {_FASTEST}; got {fps}.")
    with waiting("Starting"):
        run = Run(
            policy,
            field,
            scenario=scenario,
            seed=seed,
            preset=preset,
            particles=particles,
            max_readings=max_readings,
            rule=stop_rule(stop, threshold),
        )
        config = SearchConfig(run, episode)
        files = prepared(out)
    log = watched(config, files, fps, live, quiet=json)
    with waiting("Drawing the pictures"):
        draw_search(files, log, fps)
    if json:
        print(json_format.dumps(document(log), allow_nan=False))
        return
    drawn = f"The animation is in {files.animation}, the end in {files.picture}, every step in {files.steps}"
    say(drawn if has_extra("viz") else f"Every step is in {files.steps}")


def watched(config: "SearchConfig", files: "SearchFiles", fps: int, live: bool, quiet: bool) -> "SearchLog":
    """Run the search in sight of the user, write its steps and tell how it ended.

    One that is interrupted leaves the steps it had, and interrupts.
    """
    with preparing("Preparing the search"):
        searcher = Searcher(config)
    console = Console(quiet=quiet)
    live = live and console.is_terminal and not quiet and has_extra("viz")
    with watching(console, live, fps) as watch:
        log = searcher.run(watch)
    if not log.taken:
        raise KeyboardInterrupt
    write_steps(files.steps, log)
    interrupted = log.ending == INTERRUPTED
    if not quiet:
        say(f"{claim(log)}.")
        say(f"The steps so far are in {files.steps}" if interrupted else truth_sentence(log))
    if interrupted:
        raise KeyboardInterrupt
    return log
