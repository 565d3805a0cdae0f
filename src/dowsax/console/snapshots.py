"""Snapshots of a mission after each step: contents, particle samples, file and cache.

A snapshot is what a page shows of a mission after one reading or correction, in plain JSON. Particles and
regions are large and are added on request, from the particle samples that are stored with it.
"""

import threading
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.console.pieces import describe_pieces, find_pieces
from dowsax.files import finite
from dowsax.geo.local import LocalCoordinates
from dowsax.inference import Belief
from dowsax.journal import Damaged, Entry, Journal, read, salvage
from dowsax.mission.advice import SPECIAL_KEYS, Advice, read_status
from dowsax.mission.log import Step
from dowsax.report.regions import Region, credible_regions

NUM_SAMPLES = 400
_REGION_PROBABILITIES = {"50": 0.5, "95": 0.95}
_READING_KEYS = ("position", "value", "wind", "time", "sensor", "id", "altitude")
_MEASURES = ("spread", "mass", "ess", "fit", "path_length")
_DECIMALS_M = 4
"""A tenth of a millimetre."""
_ENTRY, _SNAPSHOT, _SAMPLES = "frame", "frame", "samples"
"""The kind of an entry in the file, and its keys."""
_CACHE_SIZE = 128


class ParticleSamples(NamedTuple):
    """Equally weighted samples of Θ from a belief."""

    thetas: np.ndarray
    """(k, d) float32"""
    others: np.ndarray
    """(k, 2 m) float32 [m], the positions of m further sources; where one is not there, that of the first."""

    @classmethod
    def of(cls, belief: Belief) -> "ParticleSamples":
        """Resample a belief systematically, with the offset 1/2: deterministic, and as even as possible."""
        log_weights = np.asarray(belief.log_weights, np.float64)
        weights = np.exp(log_weights - log_weights.max())
        running = np.cumsum(weights)
        shares = (np.arange(NUM_SAMPLES) + 0.5) / NUM_SAMPLES * running[-1]
        chosen = np.minimum(np.searchsorted(running, shares), len(weights) - 1)
        thetas, places = (
            np.asarray(leaf, np.float32)[chosen] for leaf in (belief.particles, belief.source_positions)
        )
        if belief.number_column is not None:
            is_there = thetas[:, belief.number_column][:, None] > np.arange(places.shape[1])
            places = np.where(is_there[:, :, None], places, places[:, :1])
        return cls(thetas, places[:, 1:].reshape(len(chosen), -1))

    @classmethod
    def single(cls, theta: Sequence[float] | np.ndarray) -> "ParticleSamples":
        """Return one sample."""
        return cls(np.asarray([theta], np.float32), np.zeros((1, 0), np.float32))

    def pack(self) -> bytes:
        """Pack into half precision about the mean: exact to a thousandth of the spread."""
        rows = np.concatenate([self.thetas, self.others], axis=1)
        mean = rows.mean(axis=0, dtype=np.float64)
        spread = np.maximum(rows.std(axis=0, dtype=np.float64), 1e-30)
        sizes = [len(rows), len(mean), self.others.shape[1]]
        head = np.concatenate([sizes, mean, spread]).astype("<f8")
        return head.tobytes() + ((rows - mean[None]) / spread[None]).astype("<f2").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> "ParticleSamples":
        """Invert `pack`, except for the rounding."""
        count, columns, others = (int(number) for number in np.frombuffer(data, "<f8", 3))
        mean, spread = np.frombuffer(data, "<f8", 2 * columns, 24).reshape(2, columns)
        scaled = np.frombuffer(data, "<f2", count * columns, 24 + 16 * columns).reshape(count, columns)
        rows = (mean[None] + spread[None] * scaled).astype(np.float32)
        return cls(rows[:, : columns - others], rows[:, columns - others :])


def build_snapshot(step: Step, coordinates: LocalCoordinates | None) -> dict[str, Any]:
    """Return the snapshot of a step; with places in degrees where `coordinates` is geographic.

    Its reading is `None` for a withdrawal; `corrects` is the number of the corrected reading.
    """
    advice, reading = Advice.from_json(step.advice), step.reading
    body = {
        "number": step.number,
        "time": step.received,
        "reading": None if reading is None else _reading(reading),
        "corrects": step.corrects,
        "reason": step.reason,
        "held_wind": step.held_wind,
        "status": advice.status,
        "why": advice.why,
        "next": None if advice.next_position is None else list(advice.next_position),
        **{name: step.advice[name] for name in SPECIAL_KEYS if name in step.advice},
        "bearing": advice.bearing,
        "distance": advice.distance,
        "estimate": {
            "names": list(advice.estimate.names),
            "units": list(advice.estimate.units),
            "mean": list(map(finite, advice.estimate.mean)),
            "low": list(map(finite, advice.estimate.low)),
            "high": list(map(finite, advice.estimate.high)),
        },
        "radius": finite(advice.region.radius),
        "evidence": finite(advice.evidence),
        **{name: step.measures.get(name) for name in _MEASURES},
    }
    return (
        body
        if coordinates is None or not coordinates.is_geographic
        else body | {"degrees": _degrees(body, coordinates)}
    )


def _reading(reading: dict[str, Any]) -> dict[str, Any]:
    """Return what a client needs of a reading; few have a far end, a searcher, or ranges."""
    special = {name: reading[name] for name in ("far_end", "searcher", "ranges") if name in reading}
    return {name: reading[name] for name in _READING_KEYS} | special


def _degrees(body: dict[str, Any], coordinates: LocalCoordinates) -> dict[str, list[float]]:
    """Return the places of a snapshot as latitude and longitude."""
    places = {
        "reading": None if body["reading"] is None else body["reading"]["position"],
        "estimate": body["estimate"]["mean"][:2],
        "next": body["next"],
        "next_far_end": body.get("next_far_end"),
    }
    known = {name: place for name, place in places.items() if place is not None and None not in place}
    return dict(zip(known, coordinates.to_degrees(list(known.values())).tolist(), strict=True))


def add_particles(
    snapshot: dict[str, Any], samples: ParticleSamples, area: list[list[float]]
) -> dict[str, Any]:
    """Return the snapshot with the positions of its samples, their credible regions [m], and the pieces.

    A particle that was sampled several times gets that weight, as in the belief, so that these regions are
    smoothed like those of reports.
    """
    together = np.concatenate([samples.thetas[:, :2], samples.others], axis=1)
    positions = together.reshape(-1, 2).astype(np.float64)
    low, high = (np.asarray(corner, np.float64) for corner in area)
    places, weights = np.unique(positions, axis=0, return_counts=True)
    made = credible_regions(places, weights, tuple(_REGION_PROBABILITIES.values()), (low, high))
    # Several sources are apart anyway.
    is_one = samples.others.shape[1] == 0
    pieces = find_pieces(made[_REGION_PROBABILITIES["95"]], places, weights) if is_one else []
    return snapshot | {
        "particles": np.round(positions, _DECIMALS_M).tolist(),
        "regions": _polygons(made),
        "pieces": pieces,
    }


def _polygons(made: Mapping[float, Region]) -> dict[str, list]:
    """Return polygons by their probability in per cent; each is a list of rings, the border first."""
    return {
        name: [
            [ring.tolist() for ring in (patch.border, *patch.holes)] for patch in made[probability].patches
        ]
        for name, probability in _REGION_PROBABILITIES.items()
    }


class SnapshotFile:
    """Snapshots of a mission on the disk, with their particle samples. Thread-safe.

    The file is a cache: a lost snapshot is built again from the log.
    """

    def __init__(self, path: Path, mission: str) -> None:
        self._path = path
        self._mission = mission
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._offsets: dict[int, int] | None = None

    def numbers(self) -> set[int]:
        with self._lock:
            return set(self._index())

    def add(self, snapshot: dict[str, Any], samples: ParticleSamples) -> None:
        """Store a snapshot; nothing happens where the disk is full, as it can be built again."""
        packed = b64encode(samples.pack()).decode()
        body = {"mission": self._mission, _SNAPSHOT: snapshot, _SAMPLES: packed}
        with self._lock:
            try:
                entry = self._writer().append(_ENTRY, body, durable=False)
            except OSError:
                return
            self._index()[snapshot["number"]] = entry.offset

    def get(self, number: int) -> tuple[dict[str, Any], ParticleSamples] | None:
        """Return the snapshot of this number; `None` where it is not stored."""
        with self._lock:
            offset = self._index().get(number)
            body = None if offset is None else self._body(offset)
        if body is None:
            return None
        return body[_SNAPSHOT], ParticleSamples.unpack(b64decode(body[_SAMPLES]))

    def between(self, first: int, last: int) -> list[dict[str, Any]]:
        """Return the snapshots from `first` to `last`, without particles."""
        with self._lock:
            index = self._index()
            bodies = [self._body(index[number]) for number in range(first, last + 1) if number in index]
        return [body[_SNAPSHOT] for body in bodies if body is not None]

    def close(self) -> None:
        """Close the file; it is opened again when something is added."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
            self._journal = None

    def _body(self, offset: int) -> dict[str, Any] | None:
        try:
            body = next(read(self._path, offset)).body
        except (Damaged, OSError, StopIteration):
            return None
        snapshot = body[_SNAPSHOT]
        return body | {_SNAPSHOT: snapshot | {"status": read_status(snapshot["status"])}}

    def _index(self) -> dict[int, int]:
        """Return the byte offset of each snapshot."""
        if self._offsets is None:
            # Those of an earlier version, which have no such samples, are built again.
            self._offsets = {
                body[_SNAPSHOT]["number"]: offset for offset, body in self._stored() if _SAMPLES in body
            }
        return self._offsets

    def _stored(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the entries of this mission with their byte offsets."""
        for entry in self._entries() if self._path.is_file() else ():
            body = entry.body
            if entry.kind == _ENTRY and body.get("mission") == self._mission:
                yield entry.offset, body

    def _entries(self) -> list[Entry]:
        try:
            return list(read(self._path))
        except Damaged:
            return list(salvage(self._path))

    def _writer(self) -> Journal:
        if self._journal is None:
            try:
                self._journal = Journal.open(self._path, may_create=True)
            except Damaged:
                self._repair()
        assert self._journal is not None
        return self._journal

    def _repair(self) -> None:
        """Write the intact snapshots to a new file."""
        bodies = [body for _, body in self._stored()]
        self._path.unlink()
        self._offsets = {}
        self._journal = Journal.open(self._path, may_create=True)
        for body in bodies:
            entry = self._journal.append(_ENTRY, body, durable=False)
            self._offsets[body[_SNAPSHOT]["number"]] = entry.offset


class SnapshotCache:
    """The snapshots with particles and regions that were requested last. Thread-safe."""

    def __init__(self, file_of: Callable[[str], SnapshotFile]) -> None:
        self._file_of = file_of
        self._lock = threading.Lock()
        self._cached: OrderedDict[tuple[str, int], dict[str, Any]] = OrderedDict()

    def forget(self, mission: str) -> None:
        """Drop the snapshots of a mission."""
        with self._lock:
            for key in [key for key in self._cached if key[0] == mission]:
                del self._cached[key]

    def get(
        self, mission: str, number: int, area: list[list[float]], coordinates: LocalCoordinates
    ) -> dict[str, Any] | None:
        """Return the snapshot of a step with particles, regions and pieces; `None` where there is none."""
        key = mission, number
        # Under the lock, so that two requests at once compute it once.
        with self._lock:
            if key in self._cached:
                self._cached.move_to_end(key)
                return self._cached[key]
            stored = self._file_of(mission).get(number)
            if stored is None:
                return None
            full = add_particles(*stored, area)
            self._cached[key] = snapshot = full | {"why": describe_pieces(full, coordinates)}
            while len(self._cached) > _CACHE_SIZE:
                self._cached.popitem(last=False)
            return snapshot
