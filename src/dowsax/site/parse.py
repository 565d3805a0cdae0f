"""From a site file to a Site: the schema, then what the keys mean together, then the physics."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dowsax.geo.polygons import Bounds
from dowsax.geo.wind import wind_from
from dowsax.site.checks import require_sense
from dowsax.site.distributions import Distribution
from dowsax.site.errors import Fault, first_fault, locate
from dowsax.site.kinds import KINDS, why_unused
from dowsax.site.model import build_model
from dowsax.site.places import resolve_area, resolve_polygons, resolve_source, resolve_start, resolve_step
from dowsax.site.priors import check_prior
from dowsax.site.schema import SearchSetting, SiteFile, WindSetting
from dowsax.site.site import Site
from dowsax.site.text import parse_toml, read_text
from dowsax.site.units import known_unit
from dowsax.world.fields.gaussian_plume import BRIGGS


def read_site(path: Path | str) -> Site:
    """Return the site in a TOML file, or raise a ValueError in one line: file, line, key and what to do."""
    return parse_site(read_text(Path(path)), str(path))


def parse_site(text: str, name: str = "site.toml") -> Site:
    """Return the site that a text describes; `name` is that of the file in errors."""
    table = parse_toml(text, name)
    try:
        file = SiteFile.model_validate(table)
        _refuse_unused(table, file.field.kind)
        site = _build(file, text, name)
        require_sense(site)
    except ValidationError as error:
        raise locate(first_fault(error, table), name, text) from None
    except Fault as fault:
        raise locate(fault, name, text) from None
    # What the physics refuses is refused now, and not after the flight.
    build_model(site, ("one", "other"))
    return site


def _build(file: SiteFile, text: str, name: str) -> Site:
    kind = file.field.kind
    coordinates, area = resolve_area(file.area)
    unit = _resolve_unit(file.field.unit, kind)
    growth: dict[str, Distribution] = {}
    if file.field.growth == "unknown":
        growth = dict.fromkeys(BRIGGS, "unknown")
    geofence = resolve_polygons(file.geofence, "geofence", coordinates, area)
    no_go = resolve_polygons(file.no_go, "no_go", coordinates, area)
    return Site(
        name=file.name,
        coordinates=coordinates,
        area=area,
        kind=kind,
        unit=unit,
        source=resolve_source(file.area, area),
        gas=file.field.gas,
        options={option: getattr(file.field, option) for option in file.field.given(*KINDS[kind].options)},
        geofence=geofence,
        no_go=no_go,
        prior={**growth, **check_prior(file.prior, kind, unit, file.wind.mode == "unknown")},
        background=file.background,
        noise=file.noise,
        wind=_resolve_wind(file.wind),
        sensor=file.sensor,
        start=resolve_start(file.start, coordinates, area, Bounds(geofence, no_go), file.area.outside),
        step=resolve_step(file.step, coordinates, area),
        budget=file.budget,
        search=_resolve_search(file.search, kind),
        flight=file.flight,
        outside=file.area.outside,
        columns=file.columns.model_dump(exclude_unset=True),
        rows=file.rows,
        file=name,
        text=text,
    )


def _refuse_unused(table: dict[str, Any], kind: str) -> None:
    """Raise a Fault for the first key that has no use for the kind: who gives it expects something of it."""
    for name, section in table.items():
        for key in section if isinstance(section, dict) else ():
            words = why_unused(kind, name, key)
            if words is not None:
                raise Fault(words, name, key)


def _resolve_unit(given: str | None, kind: str) -> str:
    """Return the unit of the readings, one that the kind can be read in."""
    unit = KINDS[kind].unit if given is None else known_unit(given) or given
    if unit not in KINDS[kind].units:
        known = " or ".join(map(repr, KINDS[kind].units))
        raise Fault(f"{kind} is read in {known}; got {given!r}.", "field", "unit")
    return unit


def _resolve_wind(wind: WindSetting) -> WindSetting:
    """Return the wind with its velocity, and with an error of the direction only where it is measured."""
    if wind.mode == "measured":
        return wind
    velocity = wind.velocity
    if wind.speed is not None and wind.from_ is not None:
        east, north = wind_from(wind.speed, wind.from_)
        velocity = float(east), float(north)
    return wind.model_copy(update={"velocity": velocity, "direction_error": 0.0})


def _resolve_search(search: SearchSetting, kind: str) -> SearchSetting:
    if search.given("preset"):
        return search
    return search.model_copy(update={"preset": "default" if KINDS[kind].is_benchmark else "survey"})
