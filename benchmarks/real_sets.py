"""The real sets as surveys with a model each: what is known of a kind of survey beforehand, the same for all.

Truth is read by `truths` alone, for scoring.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Station
from dowsax.world import Model, UniformBox
from dowsax.world.base import Distribution
from dowsax.world.compose import compose
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Beside the checkout, unless told otherwise."""
MAX_READINGS = 768
"""A survey is a random choice of at most so many of its readings, in random order: they have none."""
EDGE = 0.1
"""Of rows of samplers across a plume: how far off its edges may be, as a share of its middle."""
BLOCK = 300.0
"""[s], over which METEC's readings are averaged."""
MIN_LEAK = 0.05
"""[g/s], of each of several leaks: one too weak to be seen would count (docs/how-to/several-sources.md)."""
# How fast a plume widens is not known beforehand.
_GROWTH = {
    "lateral": LogNormal(1.5, 2.0),
    "vertical": LogNormal(1.0, 1.6),
    "reach": "unknown",
    "widen": "unknown",
    "curve": "unknown",
    "rise": "unknown",
    "bend": "unknown",
}
Rows = list[dict[str, str]]


class Case(NamedTuple):
    """One survey of a real set."""

    group: str
    name: str
    stations: Station
    values: np.ndarray
    model: Model
    origin: np.ndarray
    """(2,): where the origin of the stations lies in the frame of the set."""


class Truth(NamedTuple):
    """Where the source was, in the frame of the set, and its strength in the unit of the model, or NaN."""

    position: np.ndarray
    strength: float


def missing(data: Path) -> str | None:
    """One line that says that the sets are not there, or `None`."""
    return None if data.is_dir() else f"The real sets are not at {data}; give their folder by --data."


def stability_of(obukhov: float) -> Distribution:
    """What an Obukhov length L [m] says of Pasquill's class, 0 (A) to 5 (F): unstable, neutral or stable.

    After Golder (1972): over grass it is neutral where |L| is above 100 m. Nothing where L is not known.
    """
    if math.isnan(obukhov):
        return Uniform(0.0, 5.0)
    if abs(obukhov) > 100:
        return Normal(3.0, 0.7)
    return Normal(1.5, 1.0) if obukhov < 0 else Normal(4.5, 0.7)


def frame_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A rotation (2, 2) and a shift (2,) [m] of the frame of a run, so that the origin is not special."""
    generator = np.random.default_rng([1956, *name.encode()])
    angle = generator.uniform(0, 2 * math.pi)
    turned = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return turned, generator.uniform(-500, 500, 2)


def prairie(data: Path, edge: float = EDGE, release: float | None = None) -> Iterator[Case]:
    """Prairie Grass: ten-minute means of a run, its wind and Obukhov length where they were measured.

    The release is up to 3 m above the ground, or within a factor of 2 of a height [m] that is given.
    """
    for name, rows in _groups(_rows(data, "prairie_grass_so2"), "exp").items():
        turned, shift = frame_of(name)
        places = _columns(rows, "x_m", "y_m") @ turned.T + shift
        winds, obukhov = _columns(rows, "wind_u", "wind_v") @ turned.T, _number(rows[0]["obukhov_L"])
        measured = bool(np.isfinite(winds).all())
        # One box around the middle of the readings, so that runs share a compiled filter.
        model = compose(
            "gas-plume",
            UniformBox((-1200.0, -1200.0), (1200.0, 1200.0)),
            unit="mg/m3",
            distributions={
                "q": LogUniform(0.1, 1e4),
                **({} if release is None else {"height": LogNormal(release, 2.0)}),
                "stability": stability_of(obukhov),
                **_GROWTH,
            },
            background=None,
            robust=True,
            wind="measured" if measured else "unknown",
            edge=edge,
        )
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        altitude, wind = _columns(rows, "z_m")[:, 0], winds if measured else None
        stations = _stations(places - middle, altitude=altitude, wind=wind)
        yield _case("prairie", name, stations, _columns(rows, "value")[:, 0], model, middle)


def metec(data: Path, direction_error: float = 0.0, sources: int | tuple[int, ...] = 1) -> Iterator[Case]:
    """METEC: five-minute means of each sensor and of the wind, whose error [°] is each reading's own."""
    for name, rows in _groups(_rows(data, "metec_ch4"), "event").items():
        table = _columns(rows, "x_m", "y_m", "z_m", "value", "wind_u", "wind_v", "t_min")
        sensors = sorted({row["sensor"] for row in rows})
        numbers = np.array([sensors.index(row["sensor"]) for row in rows])
        kept = np.isfinite(table).all(axis=1)
        table[:, 6] *= 60.0
        table, numbers = _block_means(table[kept], numbers[kept], BLOCK)
        yield _methane("metec", name, table, numbers, sensors, direction_error, sources=sources)


def ginninderra(data: Path, direction_error: float = 0.0) -> Iterator[Case]:
    """Ginninderra: the readings while gas was released, in a wind of more than 1 m/s; the error likewise."""
    rows = _rows(data, "ginninderra_ch4")
    table = _columns(rows, "x_m", "y_m", "z_m", "value", "wind_u", "wind_v", "t_s", "release_g_min")
    kept, names = _released(table), [row["inst"] for row in rows]
    yield _methane("ginninderra", "period 1", table[kept], *_numbers(names, kept), direction_error)


def ginninderra_paths(data: Path, direction_error: float = 0.0) -> Iterator[Case]:
    """Ginninderra's open paths, chosen and modelled as its points.

    A laser and two spectrometers look at several reflectors each: at the far end is an instrument.
    """
    rows = _rows(data, "ginninderra_ch4", "paths.csv")
    table = _columns(rows, "x1_m", "y1_m", "z_m", "value", "wind_u", "wind_v", "t_s", "release_g_min")
    far_ends = _columns(rows, "x2_m", "y2_m")
    kept, names = _released(table), [f"{row['x2_m']} {row['y2_m']}" for row in rows]
    yield _methane(
        "ginninderra-paths", "period 1", table[kept], *_numbers(names, kept), direction_error, far_ends[kept]
    )


def _released(table: np.ndarray) -> np.ndarray:
    """Which rows are of a release, in a wind of more than 1 m/s."""
    return np.isfinite(table).all(axis=1) & (np.hypot(table[:, 4], table[:, 5]) > 1) & (table[:, 7] > 0)


def _numbers(names: list[str], kept: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The number of the sensor of each row that is kept, and the names of all sensors."""
    sensors = sorted(set(names))
    return np.array([sensors.index(name) for name in names])[kept], sensors


def bluetooth(data: Path) -> Iterator[Case]:
    """The Bluetooth room: the box is the room, the height of the node is not known."""
    model = compose(
        "level",
        UniformBox((0.0, 0.0), (20.7, 17.6)),
        unit="dBm",
        distributions={
            "level": Normal(-55.0, 10.0),
            "exponent": LogNormal(2.0, 1.4),
            "height": Uniform(0.0, 3.0),
        },
        # What furniture and people shadow indoors is 1 to 6 m wide.
        noise={"noise_floor": LogNormal(5.0, 1.5), "correlation_length": LogNormal(3.0, 2.5)},
        robust=True,
    )
    for name, rows in _groups(_rows(data, "ble_rssi_room"), "hidden_source_id").items():
        table = _columns(rows, "x_m", "y_m", "z_m", "t_s")
        stations = _stations(table[:, :2], altitude=table[:, 2], time=table[:, 3])
        values = _columns(rows, "value")[:, 0]
        yield _case("bluetooth", name, stations, values, model)


def napa(data: Path) -> Iterator[Case]:
    """Napa: peak acceleration as a level [dB], in kilometres; the height below is the depth."""
    for name, rows in _groups(_rows(data, "napa_shaking"), "event").items():
        places = _columns(rows, "x_m", "y_m") / 1e3
        values = _columns(rows, "value")[:, 0]
        kept = values > 0
        model = compose(
            "level",
            UniformBox(tuple(places.min(axis=0)), tuple(places.max(axis=0))),
            distributions={
                "level": Normal(60.0, 30.0),
                "exponent": LogNormal(3.0, 1.5),
                "height": LogNormal(10.0, 2.0),
            },
            noise={"noise_floor": LogNormal(5.0, 1.5)},
            robust=True,
            options={"altitude": 0.0},
        )
        yield _case("napa", name, _stations(places[kept]), 20 * np.log10(values[kept]), model)


def tabletop(data: Path) -> Iterator[Case]:
    """A gamma source on a table with some lead: eight detectors whose backgrounds were measured without it.

    Detectors and source lie on the table, centimetres across. The law of the kind: an error of the
    inverse-square law of 15 % within a factor of two, a tenth of the readings shielded.
    """
    model = compose(
        "radiation",
        UniformBox((0.0, 0.0), (1.07, 0.84)),
        distributions={"attenuation": 0.0, "height": 0.0},
        background="measured",
        noise={"noise_ratio": LogNormal(0.15, 2.0)},
        shielded=0.1,
        variation=0.05,
        options={"altitude": 0.0, "standoff": 0.03},
    )
    for name, rows in _groups(_rows(data, "tabletop_radiation"), "exp").items():
        table = _columns(rows, "det_x_m", "det_y_m", "live_s", "bg_cps", "counts")
        stations = _stations(table[:, :2], dwell=table[:, 2], background=table[:, 3])
        yield _case("tabletop", name, stations, table[:, 4], model)


SETS: dict[str, Callable[..., Iterable[Case]]] = {
    "prairie": prairie,
    "metec": metec,
    "ginninderra": ginninderra,
    "ginninderra-paths": ginninderra_paths,
    "bluetooth": bluetooth,
    "napa": napa,
    "tabletop": tabletop,
}
OPTIONS = {
    "prairie": "release",
    **dict.fromkeys(("metec", "ginninderra", "ginninderra-paths"), "direction_error"),
}
"""What else may be said of a set: the height of its release, or the error of each reading's own wind."""
UNITS = {name: {"napa": ("km", 1.0), "tabletop": ("cm", 100.0)}.get(name, ("m", 1.0)) for name in SETS}
"""In which tables give lengths, and how many of it are one of the stations."""
LOCATED_WITHIN = {"tabletop": 0.1}
"""[m]: a survey has located the source where it lies within this radius of the mean, by its belief."""


def truths(data: Path, group: str) -> dict[str, Truth]:
    """The true source of each case of a set; q in g/s for gas."""
    nothing = math.nan
    if group == "prairie":
        runs = _truth(data, "prairie_grass_so2")["runs"]
        return {name: Truth(frame_of(name)[1], run["rate_g_s"]) for name, run in runs.items()}
    if group == "metec":
        events = _truth(data, "metec_ch4")["events"]
        return {str(one["event"]): Truth(_place(one), one["rate_g_h"] / 3600) for one in events}
    if group in ("ginninderra", "ginninderra-paths"):
        one = _truth(data, "ginninderra_ch4")
        rate = one["rate_g_min"]["period1"] / 60
        return {"period 1": Truth(np.array([one["source_x"], one["source_y"]]), rate)}
    if group == "bluetooth":
        nodes = _truth(data, "ble_rssi_room")["hidden_sources"]
        return {name: Truth(_place(node), nothing) for name, node in nodes.items()}
    if group == "tabletop":
        sources = _truth(data, "tabletop_radiation")["sources"]
        return {name: Truth(_place(one), nothing) for name, one in sources.items()}
    events = _truth(data, "napa_shaking")["events"]
    return {name: Truth(_place(one) / 1e3, nothing) for name, one in events.items()}


def equipment(data: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """METEC's groups by name, and which one it was in each event."""
    truth = _truth(data, "metec_ch4")
    groups = {name: _place(one) for name, one in truth["candidate_groups"].items()}
    return groups, {str(one["event"]): one["group"] for one in truth["events"]}


def _methane(
    group: str,
    name: str,
    table: np.ndarray,
    numbers: np.ndarray,
    sensors: list[str],
    direction_error: float,
    far_ends: np.ndarray | None = None,
    sources: int | tuple[int, ...] = 1,
) -> Case:
    """Methane in ppm over a background that each sensor has of its own. Column 6 is the time [s]."""
    places, values = table[:, :2], table[:, 3]
    ends = places if far_ends is None else np.concatenate([places, far_ends])
    low = np.array([np.quantile(values[numbers == at], 0.2) for at in range(len(sensors))])
    # Instruments differ in their zero. What each reads in clean air is taken off, and its error left unknown.
    values = values - low[numbers]
    model = compose(
        "gas-plume",
        UniformBox(tuple(ends.min(axis=0) - 10), tuple(ends.max(axis=0) + 10)),
        sources=sources,
        unit="ppm",
        gas="methane",
        distributions={
            "q": LogUniform(1e-3 if sources == 1 else MIN_LEAK, 10.0),
            "height": LogNormal(1.5, 2.0),
            **_GROWTH,
        },
        background=Normal(0.0, 0.15),
        sensors=sensors,
        noise={"noise_ratio": LogNormal(0.5, 1.6), "noise_floor": LogNormal(0.1, 3.0)},
        robust=True,
        direction_error=direction_error,
    )
    time = table[:, 6] - table[:, 6].min()
    measured = {"altitude": table[:, 2], "wind": table[:, 4:6], "time": time, "far_end": far_ends}
    stations = _stations(places, numbers, **measured)
    return _case(group, name, stations, values, model)


def _case(
    group: str,
    name: str,
    stations: Station,
    values: np.ndarray,
    model: Model,
    origin=(0.0, 0.0),
) -> Case:
    """A survey of at most so many readings, in random order."""
    chosen = np.random.default_rng([5, *name.encode()]).permutation(len(values))[:MAX_READINGS]
    picked = jax.tree.map(lambda leaf: leaf[chosen], stations)
    return Case(group, name, picked, values[chosen], model, np.array(origin))


def _stations(places: np.ndarray, sensor: np.ndarray | None = None, **measured: np.ndarray | None) -> Station:
    number = None if sensor is None else jnp.asarray(sensor, jnp.int32)
    others: dict = {
        name: None if leaf is None else jnp.asarray(leaf, jnp.float32) for name, leaf in measured.items()
    }
    return Station(jnp.asarray(places, jnp.float32), sensor=number, **others)


def _block_means(table: np.ndarray, numbers: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Means over blocks of time (the last column) of each sensor."""
    block = np.floor((table[:, -1] - table[:, -1].min()) / length).astype(int)
    _, first, at, counts = np.unique(
        numbers * (block.max() + 1) + block, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.stack([np.bincount(at, column) for column in table.T], axis=1)
    return sums / counts[:, None], numbers[first]


def _rows(data: Path, folder: str, name: str = "readings.csv") -> Rows:
    with (data / folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _truth(data: Path, folder: str) -> dict:
    return json.loads((data / folder / "truth.json").read_text(encoding="utf-8"))


def _groups(rows: Rows, key: str) -> dict[str, Rows]:
    groups: dict[str, Rows] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def _columns(rows: Rows, *names: str) -> np.ndarray:
    return np.array([[_number(row[name]) for name in names] for row in rows])


def _number(cell: str) -> float:
    return float(cell) if cell else math.nan


def _place(one: dict) -> np.ndarray:
    return np.array([one["x"], one["y"]])
