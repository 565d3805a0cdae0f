"""`dowsax search`: one search that can be watched, with an animation and every step in a file."""

import json as json_format
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from dowsax.cli.console import preparing, say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.search_files import SearchFiles, document, draw_search, prepare_files, write_steps
from dowsax.cli.search_run import INTERRUPTED, SearchConfig, Searcher, SearchLog
from dowsax.cli.search_view import watching
from dowsax.cli.search_words import claim, truth_sentence
from dowsax.experiments.run import Run, stop_rule
from dowsax.extras import has_extra
from dowsax.policies.shipped import BEST_POLICY

_MAX_FPS = 50
"""Of a GIF."""


def search(
    *,
    field: str = "gas",
    policy: str = BEST_POLICY,
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
    """Watch one search for a simulated source: the path, the belief, and the stop.

    Parameters
    ----------
    field
        Benchmark field: temperature, concentration, magnetic, electric, gas, energy or noise.
    policy
        Policy: pfrl (trained), pfrl-guarded (trained, with Infotaxis for long searches), infotaxis,
        entrotaxis, dcee, greedy, random and more; a wrong name lists all.
    scenario
        Source: id (from the prior), ood (elsewhere), shift (it moves) and more.
    seed
        Random seed of source, noise and search.
    episode
        Number of the same search in `dowsax evaluate` with this seed, from 0.
    stop
        Stop rule: credible, contraction, entropy, max-weight or fixed.
    threshold
        Threshold of the stop rule: a probability, [m], [nats], a weight or a number of readings. Default: the
        usual one of the rule.
    preset
        Filter: default or paper.
    particles
        Number of particles, at least 16. Default: that of the preset.
    max_readings
        Maximum number of readings.
    fps
        Readings a second in the animation, from 1 to 50; the live view is at most as fast.
    live
        Draw a map in the terminal, where there is one.
    json
        Print the steps as one JSON object instead of text.
    out
        Folder for search.gif, end.png and search.json (every step).
    """
    require_seed(seed)
    if not 1 <= fps <= _MAX_FPS:
        raise ValueError(f"`fps` must be from 1 to {_MAX_FPS}; got {fps}.")
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
        files = prepare_files(out)
    log = run_search(config, files, fps, live, quiet=json)
    with waiting("Drawing the pictures"):
        draw_search(files, log, fps)
    if json:
        print(json_format.dumps(document(log), allow_nan=False))
        return
    drawn = f"The animation is in {files.animation}, the end in {files.picture}, every step in {files.steps}"
    say(drawn if has_extra("viz") else f"Every step is in {files.steps}")


def run_search(config: SearchConfig, files: SearchFiles, fps: int, live: bool, quiet: bool) -> SearchLog:
    """Run the search while the user watches, write its steps and print how it ended.

    An interrupted search writes the steps so far, and raises KeyboardInterrupt.
    """
    with preparing("Preparing the search"):
        searcher = Searcher(config)
    console = Console(quiet=quiet)
    live = live and console.is_terminal and not quiet and has_extra("viz")
    with watching(console, live, fps) as watch:
        log = searcher.run(watch)
    if not log.steps:
        raise KeyboardInterrupt
    write_steps(files.steps, log)
    interrupted = log.ending == INTERRUPTED
    if not quiet:
        say(f"{claim(log)}.")
        say(f"The steps so far are in {files.steps}" if interrupted else truth_sentence(log))
    if interrupted:
        raise KeyboardInterrupt
    return log
