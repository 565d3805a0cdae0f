"""Trained policies by name, as they come with the package, or from a file of one's own."""

import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import equinox as eqx
import jax

from dowsax.policies.networks import untrained
from dowsax.policies.neural import Neural
from dowsax.policies.particle_sight import Particles
from dowsax.policies.sight import Moments, Seen, Sight, seen_shapes
from dowsax.policies.stored import SUFFIX, Stored, load
from dowsax.world import FOUR_MOVES, MODALITIES, Model, Motion, benchmark_model

FOLDER = Path(__file__).parent / "pretrained"
GUARDED = "-guarded"
"""The name of a policy that comes with the package may end so: see `guarded.Guarded`."""

SIGHTS: dict[str, Callable[..., Sight]] = {"moments": Moments.build, "particles": Particles.build}
"""The sights by name: `(model, motion, **sizes) -> Sight`."""
_SIZES = {"moments": (), "particles": ("num_particles",)}


BEST = "att-pfrl"
"""The policy for whoever does not choose: none has stopped more often, or as often after a shorter path."""


def known() -> tuple[str, ...]:
    """The names of the policies that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}")))


def weights_of(name: str) -> Path | None:
    """The file of a trained policy: one that comes with the package, or the path itself; else `None`.

    A guarded policy has the weights of the bare one.
    """
    bare = name.removesuffix(GUARDED)
    if bare in known():
        return FOLDER / f"{bare}{SUFFIX}"
    return Path(name) if name.endswith(SUFFIX) else None


def trained(path: Path) -> Callable[[Model, Motion], Neural]:
    """The maker of a trained policy. It warns of a field that the policy was not trained for."""
    network, card = load(path)
    if card.sight not in SIGHTS or not set(card.sight_sizes) <= set(_SIZES[card.sight]):
        sight = f"{card.sight!r} {card.sight_sizes or ''}".strip()
        raise ValueError(f"The card of {path} names the sight {sight}; known are {', '.join(SIGHTS)}.")

    def make(model: Model, motion: Motion = FOUR_MOVES) -> Neural:
        sight = SIGHTS[card.sight](model, motion, **card.sight_sizes)
        _require_fit(path, network, seen_shapes(sight, model))
        field = field_of(model)
        if field not in card.fields:
            of = "a model of your own" if field is None else f"the field {field}"
            warnings.warn(
                f"The policy {path.stem} was trained for {', '.join(card.fields) or 'no field'}, not for "
                f"{of}: it works, but how well is not known.",
                stacklevel=2,
            )
        return Neural(sight, network, motion, card.sample)

    return make


def field_of(model: Model) -> str | None:
    """The benchmark field that has the field and the sensor of this model, whatever its prior."""
    for name in MODALITIES:
        of_name = benchmark_model(name)
        if eqx.tree_equal((model.field, model.sensor), (of_name.field, of_name.sensor)):
            return name
    return None


def _require_fit(path: Path, network: Stored, seen: Seen) -> None:
    """A ValueError unless the network is for what is seen."""
    wanted = eqx.filter_eval_shape(untrained, jax.random.key(0), seen)
    if type(wanted) is not type(network):
        raise ValueError(f"The card of {path} names a sight that is not for its network: train it again.")
    # From the last, which is what a user chooses: with other actions other numbers are seen too.
    for name, size in reversed(asdict(wanted.sizes).items()):
        had = getattr(network.sizes, name)
        if name.startswith("num_") and had != size:
            what = name.removeprefix("num_")
            raise ValueError(f"The policy {path.stem} was trained with {had} {what}; here there are {size}.")
