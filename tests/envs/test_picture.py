"""The rasteriser on scenes made by hand: marks are where they should be, and nothing breaks at the edges."""

import numpy as np
import pytest

from dowsax.envs.picture import GREEN, INK, SIZE_PX, Scene, draw

LOW, HIGH = np.zeros(2), np.full(2, 25.0)
LEFT, TOP, RIGHT, BOTTOM = 54, 62, 534, 542


def a_scene(**parts) -> Scene:
    whole = Scene(
        LOW,
        HIGH,
        np.full((160, 160), 1.0),
        np.array([[2.0, 2.0], [3.0, 2.0]]),
        np.zeros((16, 2)),
        np.zeros(16),
        np.array([20.0, 5.0]),
        np.array([5.0, 20.0]),
        "reading 2",
    )
    return whole._replace(**parts)


def pixel(place) -> tuple[int, int]:
    """Row and column of a position [m], by hand."""
    x, y = place
    return round(BOTTOM - y / 25 * (BOTTOM - TOP)), round(LEFT + x / 25 * (RIGHT - LEFT))


@pytest.mark.parametrize(
    ("mark", "place", "colour"),
    [("source", (5.0, 20.0), GREEN), ("mean", (20.0, 5.0), INK), ("path", (3.0, 2.0), INK)],
)
def test_marks_are_in_their_place(mark, place, colour):
    row, column = pixel(place)
    assert np.abs(draw(a_scene())[row, column].astype(int) - colour).max() <= 2, mark


def test_north_is_up_and_east_is_right():
    """A field in the north-west is darker there."""
    intensity = np.full((160, 160), 1e-3)
    intensity[120:, :40] = 1.0
    brightness = draw(a_scene(intensity=intensity)).sum(axis=2).astype(int)
    corners = [brightness[pixel(place)] for place in ((1, 24), (24, 24), (1, 1), (24, 1))]
    assert corners[0] < min(corners[1:]) - 100


def test_particles_without_weight_are_not_drawn():
    scene = a_scene(particles=np.tile([12.5, 12.5], (16, 1)))
    there = a_scene(particles=scene.particles, weights=np.full(16, 1 / 16))
    row, column = pixel((12.5, 12.5))
    assert not np.array_equal(draw(scene)[row, column], draw(there)[row, column])
    assert np.array_equal(draw(scene), draw(a_scene()))


@pytest.mark.parametrize("value", [0.0, 1e-30, 1e30, np.nextafter(np.float32(0), np.float32(1))])
def test_any_flat_field_can_be_drawn(value):
    picture = draw(a_scene(intensity=np.full((160, 160), value)))
    assert picture.shape == (SIZE_PX, SIZE_PX, 3)
    assert picture.dtype == np.uint8


def test_a_search_that_has_not_moved_and_particles_far_outside_can_be_drawn():
    scene = a_scene(path=np.array([[0.0, 25.0]]), particles=np.full((16, 2), 400.0), weights=np.full(16, 1.0))
    assert draw(scene).shape == (SIZE_PX, SIZE_PX, 3)
