"""Findings as files other programs read: each a pure function from findings to text."""

from dowsax.mission.export.geojson import geojson
from dowsax.mission.export.kml import kml
from dowsax.mission.export.qgc import qgc_plan
from dowsax.mission.export.table import log_table, posterior_table, readings_table

__all__ = ["geojson", "kml", "log_table", "posterior_table", "qgc_plan", "readings_table"]
