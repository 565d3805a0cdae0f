"""A search as a GIF: one image per reading, with the truth only in the last one."""

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
"""A longer search has this many images, evenly spaced, with the first and the last reading."""
_LAST_IMAGE_S = 2.0
"""How much longer the last image is shown."""
_DOTS_PER_INCH = 100
_NEAR_WHITE = 244


def snapshot_readings(num_readings: int) -> list[int]:
    """Return the numbers of the readings, from 1, that have an image."""
    if num_readings <= MAX_SNAPSHOTS:
        return list(range(1, num_readings + 1))
    return [round(number) for number in np.linspace(1, num_readings, MAX_SNAPSHOTS)]


def draw_images(subject: Subject, snapshots: Sequence[Snapshot], truth: Truth) -> Iterator[Image.Image]:
    """Draw the images, 900 × 500 pixels. Only the last one shows the truth."""
    numbers = snapshot_readings(len(snapshots))
    with styled():
        drawing = SearchFigure(subject, snapshots)
        drawing.figure.set_dpi(_DOTS_PER_INCH)
        canvas = drawing.figure.canvas
        assert isinstance(canvas, FigureCanvasAgg)
        # Axes and labels take most of the time: they are drawn once, the rest over a copy of them.
        for part in drawing.changing_artists():
            part.set_animated(True)
        canvas.draw()
        ground = canvas.copy_from_bbox(drawing.figure.bbox)
        for number in numbers:
            drawing.draw(number, truth if number == numbers[-1] else None)
            canvas.restore_region(ground)
            for part in drawing.changing_artists():
                drawing.figure.draw_artist(part)
            yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])


def write_gif(path: Path, pictures: Iterator[Image.Image], fps: int) -> int:
    """Write the images, the last one shown longer; return their number."""
    colours = _palette()
    drawn = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in pictures]
    pause = round(1000 / fps)
    durations = [pause] * (len(drawn) - 1) + [pause + round(1000 * _LAST_IMAGE_S)]
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=False)
    return len(drawn)


def _palette() -> Image.Image:
    """Return the colours of the style and their blends with white: the same for every image, so that what
    does not change between two images is not stored again."""
    ramps = [
        np.linspace(to_rgb("white"), to_rgb(colour), count)
        for colour, count in ((INK, 40), (MUTED, 12), (BLUE, 32), (ORANGE, 16), (GREEN, 16))
    ]
    density = DENSITY_COLOURS(np.linspace(0, 1, 60))
    ground = density[:, :3] * density[:, 3:] + 1 - density[:, 3:]
    dots = colormaps[READING_COLOURS](np.linspace(0, 1, 60))[:, :3]
    table = np.round(255 * np.concatenate([*ramps, ground, dots])).astype(np.uint8)
    # Pillow looks colours up in boxes of eight levels: a colour in the box of white would tint the rest.
    table = np.concatenate([np.full((1, 3), 255, np.uint8), table[table.min(axis=1) < _NEAR_WHITE]])
    image = Image.new("P", (1, 1))
    image.putpalette(table.tobytes())
    return image
