"""Pictures. They need the extra `viz`, and matplotlib is imported when one of these names is first used."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowsax.extras import require_extra

if TYPE_CHECKING:
    from dowsax.viz.belief import belief_figure
    from dowsax.viz.calibration import RankCurve, rank_figure
    from dowsax.viz.learning import LearningCurve, learning_figure
    from dowsax.viz.rehearsal import rehearsal_figure
    from dowsax.viz.report import html_report
    from dowsax.viz.search_animation import draw_images, write_gif
    from dowsax.viz.search_figure import SearchFigure, Subject, Truth
    from dowsax.viz.stop_calibration import stop_figure, summarise_stops
    from dowsax.viz.style import save, styled
    from dowsax.viz.survey_map import survey_figure

__all__ = [
    "LearningCurve",
    "RankCurve",
    "SearchFigure",
    "Subject",
    "Truth",
    "belief_figure",
    "draw_images",
    "html_report",
    "learning_figure",
    "rank_figure",
    "rehearsal_figure",
    "save",
    "stop_figure",
    "styled",
    "summarise_stops",
    "survey_figure",
    "write_gif",
]

_MODULES = {
    "LearningCurve": "learning",
    "RankCurve": "calibration",
    "SearchFigure": "search_figure",
    "Subject": "search_figure",
    "Truth": "search_figure",
    "belief_figure": "belief",
    "draw_images": "search_animation",
    "html_report": "report",
    "learning_figure": "learning",
    "rank_figure": "calibration",
    "rehearsal_figure": "rehearsal",
    "save": "style",
    "stop_figure": "stop_calibration",
    "styled": "style",
    "summarise_stops": "stop_calibration",
    "survey_figure": "survey_map",
    "write_gif": "search_animation",
}
"""The module of each name."""
FORMATS = (".png", ".pdf", ".svg")
"""Formats of pictures, by the ending of a file."""


def require_format(path: Path) -> None:
    """Raise a ValueError in one line unless the name ends in a known picture format."""
    if path.suffix.lower() not in FORMATS:
        kind = f"Unknown picture format {path.suffix!r}" if path.suffix else "No picture format"
        raise ValueError(f"{kind} in {path.name!r}: end the name in {', '.join(FORMATS)}.")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dowsax.viz' has no attribute {name!r}")
    require_extra("viz", f"`dowsax.viz.{name}`")
    globals()[name] = value = getattr(import_module(f"dowsax.viz.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
