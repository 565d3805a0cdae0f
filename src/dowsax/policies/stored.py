"""Trained networks as files: the arrays in safetensors, and beside them a card that describes them.

`pfrl.safetensors` has the card `pfrl.json`.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as decode
from safetensors.numpy import save as encode

from dowsax.files import replace_file
from dowsax.policies.networks import NETWORKS, CandidateNetwork, PaperNetwork, SetNetwork

FORMAT = 1
"""Version of the layout of card and arrays."""
ANY_PROBLEM = "any problem"
"""In place of fields: trained on problems drawn at random."""
RENAMED_KEYS = {"sight": "encoder", "sight_sizes": "encoder_sizes", "num_ticks": "rollout_length"}
"""Old and new keys of cards and of training settings: files with the old ones still open."""
SUFFIX = ".safetensors"
_MAY_BE_ZERO = {"particle_width"}
"""Sizes of which 0 means without."""
Stored = PaperNetwork | SetNetwork | CandidateNetwork


@dataclass(frozen=True)
class Card:
    """What a network observes, and how it was trained."""

    encoder: str
    """The name of its encoder, see `shipped.ENCODERS`."""
    encoder_sizes: dict[str, int] = field(default_factory=dict)
    """The static sizes of the encoder that differ from its defaults."""
    sample: bool = False
    """Draw actions from the distribution of the network; otherwise take the most probable one."""
    method: str = ""
    """The name of the configuration that trained it."""
    fields: tuple[str, ...] = ()
    """The fields it was trained for, or the name of the one problem; `ANY_PROBLEM` for all."""
    problem: str = ""
    """The fingerprint of the problem it was trained for; empty for fields of the benchmark."""
    command: str = ""
    """The command line that trained it."""
    settings: dict[str, Any] = field(default_factory=dict)
    """All settings of its training, as JSON; empty in the oldest cards."""
    commit: str = ""
    seeds: tuple[int, ...] = ()
    device: str = ""
    steps: int = 0
    """Readings in training."""
    curves: dict[str, list[float]] = field(default_factory=dict)
    """The learning curve, thinned."""
    results: dict[str, Any] = field(default_factory=dict)
    """Results of its evaluation."""


def save(path: Path, network: Stored, card: Card) -> None:
    """Write a network and its card, each whole or not at all. `load` refuses a pair that does not match."""
    path = _require_suffix(path)
    kind = next(name for name, (of, _) in NETWORKS.items() if isinstance(network, of))
    arrays = {name: np.asarray(array) for name, array in _arrays(network).items()}
    faulty = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if faulty:
        raise ValueError(f"The weights {faulty[0]} are not finite: nothing was written to {path}.")
    weights = encode(arrays)
    about = {
        "format": FORMAT,
        "network": {"kind": kind, "sizes": asdict(network.sizes)},
        "digest": _digest(weights),
        **asdict(card),
    }
    text = json.dumps(about, indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as weights_file, replace_file(card_path(path)) as card_file:
            weights_file.write_bytes(weights)
            card_file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"Cannot write {path}: {error.strerror}.") from None


def load(path: Path) -> tuple[Stored, Card]:
    """Read a network and its card; raise a ValueError in one line for a damaged or foreign file."""
    path = _require_suffix(path)
    about = _read_card(path)
    kind, sizes = about["network"]["kind"], about["network"]["sizes"]
    arrays = _read_arrays(path, about["digest"])
    build, sizes_of = NETWORKS[kind]
    blank = eqx.filter_eval_shape(build.build, jax.random.key(0), sizes_of(**sizes))
    wanted = _arrays(blank)
    _require_same(path, wanted, arrays)
    treedef = jax.tree.structure(blank)
    network = jax.tree.unflatten(treedef, [jnp.asarray(arrays[name]) for name in wanted])
    return network, _card(about)


def digest_of(path: Path) -> str:
    """Return the digest of the weights, as in the card."""
    return _read_card(_require_suffix(path))["digest"]


def card_of(path: Path) -> Card:
    """Read the card of a file of weights, without the weights."""
    return _card(_read_card(_require_suffix(path)))


def card_path(path: Path) -> Path:
    """Return the path of the card of a file of weights."""
    return path.with_suffix(".json")


def _arrays(network) -> dict[str, Any]:
    """Return the leaves of a network by path, such as `encoder.layers.0.weight`."""
    leaves = jax.tree_util.tree_leaves_with_path(network)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def _require_suffix(path: Path) -> Path:
    path = Path(path)
    if path.suffix != SUFFIX:
        raise ValueError(f"A file of weights ends in {SUFFIX}; got {path}.")
    return path


def _digest(weights: bytes) -> str:
    return hashlib.sha256(weights).hexdigest()[:16]


def _read_arrays(path: Path, digest: str) -> dict[str, np.ndarray]:
    try:
        weights = path.read_bytes()
        arrays = decode(weights)
    except OSError as error:
        raise ValueError(f"Cannot read the weights {path}: {error.strerror}.") from None
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is cut short or damaged ({error}): copy or train it again.") from None
    if _digest(weights) != digest:
        raise ValueError(
            f"{path} is damaged, or does not belong to {card_path(path).name}, as after an interrupted copy: "
            "copy both again, or repeat the command that trained it."
        )
    return arrays


def _read_card(path: Path) -> dict[str, Any]:
    """Read the whole card, and check its format, network and sizes."""
    card = card_path(path)
    try:
        about = rename_keys(json.loads(card.read_text(encoding="utf-8")))
        version = about["format"]
    except FileNotFoundError:
        missing = card if path.exists() else path
        raise ValueError(f"There is no {missing}: it takes both {path.name} and {card.name}.") from None
    except OSError as error:
        raise ValueError(f"Cannot read the card {card}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"The card {card} is damaged ({error}): copy or train it again.") from None
    if version != FORMAT:
        raise ValueError(
            f"{card} has format {version}, this version of dowsax reads {FORMAT}: train it again, or use the "
            "version that wrote it."
        )
    try:
        kind, sizes = about["network"]["kind"], about["network"]["sizes"]
        if kind not in NETWORKS:
            raise ValueError(f"network {kind!r} is unknown, known are {', '.join(NETWORKS)}")
        names = {one.name for one in fields(NETWORKS[kind][1])}
        if set(sizes) != names or not all(_is_size(*size) for size in sizes.items()):
            raise ValueError(f"the sizes of network {kind!r} are {', '.join(sorted(names))}, all above 0")
        _ = _card(about), about["digest"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"The card {card} is of another version or damaged: {error}.") from None
    return about


def _is_size(name: str, size: Any) -> bool:
    return isinstance(size, int) and (size > 0 or (size == 0 and name in _MAY_BE_ZERO))


def rename_keys(tree: Any) -> Any:
    """Return a tree of JSON with the keys of earlier versions renamed."""
    if isinstance(tree, dict):
        return {RENAMED_KEYS.get(key, key): rename_keys(value) for key, value in tree.items()}
    return tree


def _card(about: dict[str, Any]) -> Card:
    # The first cards had no settings, and none had a problem.
    about = {"settings": {}, "problem": ""} | about
    values = {one.name: about[one.name] for one in fields(Card)}
    values |= {name: tuple(values[name]) for name in ("fields", "seeds")}
    return Card(**values)


def _require_same(path: Path, wanted: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Raise a ValueError unless the file holds exactly these arrays, all of finite numbers."""
    missing, extra = wanted.keys() - arrays.keys(), arrays.keys() - wanted.keys()
    if missing or extra:
        what = f"lacks {sorted(missing)[0]}" if missing else f"also holds {sorted(extra)[0]}"
        raise ValueError(f"{path} {what}: it is not of the network that its card names.")
    for name, leaf in wanted.items():
        array = arrays[name]
        if array.shape != leaf.shape or array.dtype != leaf.dtype:
            raise ValueError(
                f"{path} has {name} of shape {array.shape} and type {array.dtype}, its card asks for "
                f"{leaf.shape} and {leaf.dtype}: it is not of the network that its card names."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{path} has weights that are not finite, in {name}: train it again.")
