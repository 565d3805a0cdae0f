"""A picture of a search as bytes, drawn with NumPy and Pillow alone: fast enough for every step."""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.envs.problem import SearchProblem, SearchState
from dowsax.extras import require_extra
from dowsax.inference.summaries import location_spread, mean_position
from dowsax.types import Position, Scalar
from dowsax.world import take_position
from dowsax.world.trails import move_station

if TYPE_CHECKING:
    from PIL.Image import Image as Canvas
    from PIL.ImageDraw import ImageDraw as Pen
    from PIL.ImageFont import FreeTypeFont, ImageFont
else:
    Canvas = Pen = FreeTypeFont = ImageFont = Any

SIZE_PX = 600
"""[pixels], of either side."""
_OVERSAMPLING = 2
"""The picture is drawn this many times larger and then averaged, which smooths all edges."""
_MAP_BOX_PX = (54, 62, 534, 542)
"""[pixels], left, top, right and bottom of the map."""
_COLOUR_BAR_PX = (548, 561)
"""[pixels], left and right of the colour scale."""
_NUM_CELLS = 160
_MAX_DECADES = 6
"""The largest number of decades in the colour scale."""
_TOP_QUANTILE = 0.998
"""The colour scale ends at this quantile of the field, as its peak is far above the rest."""
_TICK_SPACING_M = 5.0
"""[m]"""

INK, MUTED, GROUND = (34, 48, 60), (123, 136, 148), (255, 255, 255)
BLUE, GREEN = (0, 94, 162), (0, 158, 115)
_FIELD_COLOURS = np.array(
    [(255, 253, 245), (254, 237, 190), (253, 208, 140), (250, 165, 95), (226, 110, 60)], float
)
"""From pale yellow to orange, by lightness; blue and ink stand out on all of them."""


class Scene(NamedTuple):
    """The contents of one picture. Positions are in metres, east and north."""

    low: np.ndarray
    high: np.ndarray
    intensity: np.ndarray
    """Of the true source, rows from south to north."""
    path: np.ndarray
    particles: np.ndarray
    weights: np.ndarray
    mean: np.ndarray
    source: np.ndarray
    caption: str


def scene(search: SearchProblem, state: SearchState, status: str) -> Scene:
    """Collect what one picture of a search shows: east and north, at the height of the sensor."""
    readings, columns = int(state.belief.history.size), state.belief.position_columns
    intensity, centre, spread = map(np.asarray, _view(search, state))
    return Scene(
        np.array(search.actions.low)[:2],
        np.array(search.actions.high)[:2],
        intensity,
        np.asarray(state.belief.history.stations.position)[:readings, :2],
        take_position(np.asarray(state.belief.particles), columns)[:, :2],
        np.exp(np.asarray(state.belief.log_weights)),
        centre[:2],
        take_position(np.asarray(state.theta), columns)[:2],
        f"reading {readings} of {search.max_readings}   ·   spread {spread:.2f} m   ·   {status}",
    )


@eqx.filter_jit
def _view(search: SearchProblem, state: SearchState) -> tuple[Float[Array, "north east"], Position, Scalar]:
    """The true field in the middle of each cell of a grid over the area; the mean and max(σx, σy)."""
    share = (jnp.arange(_NUM_CELLS) + 0.5) / _NUM_CELLS
    low, high = search.actions.low, search.actions.high
    east, north = (low[axis] + share * (high[axis] - low[axis]) for axis in (0, 1))

    def at(x: Scalar, y: Scalar) -> Scalar:
        place = state.station.position.at[:2].set(jnp.stack([x, y]))
        return search.model.intensity(state.theta, move_station(state.station, place))

    intensity = jax.vmap(jax.vmap(at, in_axes=(0, None)), in_axes=(None, 0))(east, north)
    return intensity, mean_position(state.belief), location_spread(state.belief)


def draw(scene: Scene) -> np.ndarray:
    """Draw the picture: (SIZE_PX, SIZE_PX, 3) bytes."""
    require_extra("viz", "`render`")
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SIZE_PX * _OVERSAMPLING, SIZE_PX * _OVERSAMPLING), GROUND)
    decades = _decades(scene.intensity)
    _paint_field(image, scene.intensity, decades)
    _paint_particles(image, scene)
    pen = ImageDraw.Draw(image)
    _draw_path(pen, scene)
    _draw_star(pen, _pixels(scene, scene.source))
    _draw_cross(pen, _pixels(scene, scene.mean))
    _draw_sensor(pen, _pixels(scene, scene.path[-1]))
    _draw_axes(pen, scene)
    _draw_scale(image, pen, decades)
    _draw_key(pen, scene.caption)
    return np.asarray(image.reduce(_OVERSAMPLING))


def _pixels(scene: Scene, places: np.ndarray) -> np.ndarray:
    """Convert metres to pixels of the oversampled picture; north is up."""
    left, top, right, bottom = (_OVERSAMPLING * side for side in _MAP_BOX_PX)
    share = (np.asarray(places) - scene.low) / (scene.high - scene.low)
    return np.stack([left + share[..., 0] * (right - left), bottom - share[..., 1] * (bottom - top)], axis=-1)


def _decades(intensity: np.ndarray) -> tuple[int, int]:
    """The powers of ten between which the field is coloured; (−1, 0) for one that is zero everywhere."""
    largest = float(np.quantile(intensity, _TOP_QUANTILE))
    if not largest > 0:
        return -1, 0
    top = int(np.ceil(np.log10(largest)))
    least = float(np.min(intensity, where=intensity > 0, initial=largest))
    return min(max(int(np.floor(np.log10(least))), top - _MAX_DECADES), top - 1), top


def _colours(share: np.ndarray) -> np.ndarray:
    """Colours of numbers from 0, the least, to 1."""
    anchors = np.linspace(0, 1, len(_FIELD_COLOURS))
    return np.stack([np.interp(share, anchors, channel) for channel in _FIELD_COLOURS.T], axis=-1).astype(
        np.uint8
    )


def _paint_field(image: Canvas, intensity: np.ndarray, decades: tuple[int, int]) -> None:
    from PIL import Image

    with np.errstate(divide="ignore"):
        share = (np.log10(intensity) - decades[0]) / (decades[1] - decades[0])
    colours = _colours(np.clip(share, 0, 1))[::-1]
    left, upper, right, lower = (_OVERSAMPLING * side for side in _MAP_BOX_PX)
    ground = Image.fromarray(np.ascontiguousarray(colours))
    image.paste(ground.resize((right - left, lower - upper), Image.Resampling.BICUBIC), (left, upper))


def _paint_particles(image: Canvas, scene: Scene) -> None:
    """A dot for each particle, its area in proportion to the weight."""
    from PIL import Image, ImageDraw

    mask = Image.new("L", image.size, 0)
    pen = ImageDraw.Draw(mask)
    shares = scene.weights * np.sum(scene.weights > 0)
    radii = _OVERSAMPLING * np.clip(1.8 * np.sqrt(shares), 0.8, 6.0)
    for (x, y), radius, weight in zip(_pixels(scene, scene.particles), radii, scene.weights, strict=True):
        if weight > 0:
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=215)
    inside = Image.new("L", image.size, 0)
    left, top, right, bottom = (_OVERSAMPLING * side for side in _MAP_BOX_PX)
    inside.paste(mask.crop((left, top, right, bottom)), (left, top))
    image.paste(BLUE, (0, 0), inside)


def _draw_path(pen: Pen, scene: Scene) -> None:
    places = [tuple(place) for place in _pixels(scene, scene.path)]
    if len(places) > 1:
        pen.line(places, fill=GROUND, width=4 * _OVERSAMPLING, joint="curve")
        pen.line(places, fill=INK, width=2 * _OVERSAMPLING, joint="curve")
    for place in places[1:]:
        _disc(pen, place, 2.6, INK)
    _draw_square(pen, places[0])


def _draw_square(pen: Pen, place) -> None:
    """The start."""
    x, y, half = *place, 5 * _OVERSAMPLING
    pen.rectangle((x - half, y - half, x + half, y + half), fill=GROUND, outline=INK, width=2 * _OVERSAMPLING)


def _draw_sensor(pen: Pen, place: np.ndarray) -> None:
    _disc(pen, place, 8.5, INK)
    _disc(pen, place, 6.5, GROUND)
    _disc(pen, place, 4.5, INK)


def _draw_cross(pen: Pen, place: np.ndarray) -> None:
    """The mean."""
    x, y = place
    for colour, reach, width in ((GROUND, 11, 6), (INK, 10, 3)):
        reach, half = reach * _OVERSAMPLING, width * _OVERSAMPLING / 2
        pen.rectangle((x - reach, y - half, x + reach, y + half), fill=colour)
        pen.rectangle((x - half, y - reach, x + half, y + reach), fill=colour)
    # Once more, as the white rim of the second bar has cut the first.
    pen.rectangle(
        (x - 10 * _OVERSAMPLING, y - 1.5 * _OVERSAMPLING, x + 10 * _OVERSAMPLING, y + 1.5 * _OVERSAMPLING),
        fill=INK,
    )


def _draw_star(pen: Pen, place: np.ndarray) -> None:
    """The source."""
    angles = np.pi / 2 + np.arange(10) * np.pi / 5
    for colour, size in ((INK, 14.5), (GROUND, 12.5), (GREEN, 10.0)):
        radii = _OVERSAMPLING * size * np.where(np.arange(10) % 2 == 0, 1.0, 0.45)
        points = place + np.stack([radii * np.cos(angles), -radii * np.sin(angles)], axis=1)
        pen.polygon([tuple(point) for point in points], fill=colour)


def _disc(pen: Pen, place, radius: float, colour: tuple[int, int, int]) -> None:
    x, y, radius = *place, radius * _OVERSAMPLING
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _draw_axes(pen: Pen, scene: Scene) -> None:
    from PIL import Image, ImageDraw

    left, top, right, bottom = (_OVERSAMPLING * side for side in _MAP_BOX_PX)
    pen.rectangle((left, top, right, bottom), outline=MUTED, width=_OVERSAMPLING)
    tick, gap = 5 * _OVERSAMPLING, 8 * _OVERSAMPLING
    for axis in (0, 1):
        for metres in np.arange(
            np.ceil(scene.low[axis] / _TICK_SPACING_M) * _TICK_SPACING_M,
            scene.high[axis] + 1e-6,
            _TICK_SPACING_M,
        ):
            place = np.where(np.arange(2) == axis, metres, scene.low)
            x, y = _pixels(scene, place)
            if axis == 0:
                pen.line((x, bottom, x, bottom + tick), fill=MUTED, width=_OVERSAMPLING)
                _write(pen, (x, bottom + gap), f"{metres:g}", "mt")
            else:
                pen.line((left - tick, y, left, y), fill=MUTED, width=_OVERSAMPLING)
                _write(pen, (left - gap, y), f"{metres:g}", "rm")
    _write(pen, ((left + right) / 2, bottom + 28 * _OVERSAMPLING), "x, east [m]", "mt")
    label = Image.new("L", (120 * _OVERSAMPLING, 20 * _OVERSAMPLING), 0)
    ImageDraw.Draw(label).text(
        (60 * _OVERSAMPLING, 10 * _OVERSAMPLING), "y, north [m]", fill=255, font=_font(13), anchor="mm"
    )
    turned = label.rotate(90, expand=True)
    pen.bitmap((4 * _OVERSAMPLING, (top + bottom - turned.height) // 2), turned, fill=INK)


def _draw_scale(image: Canvas, pen: Pen, decades: tuple[int, int]) -> None:
    """The colours of the field by decade."""
    from PIL import Image

    left, right = (_OVERSAMPLING * side for side in _COLOUR_BAR_PX)
    upper, lower = _OVERSAMPLING * _MAP_BOX_PX[1], _OVERSAMPLING * _MAP_BOX_PX[3]
    column = _colours(np.linspace(1, 0, lower - upper))[:, None, :].repeat(right - left, axis=1)
    image.paste(Image.fromarray(np.ascontiguousarray(column)), (left, upper))
    pen.rectangle((left, upper, right, lower), outline=MUTED, width=_OVERSAMPLING)
    bottom, top = decades
    for power in range(bottom, top + 1):
        y = lower + (upper - lower) * (power - bottom) / (top - bottom)
        pen.line((right, y, right + 3 * _OVERSAMPLING, y), fill=MUTED, width=_OVERSAMPLING)
        # The font has no raised digits.
        _write(pen, (right + 5 * _OVERSAMPLING, y), "10", "lm", 11)
        _write(pen, (right + 18 * _OVERSAMPLING, y - 5 * _OVERSAMPLING), f"{power}", "lm", 9)
    _write(pen, (_OVERSAMPLING * (SIZE_PX - 6), upper - 17 * _OVERSAMPLING), "field", "rm")


def _draw_key(pen: Pen, caption: str) -> None:
    """The caption, and what the marks mean, above the map."""
    left, height = _OVERSAMPLING * _MAP_BOX_PX[0], 45 * _OVERSAMPLING
    _write(pen, (left, 18 * _OVERSAMPLING), caption, "lm", 15)
    marks = (
        ("start", 0, _draw_square),
        ("sensor", 62, _draw_sensor),
        ("particles", 140, _draw_dots),
        ("mean", 234, _draw_cross),
        ("source", 306, _draw_star),
    )
    for name, offset, mark in marks:
        mark(pen, np.array([left + (offset + 10) * _OVERSAMPLING, height]))
        _write(pen, (left + (offset + 25) * _OVERSAMPLING, height), name, "lm")


def _draw_dots(pen: Pen, place: np.ndarray) -> None:
    for offset in ((-5, 3), (0, -4), (5, 2)):
        _disc(pen, place + _OVERSAMPLING * np.array(offset), 2.4, BLUE)


def _write(pen: Pen, place, text: str, anchor: str, size: int = 13) -> None:
    pen.text(tuple(place), text, fill=INK, font=_font(size), anchor=anchor)


@cache
def _font(size: int) -> FreeTypeFont | ImageFont:
    """Pillow's own font, so that pictures are the same everywhere."""
    from PIL.ImageFont import load_default

    return load_default(size * _OVERSAMPLING)
