"""Models from plain choices: the one place that lays out the columns of Θ."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import jax.numpy as jnp

from dowsax.world.base import Field, Law, Location, Prior, Sensor, Turnable
from dowsax.world.fields import Arranged, Background, GivenWind, InferredWind, Lagged, Plume
from dowsax.world.fields.absence import absent
from dowsax.world.fields.arranged import KNOWN
from dowsax.world.fields.wind import along_axis
from dowsax.world.kinds import KINDS, LAG, WIND, Kind, Number, kind_of
from dowsax.world.modalities import MODALITIES
from dowsax.world.model import Model
from dowsax.world.priors import ExtendedPrior, PlumePrior, ProductPrior
from dowsax.world.sensors import Gaussian, StudentT, UnknownNoise
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.redundant import Redundant
from dowsax.world.sensors.swaying_wind import SwayingWind
from dowsax.world.source import PARAMETERS, Parameter

_DEGREES = 4.0


@dataclass
class _Layout:
    """The columns of Θ that are unknown, and those of the field's own longer Θ, known numbers included."""

    num_source: int
    """The columns that come with the prior of the source, or of its position."""
    laws: list[Law] = field(default_factory=list)
    named: list[Parameter] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns, self.numbers = list(range(self.num_source)), [0.0] * self.num_source

    def unknown(self, parameter: Parameter, law: Law) -> int:
        """A further column of Θ, and its number."""
        self.laws.append(law)
        self.named.append(parameter)
        return self.num_source + len(self.laws) - 1

    def add(self, parameter: Parameter, number: Number) -> int:
        """A further column of the field's Θ, and its number there."""
        known = not isinstance(number, Law)
        self.columns.append(KNOWN if known else self.unknown(parameter, number))
        self.numbers.append(_known(parameter.name, number) if known else 0.0)
        return len(self.columns) - 1

    def arranged(self, inner: Field) -> Field:
        """The field as a function of Θ."""
        if self.columns == list(range(len(self.columns))):
            return inner
        return Arranged(inner, tuple(self.columns), tuple(self.numbers))


def compose(
    kind: str,
    location: Location,
    *,
    unit: str | None = None,
    gas: str | float | None = None,
    laws: Mapping[str, Number | str] | None = None,
    background: Number | str | None = "usual",
    sensors: Sequence[str] = (),
    noise: Mapping[str, Number | str] | None = None,
    robust: bool | float | int = False,
    redundancy: float | int = 1.0,
    dead_time: float | int = 0.0,
    lag: Number | str | None = None,
    wind: Sequence[float | int] | str = "measured",
    direction_error: float | int = 0.0,
    edge: float | int = 0.0,
    options: Mapping[str, Any] | None = None,
) -> Model:
    """A model of one source at an unknown place, whose law is `location`.

    `kind` is one of `KINDS`, or a benchmark field by name. Wherever a number may be unknown, a law says so, a
    plain number means that it is known, and "unknown" takes the default law of the kind.

    `laws` are those of the source's parameters by name, where the defaults will not do. `background` is added
    to the field ("usual": unknown where readings of this kind have one), one for each of the `sensors` if
    they are named. `noise` are the numbers of the sensor by name; a ratio is one to what the source adds
    (`AboveBackground`). `robust` allows for outliers by Student's t (4 degrees of freedom, or as many as
    given). `redundancy` is how many neighbouring readings err together and so count as one (`Redundant`).
    `lag` [s] is the time constant of the sensor: its stations need a trail. `wind` is "measured" with each
    reading, "unknown", or a known velocity (where the air goes) [m/s]. `direction_error` [°] is how far off
    the direction of a measured wind is at each reading by itself (`SwayingWind`), besides what all share.
    `edge` is how far off the edges of a gas plume may be, as a share of its middle (`FuzzyEdge`).
    `options` are further known numbers of the field, or ranges of a benchmark field's `PlumePrior`.
    """
    degrees = None if robust is False else _DEGREES if robust is True else float(robust)
    counted = lambda sensor: sensor if redundancy == 1 else Redundant(sensor, redundancy)  # noqa: E731
    if kind in MODALITIES:
        other_unit, windy = unit not in (None, MODALITIES[kind].unit), wind != "measured" or direction_error
        if other_unit or gas is not None or laws or windy or edge:
            words = "takes no `unit`, `gas`, `laws`, `wind`, `direction_error` or `edge`."
            raise ValueError(f"The benchmark field {kind} {words}")
        model = _benchmark(kind, location, background, sensors, noise or {}, degrees, lag, options or {})
        return Model(model.prior, model.field, counted(model.sensor))
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}{_hint(kind, [*KINDS, *MODALITIES])}")
    chosen = kind_of(kind, unit, gas)
    layout = _Layout(2)
    source = _source(chosen, layout, laws or {}, wind, options or {})
    if background == "usual":
        background = "unknown" if chosen.usual_background else None
    if background == "unknown":
        background = chosen.background
    late = _lagged(source, layout, lag)
    inner = _over_background(late, layout, chosen.background_unit, background, sensors, chosen.levels)
    numbers = _overridden(chosen.noise, chosen.noise, noise or {}, f"noise of {kind}")
    sensor = chosen.sensor(_nominal(numbers), degrees, float(dead_time))
    sensor = _sensor(sensor, numbers, layout, chosen.unit)
    if edge:
        if not chosen.windy:
            raise ValueError(f"`edge` is for plumes in the wind, not for {kind}.")
        sensor = FuzzyEdge(sensor, layout.arranged(along_axis(source)), edge)
    if direction_error:
        if not chosen.windy or wind != "measured":
            raise ValueError("`direction_error` is for gas plumes in a wind that is measured.")
        swaying = layout.arranged(late)
        assert isinstance(swaying, Turnable)
        sensor = SwayingWind(sensor, swaying, direction_error)
    prior = ProductPrior(location, tuple(layout.laws), tuple(layout.named))
    whole = layout.arranged(inner)
    return Model(prior, whole, counted(_above(sensor, numbers, whole, background)))


def without_source(model: Model) -> Model:
    """The same prior, nuisances and noise, and no source.

    The columns of the source stay and say nothing. The difference of the two log evidences of a survey is the
    log Bayes factor for a source against none.
    """
    return Model(model.prior, absent(model.field), _without_plume(model.sensor))


def _without_plume(sensor: Sensor) -> Sensor:
    """The sensor where there is no plume to have an edge, or to sway."""
    if isinstance(sensor, Redundant | AboveBackground):
        return replace(sensor, sensor=_without_plume(sensor.sensor))
    return _without_plume(sensor.sensor) if isinstance(sensor, FuzzyEdge | SwayingWind) else sensor


def _source(
    kind: Kind,
    layout: _Layout,
    laws: Mapping[str, Number | str],
    wind: Sequence[float | int] | str,
    options: Mapping[str, Any],
) -> Field:
    """The field of the source alone in its wind, its columns laid out."""
    unknown: dict[str, Number] = {
        parameter.name: law for parameter, law in zip(kind.parameters, kind.laws, strict=True)
    }
    known: dict[str, Number] = dict(kind.known)
    if kind.windy and wind == "unknown":
        unknown |= {parameter.name: law for parameter, law in WIND}
        # An unknown wind is right as it is.
        known |= {"turn": 0.0, "speed": 1.0}
    numbers = _overridden(unknown | known, unknown, laws, f"laws of {kind.name}")
    _require_known(options, kind.options, f"options of {kind.name}")
    for parameter in kind.parameters:
        layout.add(parameter, numbers[parameter.name])
    inner = kind.field(**options)
    if not kind.windy:
        if wind != "measured":
            raise ValueError(f"`wind` does not matter for {kind.name}: leave it out.")
        return inner
    if isinstance(wind, str):
        if wind not in ("measured", "unknown"):
            raise ValueError(f'`wind` is "measured", "unknown" or a velocity (east, north); got {wind!r}.')
        if wind == "measured":
            return inner
        column, _ = [layout.add(parameter, numbers[parameter.name]) for parameter, _ in WIND]
        return InferredWind(inner, column)
    if len(wind) != 2 or not all(math.isfinite(part) for part in wind):
        raise ValueError(f"`wind` as a velocity is two finite numbers (east, north) [m/s]; got {wind}.")
    return GivenWind(inner, (wind[0], wind[1]))


def _lagged(inner: Field, layout: _Layout, lag: Number | str | None) -> Field:
    """The field as the sensor sees it: late."""
    if lag is None:
        return inner
    parameter, default = LAG
    return Lagged(inner, layout.add(parameter, _number("lag", default if lag == "unknown" else lag)))


def _over_background(
    inner: Field,
    layout: _Layout,
    unit: str,
    background: Number | str | None,
    sensors: Sequence[str],
    levels: bool,
) -> Field:
    """The field and its background."""
    if background is None:
        if sensors:
            raise ValueError("`sensors` are named for a background each: give a `background` too.")
        return inner
    law = _number("background", background)
    names = [f"background {name}" for name in sensors] or ["background"]
    meaning = "reading where there is no source"
    columns = [layout.add(Parameter(name, unit, meaning), law) for name in names]
    return Background(inner, columns[0], len(columns), levels)


def _sensor(sensor: Sensor, numbers: Mapping[str, Number], layout: _Layout, unit: str) -> Sensor:
    """The sensor, and its unknown numbers as columns of Θ."""
    meanings = {
        "noise_ratio": ("", "noise as a share of what the source adds"),
        "noise_floor": (unit, "noise where there is nothing to read"),
        "spread": ("", "noise as the standard deviation of the logarithm or level"),
    }
    columns = tuple(
        (name, layout.unknown(Parameter(name, *meanings.get(name, ("", "number of the sensor"))), law))
        for name, law in numbers.items()
        if isinstance(law, Law)
    )
    return UnknownNoise(sensor, columns) if columns else sensor


def _benchmark(
    name: str,
    location: Location,
    background: Number | str | None,
    sensors: Sequence[str],
    noise: Mapping[str, Number | str],
    degrees: float | None,
    lag: Number | str | None,
    options: Mapping[str, Any],
) -> Model:
    """A benchmark field, with nuisances if there are any."""
    ranges = ("strength", "diffusivity", "max_speed", "max_decay_length")
    _require_known(options, ranges, f"options of {name}")
    prior: Prior = PlumePrior(location, **options)
    layout = _Layout(len(PARAMETERS))
    if background == "unknown":
        raise ValueError(f"The benchmark field {name} has no default background: give its law.")
    background = None if background == "usual" else background
    unit = MODALITIES[name].unit
    late = _lagged(Plume(), layout, lag)
    inner = _over_background(late, layout, unit, background, sensors, levels=False)
    sensor: Any = MODALITIES[name].sensor
    if degrees is not None:
        if not isinstance(sensor, Gaussian):
            raise ValueError(f"`robust` is for normal noise; {name} has another law.")
        sensor = StudentT(sensor.noise_ratio, sensor.noise_floor, degrees)
    own = ("noise_ratio", "noise_floor", "spread")
    given: dict[str, Number] = {key: getattr(sensor, key) for key in own if hasattr(sensor, key)}
    numbers = _overridden(given, {}, noise, f"noise of {name}")
    sensor = _sensor(replace(sensor, **_nominal(numbers)), numbers, layout, unit)
    if layout.laws:
        prior = ExtendedPrior(prior, tuple(layout.laws), tuple(layout.named))
    whole = layout.arranged(inner)
    return Model(prior, whole, _above(sensor, numbers, whole, background))


def _above(
    sensor: Sensor, numbers: Mapping[str, Number], whole: Field, background: Number | str | None
) -> Sensor:
    """The sensor of a field with a background, of which noise in proportion is no share."""
    if background is None or "noise_ratio" not in numbers:
        return sensor
    return AboveBackground(sensor, absent(whole))


def _nominal(numbers: Mapping[str, Number]) -> dict[str, float]:
    """The known numbers, and the medians of the others."""
    return {
        name: float(number.quantile(jnp.asarray(0.5))) if isinstance(number, Law) else _known(name, number)
        for name, number in numbers.items()
    }


def _overridden(
    defaults: Mapping[str, Number],
    unknown: Mapping[str, Number],
    given: Mapping[str, Number | str],
    what: str,
) -> dict[str, Number]:
    """The defaults but for what is given; what is said to be unknown gets its usual law."""
    _require_known(given, tuple(defaults), what)
    said = {name: unknown.get(name, law) if law == "unknown" else law for name, law in given.items()}
    return {**defaults, **{name: _number(name, law) for name, law in said.items()}}


def _number(name: str, number: Any) -> Number:
    return number if isinstance(number, Law) else _known(name, number)


def _known(name: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"`{name}` is a law, or a finite number where it is known; got {number!r}.")
    return float(number)


def _require_known(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"unknown name {name!r} in the {what}{_hint(name, known)}")


def _hint(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else "."
    return f"{meant} Known are {', '.join(known)}." if known else "; there are none."
