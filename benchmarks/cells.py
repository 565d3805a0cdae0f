"""Cells of large tables: a policy on a field, measured once and kept in a small file.

What is kept is where each search ended under the two stop rules, and its source: some 100 kB for 1,000
searches, where the whole record (`dowsax evaluate`) is a hundred times that. The searches are those of
`dowsax evaluate` with the same seed. A cell that is there is not computed again.
"""

import json
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.evaluate.metrics import Ends, Summary, ends, summary_of
from dowsax.evaluate.stops import DEFAULTS, TraceRule
from dowsax.experiment.assemble import Cell, preset_of, require_known
from dowsax.experiment.config import RunConfig
from dowsax.experiment.execute import compute
from dowsax.experiment.fingerprint import filter_marks
from dowsax.experiment.provenance import provenance
from dowsax.experiment.shards import Shard
from dowsax.files import replacing
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import card_of, digest_of

CREDIBLE, CONTRACTION = (TraceRule(name, DEFAULTS[name]) for name in ("credible", "contraction"))
RULES = (CREDIBLE, CONTRACTION)
MARGIN = 60.0
"""[s], that a cell may take on an accelerator with what has to be compiled for it."""
SAME = 1e-3
"""[m], and in the units of Θ: sources drawn on another kind of machine differ by rounding."""
TINY: dict[str, Any] = {"episodes": 6, "particles": 64, "max_readings": 6}


@dataclass(frozen=True)
class Wanted:
    """What a cell is about."""

    label: str
    """The policy as a table calls it."""
    source: str
    """Its name, or the file of its weights."""
    field: str
    scenario: str = "id"
    preset: str = "default"
    episodes: int = 1000
    seed: int = 0
    particles: int | None = None
    """Another number than the preset's."""
    max_readings: int = 200

    @property
    def config(self) -> RunConfig:
        names = ("scenario", "episodes", "seed", "preset", "particles", "max_readings")
        return RunConfig(
            (self.source,), (self.field,), **{name: getattr(self, name) for name in names}, rule=CREDIBLE
        )

    @property
    def weights(self) -> str | None:
        """Letters that tell trained weights apart."""
        path = weights_path(self.source)
        return None if path is None else digest_of(path)

    @property
    def steps(self) -> int | None:
        """Of the training of trained weights."""
        path = weights_path(self.source)
        return None if path is None else card_of(path).steps

    def settings(self) -> dict[str, Any]:
        """All that decides about the numbers; weights are what they are, wherever their file is."""
        kept = {name: value for name, value in asdict(self).items() if name != "source"}
        preset = preset_of(self.config)
        kept |= {"particles": preset.config.num_particles, "weights": self.weights, "steps": self.steps}
        return kept | filter_marks(preset)

    def path(self, folder: Path) -> Path:
        mark = "" if self.weights is None else f"-{self.weights[:8]}"
        return folder / self.preset / self.scenario / self.field / f"{self.label}{mark}.npz"


class Measured(NamedTuple):
    """A cell."""

    about: dict[str, Any]
    """Its settings, and what it was computed with."""
    theta: np.ndarray
    """(searches, d): the sources."""
    seconds: np.ndarray
    ends: dict[TraceRule, Ends]

    def summary(self, rule: TraceRule) -> Summary:
        return summary_of(self.ends[rule], self.seconds)


def measure(wanted: Wanted) -> Measured:
    """Run the searches of a cell."""
    cell = Cell(wanted.source, wanted.field, wanted.scenario)
    episodes = compute(wanted.config, Shard(cell, 0, 0, wanted.episodes)).episodes
    return Measured(
        wanted.settings() | provenance(),
        np.stack([episode.theta for episode in episodes]),
        np.array([episode.seconds for episode in episodes], np.float64),
        {rule: ends(episodes, rule) for rule in RULES},
    )


def keep(path: Path, measured: Measured) -> None:
    """Write a cell down, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{rule} {name}": part for rule, end in measured.ends.items() for name, part in _parts(end)}
    with replacing(path) as partial, partial.open("wb") as file:
        about = np.array(json.dumps(measured.about))
        np.savez_compressed(file, about=about, theta=measured.theta, seconds=measured.seconds, **arrays)


def read(path: Path) -> Measured:
    """The inverse of `keep`."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    found = {rule: Ends(*(arrays[f"{rule} {name}"] for name in Ends._fields)) for rule in RULES}
    return Measured(json.loads(str(arrays["about"])), arrays["theta"], arrays["seconds"], found)


def _parts(end: Ends) -> list[tuple[str, np.ndarray]]:
    """Its arrays by name, in the precision in which they were recorded."""
    arrays = end._asdict().items()
    return [(name, part.astype(np.float32) if part.dtype == float else part) for name, part in arrays]


def kept(folder: Path, wanted: Wanted, trusted: Collection[str] = ()) -> Measured | None:
    """A cell that is there; a ValueError for one with other settings.

    One of other code is of other searches too, unless that code is trusted to make the same.
    """
    path = wanted.path(folder)
    if not path.exists():
        return None
    measured, here = read(path), wanted.settings()
    if measured.about.get("code") in trusted:
        del here["code"]
    differing = [name for name in here if measured.about.get(name) != here[name]]
    if differing:
        said = "; ".join(
            f"{name} is {measured.about.get(name)} there, {here[name]} here" for name in differing
        )
        raise ValueError(f"{path} is of other searches: {said}. Give another --out.")
    return measured


def there(folder: Path, cells: Sequence[Wanted], trusted: Collection[str] = ()) -> dict[Wanted, Measured]:
    """All of these cells that have been measured."""
    found = {wanted: kept(folder, wanted, trusted) for wanted in cells}
    return {wanted: measured for wanted, measured in found.items() if measured is not None}


def fill(folder: Path, cells: Sequence[Wanted], deadline: float, trusted: Collection[str] = ()) -> None:
    """Measure what is missing, in this order, while there is time."""
    for wanted in cells:
        require_known(wanted.config)
    missing = [wanted for wanted in cells if kept(folder, wanted, trusted) is None]
    for place, wanted in enumerate(missing):
        if deadline - time.monotonic() < MARGIN:
            _tell(f"The time is up: {len(missing) - place} of {len(cells)} cells are missing.")
            return
        begun = time.monotonic()
        measured = measure(wanted)
        keep(wanted.path(folder), measured)
        where = f"{wanted.label} on {wanted.field}, {wanted.scenario}, {wanted.preset}"
        stopped = float(np.mean(measured.ends[CREDIBLE].stopped))
        _tell(f"{where}: stopped {stopped:.3f} in {time.monotonic() - begun:.0f} s")


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def require_paired(first: Measured, second: Measured) -> None:
    """A ValueError unless both had the same sources."""
    one, other = first.theta, second.theta
    if one.shape != other.shape or not np.allclose(one, other, rtol=SAME, atol=SAME):
        names = " and ".join(str(cell.about["label"]) for cell in (first, second))
        raise ValueError(f"{names} did not search for the same sources: they cannot be paired.")


def sized(wanted: Wanted, episodes: int, tiny: bool) -> Wanted:
    """The cell with so many searches, or for a rehearsal."""
    return replace(wanted, **TINY) if tiny else replace(wanted, episodes=episodes)
