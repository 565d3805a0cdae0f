"""Figures. Importing this package imports matplotlib; no package below it does."""

from dowsax.viz.belief import belief_figure
from dowsax.viz.style import save

__all__ = ["belief_figure", "save"]
