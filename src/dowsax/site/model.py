"""The model of a site: its settings as laws, handed to `world.compose`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dowsax.site.kinds import KINDS, world_unit
from dowsax.site.settings import LawSetting
from dowsax.site.site import Site
from dowsax.site.text import complaint
from dowsax.world import Model, UniformBox
from dowsax.world.compose import compose
from dowsax.world.kinds import LAG, WIND, Number, kind_of
from dowsax.world.laws import LogNormal, LogUniform, Normal, Uniform

_LAWS: dict[str, Callable[[float, float], Any]] = {
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "normal": Normal,
    "log-normal": LogNormal,
}


def model(site: Site, sensor_names: Sequence[str]) -> Model:
    """What a site says of source, field and sensor; errors name the file, and the key where it is known."""
    location = UniformBox(*site.source_area)
    facts, altitude = KINDS[site.kind], site.sensor.height
    settings: dict[str, Any] = {} if facts.is_benchmark else {"unit": world_unit(site.unit), "gas": site.gas}
    if facts.is_benchmark:
        settings["options"] = {name: _range(law) for name, law in site.prior.items()}
    else:
        settings["laws"] = _laws(site)
        settings["options"] = {**site.options, **({} if altitude is None else {"altitude": altitude})}
    if facts.uses_wind:
        settings["edge"] = site.noise.edge
        settings["wind"] = site.wind.velocity or site.wind.mode
        settings["direction_error"] = site.wind.direction_error
    try:
        return compose(
            site.kind,
            location,
            background=_background(site),
            sensors=_sensors(site, sensor_names),
            noise=_noise(site),
            robust=site.noise.robust,
            redundancy=site.sensor.redundancy or 1.0,
            dead_time=site.sensor.dead_time or 0.0,
            lag=_lag(site),
            **settings,
        )
    except ValueError as error:
        named = str(error).startswith(site.file)
        raise error if named else ValueError(f"{site.file}: {error}") from None


def _laws(site: Site) -> Mapping[str, Number]:
    kind = kind_of(site.kind, world_unit(site.unit), site.gas)
    defaults: dict[str, Number] = {
        parameter.name: law for parameter, law in zip(kind.parameters, kind.laws, strict=True)
    }
    defaults |= {parameter.name: law for parameter, law in WIND}
    return {name: _number(site, f"prior.{name}", law, defaults[name]) for name, law in site.prior.items()}


def _background(site: Site) -> Number | str | None:
    setting = site.background
    if setting.mode in ("usual", "none"):
        return None if setting.mode == "none" else "usual"
    if setting.law is None or setting.law.law == "unknown":
        return "unknown"
    if KINDS[site.kind].is_benchmark:
        return _number(site, "background.range", setting.law, None)
    default = kind_of(site.kind, world_unit(site.unit), site.gas).background
    return _number(site, "background.range", setting.law, default)


def _sensors(site: Site, sensor_names: Sequence[str]) -> Sequence[str]:
    if site.background.mode != "per-sensor":
        return ()
    names = site.sensor.names or tuple(sensor_names)
    if not names:
        raise complaint(
            site.file,
            site.text,
            "background.mode",
            "which sensors are there? Give their `names` in [sensor], or a column sensor in the survey.",
        )
    return names


def _noise(site: Site) -> Mapping[str, Number]:
    benchmark = KINDS[site.kind].is_benchmark
    defaults = {} if benchmark else kind_of(site.kind, world_unit(site.unit), site.gas).noise
    given = {"noise_floor": ("floor", site.noise.floor), "noise_ratio": ("ratio", site.noise.ratio)}
    return {
        name: _number(site, f"noise.{key}", law, defaults.get(name))
        for name, (key, law) in given.items()
        if law is not None
    }


def _lag(site: Site) -> Number | str | None:
    if site.sensor.lag is None:
        return None
    return (
        "unknown"
        if site.sensor.lag.law == "unknown"
        else _number(site, "sensor.lag", site.sensor.lag, LAG[1])
    )


def _range(law: LawSetting) -> float | tuple[float, float]:
    return law.first if law.law == "known" else (law.first, law.second)


def _number(site: Site, key: str, law: LawSetting, default: Number | None) -> Number:
    """The law, or the known number, of a setting; a plain range has the scale of the default law."""
    if law.law == "known":
        return law.first
    if law.law == "unknown":
        if default is None:
            raise complaint(site.file, site.text, key, "there is no usual law of this; give [low, high].")
        return default
    kind = law.law
    if kind == "range":
        kind = "log-uniform" if getattr(default, "logarithmic", False) else "uniform"
    try:
        return _LAWS[kind](law.first, law.second)
    except ValueError as error:
        raise complaint(site.file, site.text, key, str(error)) from None
