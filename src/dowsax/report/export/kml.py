"""Findings as KML 2.2, for globes and phones."""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from dowsax.report.export.places import places, region_rings
from dowsax.report.findings import Findings, Track
from dowsax.report.summary import verdict

_NAMESPACE = "http://www.opengis.net/kml/2.2"
_READING_COLOURS = ("ffffffb2", "fffecc5c", "fffd8d3c", "fff03b20", "ffbd0026")
"""From the least readings to the greatest, as alpha, red, green, blue."""
_AREAS = {
    "geofence": ("ff009e73", "00000000"),
    "no-go area": ("ffd55e00", "55d55e00"),
    "obstacle": ("ff22303c", "aa7b8894"),
}
"""Colours of line and filling."""


def kml(findings: Findings) -> str:
    """A document of regions, track, readings, estimate, next waypoints, geofence, no-go areas, obstacles.

    A ValueError where the site has no latitude and longitude: KML knows no other coordinates.
    """
    if not findings.coordinates.is_geographic:
        raise ValueError(
            "KML needs latitude and longitude: `origin = [latitude, longitude]` in [area] of the site file."
        )
    root = Element("kml", xmlns=_NAMESPACE)
    document = SubElement(root, "Document")
    _text(document, "name", findings.name)
    _text(document, "description", verdict(findings))
    _styles(document, findings)
    _areas(document, findings)
    _regions(document, findings)
    _track(document, findings)
    _readings(document, findings)
    _points(document, findings)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _styles(document: Element, findings: Findings) -> None:
    for number, colour in enumerate(_READING_COLOURS):
        style = _icon_style(document, f"reading-{number}", colour, 0.6, labelled=False)
        _line(style, colour, 3.0)
    _icon_style(document, "estimate", "ff22303c", 1.4, labelled=True)
    _icon_style(document, "guess", "ff7b8894", 1.1, labelled=True)
    _icon_style(document, "waypoint", "ff009e73", 1.0, labelled=True)
    _line_style(document, "track", "ff7b8894", 1.5, None)
    for number, track in enumerate(findings.team):
        _line_style(document, f"track-{number}", f"ff{track.colour[1:]}", 2.0, None)
    _line_style(document, "next-path", "ff009e73", 4.0, None)
    _line_style(document, "region-50", "ff0072b2", 2.5, "660072b2")
    _line_style(document, "region-95", "ff0072b2", 1.5, "330072b2")
    for what, (line, filling) in _AREAS.items():
        _line_style(document, what.replace(" ", "-"), line, 2.0, filling)


def _areas(document: Element, findings: Findings) -> None:
    named = [("geofence", polygon) for polygon in findings.geofence]
    named += [("no-go area", polygon) for polygon in findings.no_go]
    for what, polygon in named:
        placemark = _placemark(document, what.capitalize(), what.replace(" ", "-"))
        _polygon(placemark, [places(findings, polygon)])
    for obstacle in findings.obstacles:
        placemark = _placemark(document, obstacle.name or "Obstacle", "obstacle")
        _polygon(placemark, [places(findings, obstacle.corners)])


def _regions(document: Element, findings: Findings) -> None:
    for probability, region in sorted(findings.regions.items(), reverse=True):
        share = f"{100 * probability:.0f}"
        style = "region-50" if probability <= 0.5 else "region-95"
        placemark = _placemark(document, f"{share} % region, {region.area:.3g} m²", style)
        pieces = SubElement(placemark, "MultiGeometry")
        for rings in region_rings(findings, region):
            _polygon(pieces, rings)


def _track(document: Element, findings: Findings) -> None:
    for number, track in enumerate(findings.tracks):
        if len(track.places) < 2:
            continue
        style = f"track-{number}" if track.name else "track"
        line = SubElement(_placemark(document, f"Track {track.name}".strip(), style), "LineString")
        _text(line, "tessellate", "1")
        _text(line, "coordinates", _coordinates(places(findings, track.places)))


def _readings(document: Element, findings: Findings) -> None:
    """Points and paths in a folder of their own, in five colours of equally many."""
    folder = SubElement(document, "Folder")
    _text(folder, "name", "Readings")
    ranks = np.searchsorted(np.sort(findings.values), findings.values)
    extras = {"line": findings.lines, "time_s": findings.time, "altitude_m": findings.altitude}
    for number, value in enumerate(findings.values):
        colour = len(_READING_COLOURS) * int(ranks[number]) // len(findings.values)
        name = f"{value:.4g} {findings.unit}".strip()
        placemark = _placemark(folder, name, f"reading-{colour}")
        data = {"value": value} | {
            name: column[number] for name, column in extras.items() if column is not None
        }
        extended = SubElement(placemark, "ExtendedData")
        for key, quantity in data.items():
            _text(SubElement(extended, "Data", name=key), "value", f"{quantity:.9g}")
        ends = findings.ends[number] if findings.is_path[number] else findings.positions[number][None]
        shape = SubElement(placemark, "Point" if len(ends) == 1 else "LineString")
        _text(shape, "coordinates", _coordinates(places(findings, ends)))


def _points(document: Element, findings: Findings) -> None:
    name, style = ("Estimate", "estimate") if findings.is_sure else ("Guess, not sure", "guess")
    numbers = [""] if len(findings.sources) == 1 else [f" {at + 1}" for at in range(len(findings.sources))]
    named = [
        (f"{name}{number}", style, verdict(findings), source.position, None)
        for number, source in zip(numbers, findings.sources, strict=True)
    ]
    named += [
        (f"Next waypoint {_name_of(track, number)}", "waypoint", "", place, track.heights[number])
        for track in findings.tracks
        for number, place in enumerate(track.waypoints)
    ]
    for name, style, description, place, height in named:
        point = SubElement(_placemark(document, name, style, description), "Point")
        coordinates = _coordinates(places(findings, place[None]))
        if height is not None:
            _text(point, "altitudeMode", "relativeToGround")
            coordinates += f",{height:g}"
        _text(point, "coordinates", coordinates)
    lines = [] if findings.next_path is None else [("Next path", findings.next_path)]
    lines += [
        (f"Next way {track.name}".strip(), track.whole_next_way) for track in findings.tracks if track.has_way
    ]
    for name, line in lines:
        shape = SubElement(_placemark(document, name, "next-path"), "LineString")
        _text(shape, "coordinates", _coordinates(places(findings, line)))


def _name_of(track: Track, number: int) -> str:
    """Return what a waypoint is called: by its searcher, and by its number where there are several."""
    parts = [track.name] if track.name else []
    return " ".join(parts if parts and len(track.waypoints) == 1 else [*parts, str(number + 1)])


def _placemark(parent: Element, name: str, style: str, description: str = "") -> Element:
    placemark = SubElement(parent, "Placemark")
    _text(placemark, "name", name)
    if description:
        _text(placemark, "description", description)
    _text(placemark, "styleUrl", f"#{style}")
    return placemark


def _polygon(parent: Element, rings: Sequence[np.ndarray]) -> None:
    """The border first, and then the holes."""
    polygon = SubElement(parent, "Polygon")
    _text(polygon, "tessellate", "1")
    for number, ring in enumerate(rings):
        boundary = SubElement(polygon, "innerBoundaryIs" if number else "outerBoundaryIs")
        closed = np.concatenate([ring, ring[:1]])
        _text(SubElement(boundary, "LinearRing"), "coordinates", _coordinates(closed))


def _coordinates(lon_lat: np.ndarray) -> str:
    """longitude,latitude of each place, with a space between; longitudes end at 180."""
    longitudes, latitudes = lon_lat.T
    beyond = np.copysign(360, longitudes) * (np.abs(longitudes) > 180)
    pairs = zip(longitudes - beyond, latitudes, strict=True)
    return " ".join(f"{longitude:.9f},{latitude:.9f}" for longitude, latitude in pairs)


def _icon_style(document: Element, name: str, colour: str, scale: float, *, labelled: bool) -> Element:
    """Add a style for the viewer's own icon, with colour and size, so that no picture is fetched."""
    style = SubElement(document, "Style", id=name)
    drawn = SubElement(style, "IconStyle")
    _text(drawn, "color", _kml_colour(colour))
    _text(drawn, "scale", str(scale))
    _text(SubElement(style, "LabelStyle"), "scale", "0.8" if labelled else "0")
    return style


def _line_style(document: Element, name: str, colour: str, width: float, filling: str | None) -> None:
    style = SubElement(document, "Style", id=name)
    _line(style, colour, width)
    if filling is not None:
        _text(SubElement(style, "PolyStyle"), "color", _kml_colour(filling))


def _line(style: Element, colour: str, width: float) -> None:
    line = SubElement(style, "LineStyle")
    _text(line, "color", _kml_colour(colour))
    _text(line, "width", str(width))


def _kml_colour(colour: str) -> str:
    """Return a colour in the order of KML: alpha, blue, green, red."""
    return colour[:2] + colour[6:8] + colour[4:6] + colour[2:4]


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text
