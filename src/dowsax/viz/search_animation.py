"""A search as a GIF: one frame a reading, and the truth in the last frame alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from dowsax.viz.search_figure import SearchFigure, Subject, Truth
from dowsax.viz.search_snapshots import Snapshot
from dowsax.viz.style import BLUE, DENSITY_COLOURS, GREEN, INK, MUTED, ORANGE, READING_COLOURS, styled

MAX_SNAPSHOTS = 60
"""A longer search is shown in this many frames, evenly spaced, the first and the last reading among them."""
_HELD = 2.0
"""[s], how long the last frame stays."""
_DOTS_PER_INCH = 100
_NEAR_WHITE = 244


def snapshot_readings(num_readings: int) -> list[int]:
    """The numbers of the readings, from 1, that have a frame."""
    if num_readings <= MAX_SNAPSHOTS:
        return list(range(1, num_readings + 1))
    return [round(number) for number in np.linspace(1, num_readings, MAX_SNAPSHOTS)]


def frames(subject: Subject, moments: Sequence[Snapshot], truth: Truth) -> Iterator[Image.Image]:
    """The pictures, 900 × 500 pixels. None but the last is given the truth."""
    numbers = snapshot_readings(len(moments))
    with styled():
        frame = SearchFigure(subject, moments)
        frame.figure.set_dpi(_DOTS_PER_INCH)
        canvas = frame.figure.canvas
        assert isinstance(canvas, FigureCanvasAgg)
        # Axes and labels take most of the time: they are drawn once, and the rest over a copy of them.
        for part in frame.moving():
            part.set_animated(True)
        canvas.draw()
        ground = canvas.copy_from_bbox(frame.figure.bbox)
        for number in numbers:
            frame.draw(number, truth if number == numbers[-1] else None)
            canvas.restore_region(ground)
            for part in frame.moving():
                frame.figure.draw_artist(part)
            yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])


def write_gif(path: Path, pictures: Iterator[Image.Image], fps: int) -> int:
    """Write the frames, the last of them held, and say how many there are."""
    colours = _palette()
    drawn = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in pictures]
    pause = round(1000 / fps)
    durations = [pause] * (len(drawn) - 1) + [pause + round(1000 * _HELD)]
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=False)
    return len(drawn)


def _palette() -> Image.Image:
    """The colours of the house style and their fadings into white: the same for every frame, so that what
    does not change between two frames is not stored again."""
    ramps = [
        np.linspace(to_rgb("white"), to_rgb(colour), count)
        for colour, count in ((INK, 40), (MUTED, 12), (BLUE, 32), (ORANGE, 16), (GREEN, 16))
    ]
    density = DENSITY_COLOURS(np.linspace(0, 1, 60))
    ground = density[:, :3] * density[:, 3:] + 1 - density[:, 3:]
    dots = colormaps[READING_COLOURS](np.linspace(0, 1, 60))[:, :3]
    table = np.round(255 * np.concatenate([*ramps, ground, dots])).astype(np.uint8)
    # Pillow looks colours up in boxes of eight levels: what shares the box of white would tint the ground.
    table = np.concatenate([np.full((1, 3), 255, np.uint8), table[table.min(axis=1) < _NEAR_WHITE]])
    image = Image.new("P", (1, 1))
    image.putpalette(table.tobytes())
    return image
