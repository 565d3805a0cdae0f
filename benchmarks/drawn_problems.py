"""Search problems drawn at random, to train one policy for all: a family for each kind of source.

The problems of a family differ by numbers alone (area, radius, start, budget, strength, areas that are closed
to the searcher), so that they share one compiled program. Sites are drawn as in `random_sites`, by another
seed.
"""

import math
import tomllib
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from benchmarks.random_sites import KINDS, site_text
from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.inference import PRESETS, Credible, Preset
from dowsax.mission.plan import Plan
from dowsax.mission.problem import SiteStart, build_problem
from dowsax.mission.site_policy import SITE_POLICY
from dowsax.site import Site, parse_site
from dowsax.site.site import build_model
from dowsax.world import MODALITIES, Budget, Fence, NearAndFar, benchmark_model
from dowsax.world.trails import move_station

SQUARE = "square"
"""The seven fields of the benchmark."""
FAMILIES = (*KINDS, SQUARE)
SQUARE_PARTICLES = 256
_SEED = 25
_NUM_RINGS = 7
"""Of every site: the longest of them may lie outside the area, and is then masked."""
_RING_FACTOR = 2.0
_CLOSED_SHARE = 0.5
"""Of the sites with areas that are closed to the searcher."""
_MAX_CLOSED = 3
_MARGIN = 0.02
"""Of the sides, between the start and a closed area."""


@dataclass(frozen=True)
class DrawConfig:
    """The sizes of the families."""

    problems: int = 64
    """In each family."""
    particles: int = 512
    max_readings: int = 100
    """Of any site: room in the histories."""
    seed: int = 0


def draw_family(name: str, config: DrawConfig) -> list[SearchProblem]:
    """Return the problems of a family."""
    if name == SQUARE:
        preset = PRESETS["training"].with_particles(min(config.particles, SQUARE_PARTICLES))
        return [SearchProblem(benchmark_model(field), preset, SCENARIOS["id"]) for field in MODALITIES]
    like = _template(draw_site(name, 0, config), config)
    return [_problem(draw_site(name, number, config), like) for number in range(config.problems)]


def draw_site(kind: str, number: int, config: DrawConfig) -> Site:
    """Return a site drawn at random, which is none of those of `random_sites`."""
    rng = np.random.default_rng([_SEED, config.seed, KINDS.index(kind), number])
    text = site_text(rng, f"{kind} {number}", kind, winds=("measured",))
    return parse_site(text + _closed_areas(rng, text), f"{kind}-{number}.toml")


def _template(site: Site, config: DrawConfig) -> SearchProblem:
    """Return the problem of a site with the filter of training, and room for the readings of any."""
    plan = Plan.of(site)
    problem = build_problem(plan, plan.site_policy(SITE_POLICY))
    # The filter without a source only decides whether there is one.
    return replace(
        problem,
        null=None,
        preset=_cheaper(problem.preset, config.particles),
        max_readings=config.max_readings,
    )


def _problem(site: Site, like: SearchProblem) -> SearchProblem:
    """Return the problem of a site of the same kind."""
    readings, distance, time = (
        math.inf if limit is None else float(limit)
        for limit in (site.budget.readings, site.budget.distance, site.budget.time)
    )
    radius, start = float(site.found_radius), like.start
    assert isinstance(like.actions, NearAndFar)
    assert isinstance(start, SiteStart)
    assert site.start is not None
    actions = replace(
        like.actions,
        fence=Fence.of(site.bounds, has_room=True),
        low=site.area[0],
        high=site.area[1],
        lengths=tuple(radius / 2 * _RING_FACTOR**ring for ring in range(_NUM_RINGS)),
    )
    return replace(
        like,
        model=build_model(site),
        actions=actions,
        start=replace(start, template=move_station(start.template, jnp.asarray(site.start, jnp.float32))),
        budget=Budget(readings, distance, time),
        stop=Credible(radius, like.stop.probability),
    )


def _cheaper(preset: Preset, num_particles: int) -> Preset:
    """Return a filter of the same kind with fewer particles, and no moves beyond the usual number."""
    config = preset.config
    config = replace(config, num_particles=num_particles, max_moves=config.num_moves, keep_ranks=False)
    return replace(preset, config=config)


def _closed_areas(rng: np.random.Generator, text: str) -> str:
    """Return the border of the area, and up to three rectangles in it that the searcher must go around.

    The border is there so that sites without rectangles have the same fence.
    """
    site = tomllib.loads(text)
    size, start = np.array(site["area"]["high"]), np.array(site["start"]["position"])
    number = rng.integers(1, _MAX_CLOSED + 1) if rng.uniform() < _CLOSED_SHARE else 0
    width, height = site["area"]["high"]
    lines = ["[[geofence]]", f"corners = [[0, 0], [{width}, 0], [{width}, {height}], [0, {height}]]"]
    for middle, half in zip(
        rng.uniform(0.15, 0.85, (number, 2)), rng.uniform(0.03, 0.12, (number, 2)), strict=True
    ):
        low, high = (middle - half) * size, (middle + half) * size
        if ((start < low - _MARGIN * size) | (start > high + _MARGIN * size)).any():
            corners = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]]
            lines += ["[[no_go]]", f"corners = {np.round(corners, 2).tolist()}"]
    return "\n".join(lines)
