"""Build models from plain choices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dowsax.world.base import DirectionDependent, Distribution, Field, Location, Sensor
from dowsax.world.by_number import with_each_number
from dowsax.world.fields import (
    Background,
    Efficient,
    GivenWind,
    InferredWind,
    Lagged,
    MeasuredBackground,
)
from dowsax.world.fields.nothing import remove_source
from dowsax.world.fields.sum_of_sources import SumOfSources
from dowsax.world.fields.wind import along_axis
from dowsax.world.kinds import KINDS, LAG, WIND, Kind, KnownOrDistribution, kind_of
from dowsax.world.layout import Layout, as_number, hint, nominal, override, require_known
from dowsax.world.modalities import MODALITIES, benchmark_model
from dowsax.world.model import Model
from dowsax.world.obstacles import Obstacle
from dowsax.world.priors import ExtendedPrior, PlumePrior
from dowsax.world.ranges import require_velocity
from dowsax.world.sensors import Counting, Gaussian, StudentT, UnknownNoise
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.correlated import NUM_EARLIER, NUM_UNGROUPED, Correlated, lengths_for
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.redundant import Redundant
from dowsax.world.sensors.stated_uncertainty import StatedUncertainty
from dowsax.world.sensors.swaying_wind import SwayingWind
from dowsax.world.sensors.uncertain_counting import OverBackground
from dowsax.world.several_columns import as_numbers
from dowsax.world.shielding import keep_outside, shield, solve_among
from dowsax.world.source import Parameter
from dowsax.world.uncalibrated import compose_uncalibrated, require_uncalibrated

_DEFAULT_DEGREES_OF_FREEDOM = 4.0
_CORRELATION = {
    "correlation": ("correlation", "", "correlation of the noise of two readings at one place"),
    "correlation_length": ("length", "m", "distance over which the correlation falls to a third"),
}
"""Numbers of `Correlated`: its attribute, the unit and the meaning."""


@with_each_number
def compose(
    kind: str,
    location: Location,
    *,
    sources: int | str | Sequence[int] = 1,
    unit: str | None = None,
    gas: str | float | None = None,
    reading: str = "value",
    distributions: Mapping[str, KnownOrDistribution | str] | None = None,
    background: KnownOrDistribution | str | None = "usual",
    sensors: Sequence[str] = (),
    noise: Mapping[str, KnownOrDistribution | str] | None = None,
    robust: bool | float | int = False,
    redundancy: float | int | None = None,
    efficiency: str | None = None,
    uncertainty: str | None = None,
    dead_time: float | int = 0.0,
    variation: float | int | None = None,
    shielded: float | int | None = None,
    lag: KnownOrDistribution | str | None = None,
    wind: Sequence[float | int] | str = "measured",
    direction_error: float | int = 0.0,
    edge: float | int = 0.0,
    obstacles: Sequence[Obstacle] = (),
    options: Mapping[str, Any] | None = None,
) -> Model:
    """Build a model of one source, or several, at unknown positions with the distribution `location` [m].

    `kind` is one of `KINDS`, or a benchmark field by name. Wherever a number may be unknown, a distribution
    means unknown, a plain number known, and "unknown" takes the default distribution of the kind.

    - `sources`: their number, or equally probable numbers; each has its own position and its own `Kind.own`;
    - `unit` of the readings (default: the kind's), and `gas` (a name, or g/mol) to convert it to g/s;
    - `reading`: "value", "binary" (`Binary`: a hit or none) or "rank" (`Rank`: only the order counts, that of
      each of the `sensors` by itself); the `noise` of these is in `Kind.uncalibrated`;
    - `distributions` of the source's parameters by name, in place of the defaults;
    - `background` [unit], the reading without a source ("usual": unknown if this kind usually has one), one
      for each of the `sensors` if these are named; "measured": known at each station;
    - `noise` parameters of the sensor by name; a ratio is relative to the field above the background,
      `correlation` and `correlation_length` [m] are those of noise that nearby readings share (`Correlated`);
    - `robust`: degrees of freedom of Student's t (`True`: 4); `redundancy`: how many readings count as one;
    - `efficiency` of the sensor, `uncertainty` [unit] beyond the noise floor: "measured" with each reading;
    - `lag` [s], time constant of a sensor whose stations have a trail; of counts `dead_time` [s], `variation`
      of the background and `shielded` share (`UncertainCounting`; default: those of the kind);
    - `wind`: "measured" with each reading, "unknown", or a velocity (where the air goes) [m/s], and the
      `direction_error` [°] of the measured one, independent at each reading (`SwayingWind`);
    - `edge`: model error at the edges of a gas plume, as a share of its axis (`FuzzyEdge`);
    - `obstacles`, in which no source lies; they shield radiation and levels (`Shielded`);
    - `options`: further known numbers of the field, or ranges of a benchmark field's `PlumePrior`.
    """
    noise, options = noise or {}, options or {}
    degrees = None if robust is False else _DEFAULT_DEGREES_OF_FREEDOM if robust is True else float(robust)
    measured = _require_measured({"efficiency": efficiency, "uncertainty": uncertainty})
    of_counts = {"dead_time": dead_time, "variation": variation, "shielded": shielded}
    location = keep_outside(location, obstacles)
    if kind in MODALITIES:
        windy = {"wind": wind != "measured", "direction_error": direction_error, "edge": edge}
        others = {"gas": gas, "distributions": distributions, "reading": reading != "value"}
        _refuse_for_benchmark(kind, unit, others | of_counts | measured | windy)
        model = _benchmark(kind, location, sources, background, sensors, noise, degrees, lag, options)
        return _counted(model, redundancy)
    chosen, wind = solve_among(_find_kind(kind, unit, gas), location, obstacles, wind)
    parts = location, sources, distributions or {}, wind, efficiency, obstacles, options
    source, layout = _sources(chosen, *parts)
    late = _with_lag(source, layout, lag)
    if reading != "value":
        others = {"background": background not in ("usual", None), "robust": robust, "edge": edge}
        require_uncalibrated(chosen, reading, others | of_counts | {"uncertainty": uncertainty})
        parts = location, layout, late, noise, _require_measured_wind(chosen, wind, direction_error)
        return _counted(compose_uncalibrated(chosen, reading, *parts, num_sensors=len(sensors)), redundancy)
    background = _own_background(chosen, background)
    parts = layout, chosen.background_unit, background, sensors, chosen.levels
    whole = layout.arrange(_with_background(late, *parts, is_scaled=efficiency is not None))
    build = lambda numbers: chosen.sensor(numbers, degrees, float(dead_time), variation, shielded)  # noqa: E731
    sensor, numbers = _noisy_sensor(chosen, layout, noise, build, uncertainty is not None)
    sensor = _correlated(sensor, numbers, layout, whole, has_heading="beam" in options)
    sensor = _with_plume_errors(sensor, chosen, layout, source, late, wind, edge, direction_error)
    above = _above_background(sensor, numbers, whole, background, chosen.per_second)
    return _counted(Model(layout.prior(location), whole, above), redundancy)


def _counted(model: Model, redundancy: float | int | None) -> Model:
    """Return the model with readings of which this number counts as one."""
    return (
        model if redundancy is None else Model(model.prior, model.field, Redundant(model.sensor, redundancy))
    )


def _refuse_for_benchmark(kind: str, unit: str | None, given: Mapping[str, Any]) -> None:
    for name, value in {"unit": unit not in (None, MODALITIES[kind].unit), **given}.items():
        if value:
            raise ValueError(f"The benchmark field {kind} takes no `{name}`: leave it out.")


def _find_kind(name: str, unit: str | None, gas: str | float | None) -> Kind:
    if name not in KINDS:
        raise ValueError(f"unknown kind {name!r}{hint(name, [*KINDS, *MODALITIES])}")
    return kind_of(name, unit, gas)


def _require_measured(given: dict[str, str | None]) -> dict[str, str | None]:
    for name, value in given.items():
        if value not in (None, "measured"):
            raise ValueError(f'`{name}` must be "measured", with each reading, or None; got {value!r}.')
    return given


def _sources(
    kind: Kind,
    location: Location,
    sources: int | str | Sequence[int],
    distributions: Mapping[str, KnownOrDistribution | str],
    wind: Sequence[float | int] | str,
    efficiency: str | None,
    obstacles: Sequence[Obstacle],
    options: Mapping[str, Any],
) -> tuple[Field, Layout]:
    """Return what a sensor of this efficiency sees of all sources, and the layout of their columns."""
    layout = Layout(2)
    source = shield(_source(kind, layout, distributions, wind, options), kind, layout, obstacles)
    numbers = as_numbers(sources)
    if numbers != (1,):
        layout, columns = layout.repeat_source(location, kind.own, numbers)
        source = SumOfSources(source, columns, kind.levels)
    return source if efficiency is None else Efficient(source, kind.levels), layout


def _source(
    kind: Kind,
    layout: Layout,
    distributions: Mapping[str, KnownOrDistribution | str],
    wind: Sequence[float | int] | str,
    options: Mapping[str, Any],
) -> Field:
    """Add the columns of the source and return its field, in its wind."""
    unknown: dict[str, KnownOrDistribution] = {
        parameter.name: distribution
        for parameter, distribution in zip(kind.parameters, kind.distributions, strict=True)
    }
    known: dict[str, KnownOrDistribution] = dict(kind.known)
    if kind.windy and wind == "unknown":
        unknown |= {parameter.name: distribution for parameter, distribution in WIND}
        # An unknown wind needs no correction.
        known |= {"turn": 0.0, "speed": 1.0}
    numbers = override(unknown | known, unknown, distributions, f"distributions of {kind.name}")
    require_known(options, kind.options, f"options of {kind.name}")
    for parameter in kind.parameters:
        layout.add(parameter, numbers[parameter.name])
    inner = kind.field(**options)
    if not kind.windy:
        if wind != "measured":
            raise ValueError(f"`wind` has no effect on {kind.name}: leave it out.")
        return inner
    if isinstance(wind, str):
        if wind not in ("measured", "unknown"):
            raise ValueError(
                f'`wind` must be "measured", "unknown" or a velocity (east, north); got {wind!r}.'
            )
        if wind == "measured":
            return inner
        column, _ = [layout.add(parameter, numbers[parameter.name]) for parameter, _ in WIND]
        return InferredWind(inner, column)
    return GivenWind(inner, require_velocity(wind))


def _with_lag(inner: Field, layout: Layout, lag: KnownOrDistribution | str | None) -> Field:
    """Return the field as a lagging sensor reads it."""
    if lag is None:
        return inner
    parameter, default = LAG
    return Lagged(inner, layout.add(parameter, as_number("lag", default if lag == "unknown" else lag)))


def _own_background(
    kind: Kind, background: KnownOrDistribution | str | None
) -> KnownOrDistribution | str | None:
    """Return the background, that of the kind where none is given."""
    if background not in ("usual", "unknown"):
        return background
    return kind.background if background == "unknown" or kind.usual_background else None


def _with_background(
    inner: Field,
    layout: Layout,
    unit: str,
    background: KnownOrDistribution | str | None,
    sensors: Sequence[str],
    levels: bool,
    is_scaled: bool = False,
) -> Field:
    """Return the field plus its background; one of the place is scaled with the efficiency of the sensor."""
    if background is None or background == "measured":
        if sensors:
            raise ValueError(
                "`sensors` are named for an unknown background each: give its distribution as `background`."
            )
        return inner if background is None else MeasuredBackground(inner, levels)
    distribution = as_number("background", background)
    names = [f"background {name}" for name in sensors] or ["background"]
    meaning = "reading where there is no source"
    columns = [layout.add(Parameter(name, unit, meaning), distribution) for name in names]
    return Background(inner, columns[0], len(columns), levels, is_scaled and not sensors)


def _sensor(sensor: Sensor, numbers: Mapping[str, KnownOrDistribution], layout: Layout, unit: str) -> Sensor:
    """Return the sensor, with its unknown noise parameters as columns of Θ."""
    meanings = {
        "noise_ratio": ("", "noise as a share of what the source adds"),
        "noise_floor": (unit, "noise where there is nothing to read"),
        "spread": ("", "noise as the standard deviation of the logarithm or level"),
    }
    columns = tuple(
        (
            name,
            layout.unknown(Parameter(name, *meanings.get(name, ("", "number of the sensor"))), distribution),
        )
        for name, distribution in numbers.items()
        if isinstance(distribution, Distribution) and name not in _CORRELATION
    )
    return UnknownNoise(sensor, columns) if columns else sensor


def _noisy_sensor(
    kind: Kind,
    layout: Layout,
    noise: Mapping[str, KnownOrDistribution | str],
    build: Callable[[Mapping[str, float]], Sensor],
    has_uncertainty: bool,
) -> tuple[Sensor, Mapping[str, KnownOrDistribution]]:
    """Return the sensor that `build` makes of its noise parameters, and these."""
    unknown = {**kind.noise, **kind.unknown_noise}
    numbers = override(kind.noise, unknown, noise, f"noise of {kind.name}")
    sensor = _sensor(build(nominal(numbers)), numbers, layout, kind.noise_unit)
    if not has_uncertainty:
        return sensor, numbers
    if kind.per_second:
        raise ValueError("`uncertainty` is not for counts, whose noise is Poisson's: leave it out.")
    return StatedUncertainty(sensor), numbers


def _with_plume_errors(
    sensor: Sensor,
    kind: Kind,
    layout: Layout,
    source: Field,
    late: Field,
    wind: Sequence[float | int] | str,
    edge: float | int,
    direction_error: float | int,
) -> Sensor:
    """Return the sensor with the errors at the edges of a plume, and of the direction of its wind."""
    if edge:
        if not kind.windy:
            raise ValueError(f"`edge` is for plumes in the wind, not for {kind.name}: leave it out.")
        sensor = FuzzyEdge(sensor, layout.arrange(along_axis(source)), edge)
    if _require_measured_wind(kind, wind, direction_error):
        swaying = layout.arrange(late)
        assert isinstance(swaying, DirectionDependent)
        sensor = SwayingWind(sensor, swaying, direction_error)
    return sensor


def _require_measured_wind(
    kind: Kind, wind: Sequence[float | int] | str, direction_error: float | int
) -> float:
    """Return the error of the direction [°], which only a measured wind has."""
    if direction_error and (not kind.windy or wind != "measured"):
        raise ValueError('`direction_error` is for gas plumes with wind = "measured": leave it out.')
    return float(direction_error)


def _correlated(
    sensor: Sensor,
    numbers: Mapping[str, KnownOrDistribution],
    layout: Layout,
    whole: Field,
    has_heading: bool,
) -> Sensor:
    """Return the sensor whose noise is correlated in space, where the kind has such noise."""
    if not numbers.get("correlation"):
        return sensor
    columns = tuple(
        (attribute, layout.unknown(Parameter(name, unit, meaning), number))
        for name, (attribute, unit, meaning) in _CORRELATION.items()
        if isinstance(number := numbers[name], Distribution)
    )
    known = nominal({name: numbers[name] for name in _CORRELATION})
    return Correlated(
        sensor,
        whole,
        known["correlation"],
        known["correlation_length"],
        columns,
        lengths_for(numbers["correlation_length"]),
        NUM_UNGROUPED if has_heading else NUM_EARLIER,
    )


def _benchmark(
    name: str,
    location: Location,
    sources: int | str | Sequence[int],
    background: KnownOrDistribution | str | None,
    sensors: Sequence[str],
    noise: Mapping[str, KnownOrDistribution | str],
    degrees: float | None,
    lag: KnownOrDistribution | str | None,
    options: Mapping[str, Any],
) -> Model:
    """Build the model of a benchmark field, with nuisance parameters."""
    ranges = ("strength", "diffusivity", "max_speed", "max_decay_length")
    require_known(options, ranges, f"options of {name}")
    model = benchmark_model(name, PlumePrior(location, **options), sources)
    prior = model.prior
    layout = Layout(len(prior.parameters))
    if background == "unknown":
        raise ValueError(f"The benchmark field {name} has no default background: give its distribution.")
    background = None if background == "usual" else background
    unit = MODALITIES[name].unit
    late = _with_lag(model.field, layout, lag)
    inner = _with_background(late, layout, unit, background, sensors, levels=False)
    sensor: Any = model.sensor
    if degrees is not None:
        if not isinstance(sensor, Gaussian):
            raise ValueError(f"`robust` is for normal noise, which {name} does not have: leave it out.")
        sensor = StudentT(sensor.noise_ratio, sensor.noise_floor, degrees)
    own = ("noise_ratio", "noise_floor", "spread")
    given: dict[str, KnownOrDistribution] = {key: getattr(sensor, key) for key in own if hasattr(sensor, key)}
    numbers = override(given, {}, noise, f"noise of {name}")
    sensor = _sensor(replace(sensor, **nominal(numbers)), numbers, layout, unit)
    if layout.distributions:
        prior = ExtendedPrior(prior, tuple(layout.distributions), tuple(layout.named))
    whole = layout.arrange(inner)
    return Model(prior, whole, _above_background(sensor, numbers, whole, background))


def _above_background(
    sensor: Any,
    numbers: Mapping[str, KnownOrDistribution],
    whole: Field,
    background: KnownOrDistribution | str | None,
    counts: bool = False,
) -> Sensor:
    """Return a sensor whose noise is proportional to the field above its background."""
    if background is None or "noise_ratio" not in numbers:
        return sensor
    if counts:
        return sensor if isinstance(sensor, Counting) else OverBackground(sensor, remove_source(whole))
    return AboveBackground(sensor, remove_source(whole))
