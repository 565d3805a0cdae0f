"""The map in characters: north is up, marks are where they belong, the truth only if told."""

import numpy as np

from dowsax.viz.terminal_map import ESTIMATE, SENSOR, TRUTH, terminal_map

from .searches import snapshot

SIZE = 50


def find(text, mark):
    """Line and column of a mark, or nothing."""
    for line, characters in enumerate(text.plain.splitlines()):
        if mark in characters:
            return line, characters.index(mark)
    return None


def test_marks_are_where_they_belong():
    """Half a metre a column and a metre a line; the sensor is at (1.5, 3), the estimate near (20, 20)."""
    newest = snapshot(1, spread=0.1, centre=np.array([20.0, 20.0]))
    text = terminal_map([newest], SIZE)
    lines = text.plain.splitlines()
    assert len(lines) == SIZE // 2
    assert {len(line) for line in lines} == {SIZE}
    assert find(text, SENSOR) == (21, 3)
    line, column = find(text, ESTIMATE)
    assert abs(line - 5) <= 1
    assert abs(column - 40) <= 1


def brightness(text, line, column):
    style = next(span.style for span in text.spans if span.start <= line * (SIZE + 1) + column < span.end)
    return sum(style.bgcolor.triplet)


def test_likely_places_are_bright():
    text = terminal_map([snapshot(1, spread=1.0, centre=np.array([20.0, 20.0]))], SIZE)
    assert brightness(text, 5, 39) > 2 * brightness(text, 20, 39)


def test_the_truth_only_if_given():
    snapshots = [snapshot(1), snapshot(2)]
    assert find(terminal_map(snapshots, SIZE), TRUTH) is None
    assert find(terminal_map(snapshots, SIZE, np.array([24.9, 0.1])), TRUTH) == (24, 49)


def test_a_belief_without_particles_has_no_estimate():
    text = terminal_map([snapshot(1, has_particles=False)], 12)
    assert find(text, ESTIMATE) is None
    assert find(text, SENSOR) is not None
