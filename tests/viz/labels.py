"""Where the texts of a picture lie, as its renderer has them."""

from itertools import combinations

from matplotlib.text import Text

from dowsax.viz.style import styled

TOUCH = 0.5
"""[pixels] by which boxes may overlap: their edges are rounded."""


def boxes(figure):
    """The text and the box of every label that is drawn."""
    with styled():
        figure.canvas.draw()
    unseen = {id(label) for axes in all_axes(figure) for label in unseen_ticks(axes)}
    texts = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    drawn = [text for text in texts if id(text) not in unseen]
    return [(text.get_text(), text.get_window_extent()) for text in drawn]


def all_axes(parent):
    """The axes of a figure, and those inside them."""
    for axes in getattr(parent, "axes", None) if hasattr(parent, "add_axes") else parent.child_axes:
        yield axes
        yield from all_axes(axes)


def unseen_ticks(axes):
    """Labels of ticks that a locator has beyond the ends of an axis, or of axes that are switched off."""
    for axis, part in ((axes.xaxis, 0), (axes.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        room = 1e-9 * (high - low)
        for label in axis.get_ticklabels(which="both"):
            if not axes.axison or not low - room <= label.get_position()[part] <= high + room:
                yield label


def require_readable(figure):
    """Every label is in the picture as a whole, and none lies on another."""
    found, page = boxes(figure), figure.bbox
    for text, box in found:
        inside = page.x0 <= box.x0 and page.y0 <= box.y0 and box.x1 <= page.x1 and box.y1 <= page.y1
        assert inside, f"{text!r} is cut"
    for (text, box), (other, hidden) in combinations(found, 2):
        across = min(box.x1, hidden.x1) - max(box.x0, hidden.x0)
        along = min(box.y1, hidden.y1) - max(box.y0, hidden.y0)
        assert min(across, along) <= TOUCH, f"{text!r} lies on {other!r}"


def require_inside(figure, axes, text):
    """A label lies within its axes."""
    (box,) = (box for said, box in boxes(figure) if said == text)
    frame = axes.get_window_extent()
    assert frame.x0 <= box.x0, text
    assert box.x1 <= frame.x1, text
    assert frame.y0 <= box.y0, text
    assert box.y1 <= frame.y1, text
