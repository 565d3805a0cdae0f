"""From names to things: the search, the policy and the keys of each cell of a run."""

import zlib
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from dowsax.envs import SCENARIOS, Search
from dowsax.envs.problem import choose
from dowsax.experiment.config import RunConfig
from dowsax.inference import PRESETS, Preset
from dowsax.policies import Oracle, Policy, policy_named
from dowsax.world import MODALITIES, benchmark_model

# Keys of evaluation lie apart from those of anything else with the same seed.
_DOMAIN = zlib.crc32(b"evaluation")


class Cell(NamedTuple):
    """One entry of a table."""

    policy: str
    field: str
    scenario: str


def cells_of(config: RunConfig) -> list[Cell]:
    """The cells of a run, field by field."""
    return [Cell(policy, field, config.scenario) for field in config.fields for policy in config.policies]


def require_known(config: RunConfig) -> None:
    """A ValueError in one line that lists the known names, where one is unknown."""
    for field in config.fields:
        choose("field", field, MODALITIES, str)
    choose("scenario", config.scenario, SCENARIOS, str)
    choose("preset", config.preset, PRESETS, str)
    for name in config.policies:
        policy_named(name)
    preset_of(config)


def preset_of(config: RunConfig) -> Preset:
    """The filter but for its model."""
    preset = PRESETS[config.preset]
    return preset if config.particles is None else preset.with_particles(config.particles)


def assemble(config: RunConfig, cell: Cell) -> tuple[Search, Policy | Oracle]:
    """The search and the policy of a cell."""
    model = benchmark_model(cell.field)
    search = Search(model, preset_of(config), SCENARIOS[cell.scenario], max_readings=config.max_readings)
    return search, policy_named(cell.policy)(model, search.motion)


def episode_keys(seed: int, field: str, numbers: np.ndarray) -> Key[Array, " episodes"]:
    """The keys of numbered episodes: the same for every policy, scenario, cut into shards and engine."""
    base = jax.random.fold_in(jax.random.key(seed), _DOMAIN)
    base = jax.random.fold_in(base, zlib.crc32(field.encode()))
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(base, jnp.asarray(numbers, jnp.uint32))
