"""The model of a site: its settings as distributions, handed to `world.compose`."""

from collections.abc import Mapping, Sequence
from typing import Any

from dowsax.site.kinds import KINDS, world_unit
from dowsax.site.section import LogNormalSetting, NormalSetting, ends
from dowsax.site.site import Site
from dowsax.site.text import Fault, add_line
from dowsax.world import Model, UniformBox
from dowsax.world.compose import compose
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform
from dowsax.world.kinds import LAG, WIND, Number, kind_of


def build_model(site: Site, sensor_names: Sequence[str] = ()) -> Model:
    """Return the model of source, field and sensor, for filters and planners.

    `sensor_names`, those of the survey, are needed where each sensor has its own background and the site does
    not name them. Errors name the file, and the key where it is known.
    """
    try:
        return compose(
            site.kind,
            UniformBox(*site.source_area),
            background=_background(site),
            sensors=_sensors(site, sensor_names),
            noise=_noise(site),
            robust=site.noise.robust,
            redundancy=site.sensor.redundancy or 1.0,
            dead_time=site.sensor.dead_time or 0.0,
            lag=_lag(site),
            **(_benchmark_settings(site) if KINDS[site.kind].is_benchmark else _settings(site)),
        )
    except Fault as fault:
        raise add_line(fault, site.file, site.text) from None
    except ValueError as error:
        raise ValueError(f"{site.file}: {error}") from None


def _benchmark_settings(site: Site) -> dict[str, Any]:
    numbers = {name: ends(setting) for name, setting in site.prior.items()}
    return {"options": {name: pair if len(pair) == 2 else pair[0] for name, pair in numbers.items()}}


def _settings(site: Site) -> dict[str, Any]:
    altitude = site.sensor.height
    settings: dict[str, Any] = {
        "unit": world_unit(site.unit),
        "gas": site.gas,
        "distributions": _prior(site),
        "options": {**site.options, **({} if altitude is None else {"altitude": altitude})},
    }
    if KINDS[site.kind].uses_wind:
        settings["edge"] = site.noise.edge
        settings["wind"] = site.wind.velocity or site.wind.mode
        settings["direction_error"] = site.wind.direction_error
    return settings


def _prior(site: Site) -> Mapping[str, Number]:
    kind = kind_of(site.kind, world_unit(site.unit), site.gas)
    usual: dict[str, Number] = {
        parameter.name: distribution
        for parameter, distribution in zip(kind.parameters, kind.distributions, strict=True)
    }
    usual |= {parameter.name: distribution for parameter, distribution in WIND}
    return {name: _number(setting, usual[name], "prior", name) for name, setting in site.prior.items()}


def _background(site: Site) -> Number | str | None:
    setting = site.background
    if setting.mode in ("usual", "none"):
        return None if setting.mode == "none" else "usual"
    if setting.distribution is None or setting.distribution == "unknown":
        return "unknown"
    usual = None
    if not KINDS[site.kind].is_benchmark:
        usual = kind_of(site.kind, world_unit(site.unit), site.gas).background
    return _number(setting.distribution, usual, "background", "range")


def _sensors(site: Site, sensor_names: Sequence[str]) -> Sequence[str]:
    if site.background.mode != "per-sensor":
        return ()
    names = site.sensor.names or tuple(sensor_names)
    if not names:
        words = "which sensors are there? Give their `names` in [sensor], or a column sensor in the survey."
        raise Fault(words, "background", "mode")
    return names


def _noise(site: Site) -> Mapping[str, Number]:
    is_benchmark = KINDS[site.kind].is_benchmark
    usual = {} if is_benchmark else kind_of(site.kind, world_unit(site.unit), site.gas).noise
    given = {"floor": site.noise.floor, "ratio": site.noise.ratio}
    return {
        f"noise_{key}": _number(setting, usual.get(f"noise_{key}"), "noise", key)
        for key, setting in given.items()
        if setting is not None
    }


def _lag(site: Site) -> Number | str | None:
    lag = site.sensor.lag
    if lag is None or lag == "unknown":
        return None if lag is None else "unknown"
    return _number(lag, LAG[1], "sensor", "lag")


def _number(setting: Any, usual: Number | None, *keys: str) -> Number:
    """Return a known number or a distribution; a plain range has the scale of the usual distribution."""
    if isinstance(setting, int | float):
        return setting
    if setting == "unknown":
        if usual is None:
            raise Fault("there is no usual distribution of this; give [low, high].", *keys)
        return usual
    try:
        if isinstance(setting, NormalSetting):
            return Normal(setting.mean, setting.std)
        if isinstance(setting, LogNormalSetting):
            return LogNormal(setting.median, setting.factor)
        is_log = getattr(usual, "logarithmic", False) if setting.scale == "own" else setting.scale == "log"
        return (LogUniform if is_log else Uniform)(setting.low, setting.high)
    except ValueError as error:
        raise Fault(str(error), *keys) from None
