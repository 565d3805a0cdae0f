"""The heights of a site file: read, described, and refused in one line."""

import pytest
from made_sites import require_refused, site

from dowsax.mission.plan import Plan
from dowsax.site.describe import describe_site

TEAM = '[[searcher]]\nname = "anna"\n'


def test_reads_the_heights_from_the_lowest():
    tall = site("[step]\nheights = [10, 1.5, 5]\n")
    assert tall.heights == (1.5, 5.0, 10.0)
    assert tall.sensor.height == 1.5
    assert site("[step]\nheights = [10, 1.5]\n[sensor]\nheight = 10\n").sensor.height == 10.0
    assert site().heights == ()
    assert site().sensor.height is None
    assert "at 1.5, 5 or 10 m above ground" in dict(describe_site(tall))["step"]


def test_each_height_has_what_is_in_the_way_there():
    wall = "[[obstacle]]\ncorners = [[40, 40], [50, 40], [50, 50], [40, 50]]\nheight = 4\n"
    levels = Plan.of(site(f"{wall}[step]\nheights = [1.5, 5]\n")).reach.levels
    assert [(level.height, len(level.bounds.obstacles)) for level in levels] == [(1.5, 1), (5.0, 0)]


@pytest.mark.parametrize(
    ("own", "heights", "start"),
    [
        ("", (1.5, 5.0), 1.5),
        ("height = 2", (2.0,), 2.0),
        ("heights = [3, 5]", (3.0, 5.0), 3.0),
        ("heights = [1, 1.5]", (1.0, 1.5), 1.5),
        ("heights = [3, 5]\nheight = 5", (3.0, 5.0), 5.0),
    ],
)
def test_a_searcher_may_have_heights_of_its_own(own, heights, start):
    member = Plan.of(site(f"[step]\nheights = [1.5, 5]\n{TEAM}{own}\n")).searchers["anna"]
    assert (member.reach.heights, member.height) == (heights, start)


REFUSED = {
    "a negative height": ("[step]\nheights = [-1, 5]\n", "step.heights: must be from 0 to 1,000 m"),
    "none": ("[step]\nheights = []\n", "step.heights: must have 1 to 10 heights"),
    "no number": ("[step]\nheights = [nan]\n", "step.heights: must be a finite number"),
    "one alone": ("[step]\nheights = 5\n", "step.heights: must be"),
    "text": ('[step]\nheights = ["low"]\n', "step.heights: must be a finite number"),
    "above the sea": ("[step]\nheights = [5, 1250]\n", "must be from 0 to 1,000 m above ground; got 1250"),
    "the same twice": ("[step]\nheights = [5, 5]\n", "step.heights: a height occurs twice"),
    "too many": (f"[step]\nheights = {list(range(11))}\n", "must have 1 to 10 heights"),
    "a sensor elsewhere": (
        "[step]\nheights = [2, 5]\n[sensor]\nheight = 1\n",
        "sensor.height: must be one of 2, 5, the `heights` of [step].",
    ),
    "a searcher elsewhere": (
        f"{TEAM}heights = [2, 5]\nheight = 1\n",
        "searcher.1.height: must be one of 2, 5, its own `heights`.",
    ),
    "of a searcher": (f"{TEAM}heights = [2, -5]\n", "searcher.1.heights: must be from 0"),
    "with paths": (
        '[step]\nheights = [2, 5]\n[[paths]]\nname = "a"\nends = [[1, 1], [9, 9]]\n',
        "step.heights: [[paths]] have a `height` of their own; give it there.",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_heights_that_are_wrong(text, reason):
    require_refused(text, reason)


@pytest.mark.parametrize("kind", ["temperature", "gas-buildings"])
@pytest.mark.parametrize("key", ["[step]", TEAM])
def test_heights_that_mean_nothing(kind, key):
    with pytest.raises(ValueError, match=r"heights: (heights do not matter|is for gas-plume)") as caught:
        site(f"{key}\nheights = [1, 2]\n", kind=kind)
    assert "\n" not in str(caught.value)
