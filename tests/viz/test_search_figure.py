"""The pictures of a search: complete, labelled, alike however they are drawn, and silent about the truth."""

import numpy as np
import pytest
from PIL import Image

from dowsax.viz.search_animation import MAX_SNAPSHOTS, draw_images, snapshot_readings, write_gif
from dowsax.viz.search_figure import SearchFigure, Subject, Truth
from dowsax.viz.style import styled

from .searches import CENTRE, contracting, snapshot

SUBJECT = Subject("A search", "K", contraction=None, credible=0.95)
TRUTH = Truth(CENTRE + 0.3, "STOP")


def pixels(snapshots, truth=TRUTH, subject=SUBJECT):
    return [np.asarray(picture) for picture in draw_images(subject, snapshots, truth)]


@pytest.mark.parametrize("number", [1, 2, MAX_SNAPSHOTS, MAX_SNAPSHOTS + 1, 200])
def test_frames_are_readings_evenly_thinned(number):
    chosen = snapshot_readings(number)
    assert len(chosen) == min(number, MAX_SNAPSHOTS)
    assert (chosen[0], chosen[-1]) == (1, number)
    gaps = set(np.diff(chosen))
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_the_truth_shows_in_the_last_frame_alone():
    """Two searches that differ by the truth look the same until they end."""
    here, there = pixels(contracting(4)), pixels(contracting(4), Truth(np.array([20.0, 20.0]), "STOP"))
    assert all((one == other).all() for one, other in zip(here[:-1], there[:-1], strict=True))
    assert (here[-1] != there[-1]).any()


def test_a_frame_shows_only_what_was_known_then():
    """Later readings are not in it: the curves and the path end at the newest."""
    with styled():
        drawing = SearchFigure(SUBJECT, contracting(6))
        drawing.draw(3)
    assert list(drawing.curves[0].get_xdata()) == [1, 2, 3]
    assert len(drawing.path.get_xdata()) == len(drawing.readings.get_offsets()) == 3
    assert len(drawing.position.star.get_xdata()) == 0
    assert not drawing.truth_label.get_visible()


def test_drawing_over_a_copy_is_drawing():
    """What is kept between frames does not show: a figure drawn as a whole is the same but at the rims."""
    snapshots = contracting(5)
    quick = pixels(snapshots)[-1].astype(int)
    with styled():
        drawing = SearchFigure(SUBJECT, snapshots)
        drawing.draw(5, TRUTH)
        drawing.figure.set_dpi(100)
        drawing.figure.canvas.draw()
        whole = np.asarray(drawing.figure.canvas.buffer_rgba())[..., :3].astype(int)
    assert np.mean(np.abs(quick - whole).max(axis=2) > 64) < 0.002


def test_axes_are_labelled_with_units():
    with styled():
        figure = SearchFigure(SUBJECT, contracting(5)).draw(5)
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    assert labels == [
        ("x, east [m]", "y, north [m]"), ("", "spread [m]"), ("", "probability"), ("reading number", "[K]")
    ]  # fmt: skip
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "stop from 0.95" in texts


def test_the_animation_opens_and_holds_its_end(tmp_path):
    path = tmp_path / "search.gif"
    assert write_gif(path, draw_images(SUBJECT, contracting(5), TRUTH), fps=10) == 5
    with Image.open(path) as animation:
        assert animation.n_frames == 5
        assert animation.size == (900, 500)
        assert animation.info["duration"] == 100
        assert animation.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
        animation.seek(4)
        assert animation.info["duration"] == 2100
    assert path.stat().st_size < 5 * 60_000


DEGENERATE = {
    "a single reading": [snapshot(1)],
    "silence": [snapshot(number, reading=0.0) for number in (1, 2, 3)],
    "no spread": [snapshot(1), snapshot(2, spread=0.0)],
    "no particle left": [snapshot(1), snapshot(2, has_particles=False)],
    "never a particle": [snapshot(1, has_particles=False)],
    "negative readings": [snapshot(number, reading=-20.0 - number) for number in (1, 2)],
    "noise about zero": [snapshot(1, reading=-0.01), snapshot(2, reading=5.0)],
    "a belief at the border": [snapshot(1), snapshot(2, centre=np.zeros(2), spread=0.05)],
}


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("snapshots", DEGENERATE.values(), ids=DEGENERATE)
def test_every_search_draws_without_a_warning(snapshots):
    """Warnings are errors in tests."""
    assert len(pixels(snapshots, subject=SUBJECT._replace(contraction=0.5, credible=None))) == len(snapshots)
