"""Findings as files other programs read: each a pure function from findings to text."""

from collections.abc import Callable

from dowsax.report.export.geojson import geojson
from dowsax.report.export.kml import kml
from dowsax.report.export.qgc import qgc_plan, take_off_warning
from dowsax.report.export.table import log_table, posterior_table, readings_table
from dowsax.report.findings import Findings

WRITERS: dict[str, Callable[[Findings], str]] = {"geojson": geojson, "kml": kml, "qgc": qgc_plan}
"""Formats of findings that need no pictures, by name."""

__all__ = [
    "WRITERS",
    "geojson",
    "kml",
    "log_table",
    "posterior_table",
    "qgc_plan",
    "readings_table",
    "take_off_warning",
]
