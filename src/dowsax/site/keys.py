"""The keys of a site file, section by section: what each may be, and the Site they make."""

from collections.abc import Mapping

from dowsax.geo.polygons import Bounds
from dowsax.geo.wind import wind_from
from dowsax.site.checks import require_sense
from dowsax.site.column_names import ROLES
from dowsax.site.distributions import law
from dowsax.site.kinds import KINDS, checked_unit, parameter_names, usual_preset
from dowsax.site.places import area_of, polygons, start, step
from dowsax.site.settings import (
    BackgroundSetting,
    Budget,
    FlightSetting,
    LawSetting,
    NoiseSetting,
    SearchSetting,
    SensorSetting,
    WindSetting,
)
from dowsax.site.site import Site
from dowsax.site.text import Keys, parsed, shown
from dowsax.world.fields.gaussian_plume import BRIGGS
from dowsax.world.units import MOLAR_MASSES

DIRECTION_ERROR, MOST_DIRECTION_ERROR = 10.0, 45.0
"""[°], of a measured wind: as it scatters within minutes in neutral air, Pasquill's class D."""
SECTIONS = (
    "name",
    "area",
    "geofence",
    "no_go",
    "field",
    "prior",
    "background",
    "noise",
    "wind",
    "sensor",
    "start",
    "step",
    "budget",
    "search",
    "flight",
    "columns",
    "rows",
)


def understood(text: str, name: str) -> Site:
    """The site a text describes, or a ValueError in one line that names file, line, key and what to do."""
    top = parsed(name, text, *SECTIONS)
    top.require("area", "field")
    frame, area, outside, source = area_of(top)
    kind, unit, gas, options, growth = _field(top)
    wind = _wind(top, kind)
    geofence, no_go = (polygons(top, key, frame, area) for key in ("geofence", "no_go"))
    site = Site(
        name=top.text("name", "site"),
        frame=frame,
        area=area,
        kind=kind,
        unit=unit,
        source=source,
        gas=gas,
        options=options,
        geofence=geofence,
        no_go=no_go,
        prior={**growth, **_prior(top, kind, parameter_names(kind, unit, wind.mode == "unknown"))},
        background=_background(top),
        noise=_noise(top, kind),
        wind=wind,
        sensor=_sensor(top, kind),
        start=start(top, frame, Bounds(geofence, no_go), area, outside),
        step=step(top, frame, area),
        budget=_budget(top),
        search=_search(top, kind),
        flight=_flight(top),
        outside=outside,
        columns=_columns(top),
        rows=_texts(top.table("rows", free=True)),
        file=name,
        text=text,
    )
    require_sense(site)
    # Whatever the physics has to object comes now, and not after the flight.
    site.model(("one", "other"))
    return site


def _field(
    top: Keys,
) -> tuple[str, str, str | float | None, Mapping[str, float], Mapping[str, LawSetting]]:
    """Kind, unit, gas and further numbers of the field, and laws of how a plume grows."""
    every = ("kind", "unit", "gas", "growth", "size", "standoff", "inclination", "declination")
    keys = top.table("field", *every)
    keys.require("kind")
    kind = keys.word("kind", "", tuple(KINDS))
    known = (*KINDS[kind].options, *(["gas", "growth"] if kind == "gas-plume" else []))
    for key in every[2:]:
        if key in keys and key not in known:
            raise keys.error(key, f"{kind} has none; leave it out.")
    gas = None
    if "gas" in keys:
        is_name = isinstance(keys.raw("gas"), str)
        gas = keys.word("gas", "", tuple(MOLAR_MASSES)) if is_name else keys.number("gas", above=0.0)
    options = {key: keys.number(key) or 0.0 for key in KINDS[kind].options if key in keys}
    grows = keys.word("growth", "briggs", ("briggs", "unknown")) == "unknown"
    growth = dict.fromkeys(BRIGGS if grows else (), LawSetting("unknown"))
    return kind, checked_unit(keys, kind), gas, options, growth


def _prior(top: Keys, kind: str, names: tuple[str, ...]) -> Mapping[str, LawSetting]:
    keys = top.table("prior", *names)
    laws = {name: law(keys, name) for name in keys}
    found = {name: setting for name, setting in laws.items() if setting is not None}
    if not KINDS[kind].is_benchmark:
        return found
    for name, setting in found.items():
        wanted, form = ("known", "a number") if name.startswith("max_") else ("range", "[low, high]")
        if setting.law not in (wanted, "unknown"):
            raise keys.error(name, f"must be {form} for a benchmark field; got {shown(keys.raw(name))}.")
    return {name: setting for name, setting in found.items() if setting.law != "unknown"}


def _background(top: Keys) -> BackgroundSetting:
    keys = top.table("background", "mode", "value", "range")
    usual = "known" if "value" in keys else "unknown" if "range" in keys else "usual"
    mode = keys.word("mode", usual, ("usual", "none", "known", "unknown", "per-sensor"))
    if mode == "known":
        keys.require("value")
        value = keys.number("value")
        return BackgroundSetting(mode, LawSetting("known", value or 0.0))
    if "value" in keys:
        raise keys.error("value", 'is for mode = "known"; give a range where it is not known.')
    if mode in ("none", "usual") and "range" in keys:
        raise keys.error("range", 'is for an unknown background; leave it out, or set mode = "unknown".')
    return BackgroundSetting(mode, law(keys, "range"))


def _noise(top: Keys, kind: str) -> NoiseSetting:
    keys = top.table("noise", "floor", "ratio", "robust", "edge")
    for key in keys if kind in ("radiation", "energy") else ():
        raise keys.error(key, "counts have a noise of their own, Poisson's; leave [noise] out.")
    robust = keys.raw("robust") if "robust" in keys else False
    if not isinstance(robust, bool):
        robust = keys.number("robust", above=0.0) or 0.0
    if "edge" in keys and kind != "gas-plume":
        raise keys.error("edge", f"is that of a gas plume; leave it out for the kind {kind}.")
    edge = keys.number("edge", 0.0, least=0.0, most=0.9) or 0.0
    return NoiseSetting(law(keys, "floor", positive=True), law(keys, "ratio", positive=True), robust, edge)


def _wind(top: Keys, kind: str) -> WindSetting:
    keys = top.table("wind", "mode", "velocity", "speed", "from", "missing", "direction_error")
    for key in () if KINDS[kind].uses_wind else keys:
        why = "its wind is inferred with the source" if KINDS[kind].is_benchmark else "wind does not matter"
        raise keys.error(key, f"{why} for the kind {kind}; leave [wind] out.")
    constant = any(key in keys for key in ("velocity", "speed", "from"))
    mode = keys.word("mode", "constant" if constant else "measured", ("measured", "constant", "unknown"))
    missing = keys.word("missing", "leave-out", ("leave-out", "interpolate", "refuse"))
    if mode != "measured" and "direction_error" in keys:
        raise keys.error("direction_error", f'is for mode = "measured"; with mode = "{mode}" leave it out.')
    if mode != "constant":
        for key in ("velocity", "speed", "from"):
            if key in keys:
                raise keys.error(key, f'is for mode = "constant"; with mode = "{mode}" leave it out.')
        usual = DIRECTION_ERROR if mode == "measured" and KINDS[kind].uses_wind else 0.0
        error = keys.number("direction_error", usual, least=0.0, most=MOST_DIRECTION_ERROR)
        return WindSetting(mode, None, missing, error or 0.0)
    if "velocity" in keys:
        for key in ("speed", "from"):
            if key in keys:
                raise keys.error(key, "give velocity, or speed and from, not both.")
        return WindSetting(mode, keys.pair("velocity"), missing)
    keys.require("speed", "from")
    wind = wind_from(keys.number("speed", least=0.0), keys.number("from", least=-360.0, most=360.0))
    return WindSetting(mode, (float(wind[0]), float(wind[1])), missing)


def _sensor(top: Keys, kind: str) -> SensorSetting:
    keys = top.table("sensor", "names", "lag", "dwell", "dead_time", "height", "ground", "redundancy")
    if "dead_time" in keys and kind != "radiation":
        raise keys.error("dead_time", "is for counts of the kind radiation; leave it out.")
    if "dwell" in keys and not KINDS[kind].counts:
        raise keys.error("dwell", f"is for counts, and does not matter for the kind {kind}; leave it out.")
    for key in ("height", "ground") if KINDS[kind].is_benchmark else ():
        if key in keys:
            raise keys.error(key, "heights do not matter for a benchmark field; leave it out.")
    names = keys.texts("names")
    if len(set(names)) != len(names):
        raise keys.error("names", "a name occurs twice; every sensor needs its own.")
    return SensorSetting(
        names=names,
        lag=law(keys, "lag", positive=True),
        dwell=keys.number("dwell", above=0.0),
        dead_time=keys.number("dead_time", least=0.0),
        height=keys.number("height", least=0.0),
        ground=keys.number("ground", 0.0) or 0.0,
        redundancy=keys.number("redundancy", least=1.0),
    )


def _budget(top: Keys) -> Budget:
    keys = top.table("budget", "distance", "readings", "time")
    return Budget(
        keys.number("distance", above=0.0), keys.whole("readings", least=1), keys.number("time", above=0.0)
    )


def _search(top: Keys, kind: str) -> SearchSetting:
    keys = top.table("search", "preset", "particles", "radius", "probability", "may_jump")
    return SearchSetting(
        preset=keys.word("preset", usual_preset(kind), ("default", "survey", "paper")),
        particles=keys.whole("particles", least=16, most=1_000_000),
        radius=keys.number("radius", above=0.0),
        probability=keys.number("probability", 0.95, above=0.5, most=0.999) or 0.95,
        may_jump=keys.flag("may_jump", False),
    )


def _flight(top: Keys) -> FlightSetting:
    keys = top.table("flight", "height", "speed", "hold")
    return FlightSetting(
        height=keys.number("height", above=0.0, most=10_000.0),
        speed=keys.number("speed", 5.0, above=0.0, most=100.0) or 5.0,
        hold=keys.number("hold", least=0.0),
    )


def _columns(top: Keys) -> Mapping[str, str]:
    return _texts(top.table("columns", *ROLES))


def _texts(keys: Keys) -> Mapping[str, str]:
    return {key: keys.text(key, "") for key in keys}
