"""`[[paths]]` of a site file: read, described, and refused where it makes no sense."""

import numpy as np
import pytest
from made_sites import DEGREES, require_refused, site

from dowsax.site import NEW_SITE, parse_site
from dowsax.site.describe import describe_site

SOUTH = '[[paths]]\nname = "south"\nends = [[20, 20], [180, 20]]\n'
WEST = '[[paths]]\nname = "west"\nends = [[20, 20], [20, 140]]\nheight = 2.5\n'


def test_paths_are_read_and_described():
    made = site(SOUTH + WEST)
    assert [path.name for path in made.paths] == ["south", "west"]
    assert made.paths[1].ends == ((20.0, 20.0), (20.0, 140.0))
    assert [path.height for path in made.paths] == [None, 2.5]
    words = [text for _, text in describe_site(made)]
    assert "south: 160 m from (20, 20) m to (180, 20) m" in words
    assert "west: 120 m from (20, 20) m to (20, 140) m, 2.5 m above ground" in words
    assert any("along one of 2 paths" in text for text in words)


def test_ends_in_degrees_are_the_metres_of_the_site():
    text = '[[paths]]\nname = "a"\nends_degrees = [[52.1005, 5.1005], [52.1015, 5.1025]]\n'
    made = site(text, area=DEGREES)
    expected = made.coordinates.to_metres([52.1005, 52.1015], [5.1005, 5.1025])
    np.testing.assert_allclose(made.paths[0].ends, expected)


def test_an_end_on_the_border_may_be_rounded():
    assert len(site('[[paths]]\nname = "a"\nends = [[-1e-7, 20], [180, 20]]\n').paths) == 1


def test_a_new_site_explains_paths_and_has_none():
    assert "# [[paths]]" in NEW_SITE
    assert parse_site(NEW_SITE).paths == ()


REFUSED = {
    "a point": ('[[paths]]\nname = "a"\nends = [[1, 2], [1, 2]]\n', "paths.1.ends: must be two different"),
    "three ends": ('[[paths]]\nname = "a"\nends = [[1, 2], [1, 3], [2, 3]]\n', "paths.1.ends: must be two"),
    "no name": ("[[paths]]\nends = [[1, 2], [1, 3]]\n", "line 6, paths.1.name: this key is missing"),
    "no ends": ('[[paths]]\nname = "a"\n', "paths.1.ends: this key is missing"),
    "a name twice": (SOUTH + SOUTH, "line 10, paths.2.name: must be a name that no other path has"),
    "outside": (
        '[[paths]]\nname = "a"\nends = [[1, 2], [1, 300]]\n',
        "paths.1.ends: 'a' is outside",
    ),
    "steps": (f"[step]\nlength = 5\n{SOUTH}", "line 7, step.length: is of ways, and [[paths]] have none"),
    "points": (f"[step]\npoints = [[5, 5]]\n{SOUTH}", "step.points: is of ways"),
    "the way back": (f"[budget]\nreturn = true\ntime = 9\n{SOUTH}", "budget.return: is of ways"),
    "a distance": (f"[budget]\ndistance = 100\n{SOUTH}", "line 7, budget.distance: is of ways"),
    "a start": (f"[start]\nposition = [5, 5]\n{SOUTH}", "line 6, start: is where ways begin"),
    "too little time": (
        f"[budget]\ntime = 9\n[step]\nreading_time = 10\n{SOUTH}",
        "budget.time: is too short for a reading: 10 s",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line(text, reason):
    require_refused(text, reason)


def test_only_a_gas_plume_has_paths():
    with pytest.raises(ValueError, match="only the kind gas-plume is read along paths, not level"):
        site(SOUTH, kind="level")
    with pytest.raises(ValueError, match=r"columns\.x2: only the kind gas-plume"):
        site('[columns]\nx2 = "a"\n', kind="level")


def test_an_error_names_the_key_of_the_file():
    text = '[[paths]]\nname = "a"\nends_degrees = [[52.1005, 5.1005], [52.1015, 5.2]]\n'
    with pytest.raises(ValueError, match=r"paths\.1\.ends_degrees: 'a' is outside"):
        site(text, area=DEGREES)
