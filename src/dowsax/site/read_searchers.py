"""The searchers of a site file, checked and in metres."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dowsax.geo.polygons import Bounds
from dowsax.site.obstacles import Corner
from dowsax.site.places import check_polygon, resolve_places
from dowsax.site.plain_names import plain_name
from dowsax.site.searcher import MAX_SEARCHERS, Searcher, SearcherSetting
from dowsax.site.site import Site
from dowsax.site.text import Fault


def resolve_searchers(settings: Sequence[SearcherSetting], site: Site) -> tuple[Searcher, ...]:
    """Return the searchers of a site: at most 20, with different names, each starting where it may be."""
    if len(settings) > MAX_SEARCHERS:
        words = f"there must be at most {MAX_SEARCHERS}; got {len(settings):,}."
        raise Fault(words, "searcher", str(len(settings)))
    if settings and site.paths:
        raise Fault("cannot be used with [[paths]]: remove one of them.", "searcher", "1")
    found: dict[str, Searcher] = {}
    for number, setting in enumerate(settings, start=1):
        table = "searcher", str(number)
        if setting.name != setting.name.strip() or not setting.name.isprintable():
            raise Fault("must be printable text without spaces around it.", *table, "name")
        _require_own_name(setting.name, found, *table)
        found[setting.name] = _resolve(setting, site, *table)
    return tuple(found.values())


def _require_own_name(name: str, others: Iterable[str], *table: str) -> None:
    """Raise a Fault where another searcher has this name, or the same topic and file of a plan."""
    for other in others:
        if other.casefold() == name.casefold():
            raise Fault(f"must be a name that no other searcher has; got {name!r} twice.", *table, "name")
        if plain_name(other).casefold() == plain_name(name).casefold():
            words = f"must differ from {other!r} in letters or digits; got {name!r}."
            raise Fault(words, *table, "name")


def _resolve(setting: SearcherSetting, site: Site, *table: str) -> Searcher:
    fence_key, fence = resolve_places(setting, "geofence", site.coordinates, site.area, *table)
    if fence is not None:
        fence = check_polygon(fence, *table, fence_key)
        if site.is_outside(fence):
            raise Fault("lies outside the area; check its corners against [area].", *table, fence_key)
    key, places = resolve_places(setting, "start", site.coordinates, site.area, *table)
    same = {name: getattr(setting, name) for name in ("speed", "height", "distance", "readings", "time")}
    searcher = Searcher(setting.name, geofence=fence, heights=tuple(setting.heights or ()), **same)
    if places is not None:
        x, y = places[0].tolist()
        searcher = replace(searcher, start=(x, y))
    elif fence is None and sensor_height(searcher, site) == site.sensor.height:
        return searcher
    if places is None:
        own = "heights" if setting.height is None else "height"
        key = own if fence is None else fence_key
    _check_start(searcher, site, *table, key)
    return searcher


def sensor_height(searcher: Searcher, site: Site) -> float | None:
    """Return the height [m] of a searcher's sensor, where it begins and a reading does not say."""
    if searcher.height is not None:
        return searcher.height
    usual, own = site.sensor.height, searcher.heights
    return usual if not own or usual in own else own[0]


def heights_of(searcher: Searcher, site: Site) -> tuple[float, ...]:
    """Return the heights [m] at which a searcher reads, from the lowest; none where the site lists none."""
    if searcher.heights or not site.heights:
        return searcher.heights
    return site.heights if searcher.height is None else (searcher.height,)


def bounds_of(searcher: Searcher, site: Site, height: float | None = None) -> Bounds:
    """Return where a searcher may be at a height [m]. Default: that of its sensor."""
    height = sensor_height(searcher, site) if height is None else height
    if searcher.geofence is None:
        return site.bounds if height == site.sensor.height else site.bounds_at(height)
    return replace(site.bounds_at(height), geofence=(searcher.geofence,))


def _check_start(searcher: Searcher, site: Site, *keys: str) -> None:
    """Raise a Fault where a searcher would start where it may not be."""
    start: Corner = searcher.start or site.start or site.middle
    words = f"{searcher.name!r} starts at {site.coordinates.format_both(start)}, which is"
    if site.outside != "allow" and (np.clip(start, *site.area) != start).any():
        raise Fault(f"{words} outside the area; start inside it.", *keys)
    if bounds_of(searcher, site).allow(np.array([start])).all():
        return
    height = sensor_height(searcher, site)
    standing = ((n, one) for n, one in enumerate(site.obstacles) if one.stops(height) and one.covers(start))
    number, obstacle = next(standing, (0, None))
    where = "outside its geofence or in a no-go area"
    if obstacle is not None:
        where = f"in the obstacle {obstacle.title(number)}"
    raise Fault(f"{words} {where}; give it a `start` elsewhere.", *keys)
