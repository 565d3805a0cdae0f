"""Trained policies: those in the package by name, others by the path of their file."""

import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import equinox as eqx
import jax

from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.encoders import Encoder, MomentEncoder, Observation, observation_shapes
from dowsax.policies.fingerprint import fingerprint
from dowsax.policies.networks import build_network
from dowsax.policies.neural import Neural
from dowsax.policies.particle_encoder import ParticleEncoder
from dowsax.policies.stored import ANY_PROBLEM, SUFFIX, Card, Stored, load
from dowsax.types import Scalar
from dowsax.world import FOUR_MOVES, MODALITIES, ActionSpace, Model, benchmark_model

PRETRAINED_FOLDER = Path(__file__).parent / "pretrained"
GUARDED_SUFFIX = "-guarded"
"""Ending of the name of a policy with a guard: see `guarded.Guarded`."""

CANDIDATES = "candidates"
"""The encoder of networks that score the candidates of any problem."""
ENCODERS: dict[str, Callable[..., Encoder]] = {
    "moments": MomentEncoder.build,
    "particles": ParticleEncoder.build,
    CANDIDATES: CandidateEncoder.build,
}
"""The encoders by name, see `build_encoder`."""
_SEED = "-seed-"
_ENCODER_SIZES = {
    "moments": (),
    "particles": ("num_particles",),
    CANDIDATES: ("num_particles", "num_readings", "num_reweighted"),
}

BEST_POLICY = "pfrl"
"""The default policy: none stops more often, or as often after a shorter path beyond the intervals. It was
trained without attention and acts without."""


def pretrained_names() -> tuple[str, ...]:
    """Return the names of the trained policies in the package, without those of further training seeds."""
    return tuple(name for name in _files() if _SEED not in name)


def seed_name(name: str, seed: int) -> str:
    """Return the name of a policy that was trained with this seed; that of seed 0 is its own."""
    return f"{name}{_SEED}{seed}" if seed else name


def trained_seeds(name: str) -> tuple[str, ...]:
    """Return the names of a policy, one for each of its training seeds in the package; at least its own."""
    bare, ending = name.removesuffix(GUARDED_SUFFIX), GUARDED_SUFFIX if name.endswith(GUARDED_SUFFIX) else ""
    return (name, *(other + ending for other in _files() if other.rpartition(_SEED)[0] == bare))


def _files() -> list[str]:
    return sorted(path.stem for path in PRETRAINED_FOLDER.glob(f"*{SUFFIX}"))


def weights_path(name: str) -> Path | None:
    """Return the file of a trained policy of the package, or the path itself if it is one; else `None`.

    A guarded policy has the weights of the bare one.
    """
    bare = name.removesuffix(GUARDED_SUFFIX)
    if bare in _files():
        return PRETRAINED_FOLDER / f"{bare}{SUFFIX}"
    return Path(name) if name.endswith(SUFFIX) else None


def build_encoder(
    name: str, model: Model, actions: ActionSpace, radius: float | Scalar, sizes: dict[str, int]
) -> Encoder:
    """Build the encoder of this name; only that of candidates knows the radius [m] of the stop rule."""
    if name == CANDIDATES:
        return CandidateEncoder.build(model, actions, radius, **sizes)
    return ENCODERS[name](model, actions, **sizes)


def trained_policy(path: Path) -> Callable[..., Neural]:
    """Return the constructor of a trained policy. It warns of what the policy was not trained for."""
    network, card = load(path)
    if card.encoder not in ENCODERS or not set(card.encoder_sizes) <= set(_ENCODER_SIZES[card.encoder]):
        encoder = f"{card.encoder!r} {card.encoder_sizes or ''}".strip()
        raise ValueError(f"The card of {path} names the encoder {encoder}; known are {', '.join(ENCODERS)}.")

    def make(model: Model, actions: ActionSpace = FOUR_MOVES, radius: float = 1.0, /) -> Neural:
        encoder = build_encoder(card.encoder, model, actions, radius, card.encoder_sizes)
        _require_fit(path, network, observation_shapes(encoder, model, actions))
        other = _other_purpose(card, model, actions)
        if other is not None:
            warnings.warn(
                f"The policy {path.stem} was trained for {', '.join(card.fields) or 'no field'}, not for "
                f"{other}: it works, but how well is not known.",
                stacklevel=3,
            )
        return Neural(encoder, network, card.sample)

    return make


def _other_purpose(card: Card, model: Model, actions: ActionSpace) -> str | None:
    """Return what it is used for, in words; `None` where that is what the policy was trained for."""
    field = field_of(model)
    if ANY_PROBLEM in card.fields:
        return None
    if card.problem:
        is_same, of = card.problem == fingerprint(model, actions), "this model and these actions"
    else:
        is_same, of = field in card.fields, "a model of your own" if field is None else f"the field {field}"
    return None if is_same else of


def field_of(model: Model) -> str | None:
    """Return the benchmark field with the field and the sensor of this model; its prior may differ."""
    for name in MODALITIES:
        of_name = benchmark_model(name)
        if eqx.tree_equal((model.field, model.sensor), (of_name.field, of_name.sensor)):
            return name
    return None


def _require_fit(path: Path, network: Stored, observation: Observation) -> None:
    """Raise a ValueError unless the network fits the observation."""
    wanted = eqx.filter_eval_shape(build_network, jax.random.key(0), observation)
    if type(wanted) is not type(network):
        raise ValueError(
            f"The card of {path} names an encoder that does not fit its network: train it again."
        )
    # The number of actions first: the number of features depends on it.
    for name, size in reversed(asdict(wanted.sizes).items()):
        had = getattr(network.sizes, name)
        if name.startswith("num_") and had != size:
            what = name.removeprefix("num_")
            raise ValueError(f"The policy {path.stem} was trained with {had} {what}; here there are {size}.")
