"""What a stop is worth where the world is not as the site says: results/tables/missions/wrong-sites.md.

    python -m benchmarks.wrong_sites --missions 500 --seed 3   # as published
    python -m benchmarks.wrong_sites --missions 4               # a trial; its numbers mean little

Missions of the standard sites, as in `benchmarks.site_stops`, but readings come from another world:

- lead: something dense stands on one side of the source, and lets through a fifth within 120°;
- shadowing: walls and trees shadow levels by 6 dB (standard deviation) over 20 m, the same at each visit;
- meander: the plume turns by up to 20° to either side of the measured wind, to and fro in five minutes.
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from benchmarks import machine
from benchmarks.site_stops import HEADINGS, SITES, rehearsed, row
from dowsax.compilation import enable_cache
from dowsax.evaluate.tables import markdown
from dowsax.mission.plan import Plan
from dowsax.site import parse_site
from dowsax.types import Scalar, Station, Theta
from dowsax.world import Model, without_source
from dowsax.world.base import Field
from dowsax.world.fields.nothing import remove_source
from dowsax.world.sensors import Gaussian

SHIELDED_DEG, TRANSMISSION = 120.0, 0.2
SHADOWING_DB, SHADOWING_M, NOISE_DB = 6.0, 20.0, 2.0
MEANDER_DEG, MEANDER_S = 20.0, 300.0
_NUM_WAVES = 64


class Shielded(eqx.Module):
    """A field of which a sector, as seen from the source, is shielded; which one, the source decides."""

    field: Field

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        away = station.position - theta[:2]
        angle = jnp.arctan2(away[1], away[0]) - _phase(theta)
        is_shielded = jnp.cos(angle) > math.cos(math.radians(SHIELDED_DEG / 2))
        background = remove_source(self.field)(theta, station)
        source = self.field(theta, station) - background
        return background + jnp.where(is_shielded, TRANSMISSION, 1.0) * source

    def without_source(self) -> Field:
        return remove_source(self.field)


class Shadows(eqx.Module):
    """A level with a map of shadows: random waves, whose correlation falls with distance as a bell does."""

    field: Field
    waves: Float[Array, "waves 2"]
    """[rad/m]"""
    phases: Float[Array, " waves"]

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        # Another source lies in another part of the same endless map.
        place = station.position + 1e3 * SHADOWING_M * _phase(theta)
        angles = jnp.sum(self.waves * place[None, :], axis=1) + self.phases
        shadow = SHADOWING_DB * math.sqrt(2 / _NUM_WAVES) * jnp.sum(jnp.cos(angles))
        return self.field(theta, station) + shadow

    def without_source(self) -> Field:
        return replace(self, field=remove_source(self.field))


class Meandering(eqx.Module):
    """A plume in a wind that turns to and fro about the measured one."""

    field: Field

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        assert station.time is not None
        assert station.wind is not None
        phase = 2 * math.pi * station.time / MEANDER_S + _phase(theta)
        angle = math.radians(MEANDER_DEG) * jnp.sin(phase)
        (east, north), along, across = station.wind, jnp.cos(angle), jnp.sin(angle)
        wind = jnp.stack([along * east - across * north, across * east + along * north])
        return self.field(theta, replace(station, wind=wind))

    def without_source(self) -> Field:
        return remove_source(self.field)


def _phase(theta: Theta) -> Scalar:
    """An angle [rad] that hardly two sources have in common."""
    return 2 * math.pi * jnp.mod(12.9898 * theta[0] + 78.233 * theta[1], 1.0)


def with_lead(model: Model) -> Model:
    return Model(model.prior, Shielded(model.field), model.sensor)


def with_shadowing(model: Model) -> Model:
    generator = np.random.default_rng(0)
    waves = generator.normal(0.0, 1.0 / SHADOWING_M, (_NUM_WAVES, 2))
    phases = generator.uniform(0.0, 2 * math.pi, _NUM_WAVES)
    waves, phases = jnp.asarray(waves, jnp.float32), jnp.asarray(phases, jnp.float32)
    return Model(model.prior, Shadows(model.field, waves, phases), Gaussian(0.0, NOISE_DB))


def with_meander(model: Model) -> Model:
    # Of the sensor without a source the direction of the wind has no error of its own.
    return Model(model.prior, Meandering(model.field), without_source(model).sensor)


WORLDS: dict[str, tuple[str, Callable[[Model], Model]]] = {
    "lead": ("radiation", with_lead),
    "shadowing": ("level", with_shadowing),
    "meander": ("gas-plume", with_meander),
}
"""The kind of site, and its world."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missions", type=int, default=100, help="of each site, a fifth without a source")
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    enable_cache()
    rows = []
    for name in options.worlds:
        kind, change = WORLDS[name]
        truth = change(Plan.of(parse_site(SITES[kind], f"{kind}.toml")).model)
        made = rehearsed(kind, options.missions, options.seed, options.threads, truth)
        label, *numbers = row(kind, made)
        rows.append((f"{label}, {name}", *numbers))
    print("\n".join(markdown(HEADINGS, rows)))
    print(f"\n{options.missions} missions each, seed {options.seed}; commit {machine.commit()}.")


if __name__ == "__main__":
    main()
