"""Findings as files other programs read: each a pure function from findings to text."""

from dowsax.report.export.geojson import geojson
from dowsax.report.export.kml import kml
from dowsax.report.export.qgc import qgc_plan
from dowsax.report.export.table import log_table, posterior_table, readings_table

__all__ = ["geojson", "kml", "log_table", "posterior_table", "qgc_plan", "readings_table"]
