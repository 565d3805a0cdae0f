"""Pictures of what is believed. Importing this imports matplotlib; nothing below it does."""

from dowsax.viz.beliefs import belief_figure
from dowsax.viz.style import save

__all__ = ["belief_figure", "save"]
