"""The picture of rehearsals: every source is on the map once, in the colour of how its mission ended."""

import numpy as np
import pytest

from dowsax.mission.advice import FOUND, INCONCLUSIVE
from dowsax.mission.rehearsal import Rate, Rehearsal, SimulatedMission
from dowsax.site import parse_site
from dowsax.viz.rehearsal import rehearsal_figure
from dowsax.viz.style import save

SITE = parse_site(
    """
area = {low = [0, 0], high = [60, 40], origin = [52.1, 5.1]}
field = {kind = "level"}
start = {position = [5, 5]}
no_go = [{corners = [[25, 15], [35, 15], [35, 25], [25, 25]]}]
"""
)
ALL = Rate(0, 0, 0.0, 1.0)


def ended(status, source, error, readings=7):
    estimate = None if source is None else (source[0] + error, source[1])
    return SimulatedMission(
        status, source, estimate, None if source is None else error, 1.0, readings, 12.0, 20.0
    )


def made(*missions) -> Rehearsal:
    """Of a stop within 2 m; what the rates say is not drawn."""
    return Rehearsal(
        *("", "yard", "infotaxis", "default, 64 particles", "0"), 0, 1.0, 2.0, 0.95, (), *[ALL] * 5, missions
    )


PATH = np.array([[5.0, 5.0], [15.0, 5.0], [15.0, 20.0]])


def paths(missions):
    return [(PATH, PATH + 20.0)] * len(missions)


def sources(figure, label):
    """Where the marks of this label are on the map (k, 2)."""
    marks = {item.get_label(): item for item in figure.axes[0].collections}
    return np.asarray(marks[label].get_offsets())


def test_every_source_is_drawn_once_as_its_mission_ended(tmp_path):
    missions = [
        ended(FOUND, (10.0, 10.0), 0.5),
        ended(FOUND, (20.0, 30.0), 1.9),
        ended(FOUND, (40.0, 10.0), 2.1, readings=9),
        ended(INCONCLUSIVE, (50.0, 35.0), 9.0, readings=20),
        ended(INCONCLUSIVE, None, 0.0),
    ]
    figure = rehearsal_figure(made(*missions), SITE, paths(missions))
    assert sources(figure, "found").tolist() == [[10.0, 10.0], [20.0, 30.0]]
    assert sources(figure, "wrong: × estimate").tolist() == [[40.0, 10.0]]
    assert sources(figure, "not found").tolist() == [[50.0, 35.0]]
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    assert lines["found"].get_ydata()[-1] == pytest.approx(3 / 4)
    assert lines["of these wrong"].get_ydata()[-1] == pytest.approx(1 / 4)
    assert lines["not found"].get_ydata()[-1] == pytest.approx(1 / 4)
    # A good, a typical and a bad mission, each with its way.
    titles = [axes.get_title("left") for axes in figure.axes[2:]]
    assert titles == [
        "a good mission: found,\n7 readings, 12 m",
        "a typical one: inconclusive,\n20 readings, 12 m",
        "a bad one: found,\n9 readings, 12 m",
    ]
    assert all(len(line.get_xdata()) == 3 for axes in figure.axes[2:] for line in axes.lines[0:3:2])
    assert all(axes.lines[0].get_color() != axes.lines[2].get_color() for axes in figure.axes[2:])
    assert save(figure, tmp_path / "yard.png").stat().st_size > 1000


def test_missions_without_any_source_are_drawn_too(tmp_path):
    figure = rehearsal_figure(made(ended(INCONCLUSIVE, None, 0.0)), SITE, [(PATH,)])
    assert len(sources(figure, "found")) == 0
    assert save(figure, tmp_path / "nothing.png").stat().st_size > 1000
