"""Sites whose numbers do not fit their area: refused in one line, with file, line and key named."""

import pytest
from made_sites import require_refused, site

TRIANGLE = "corners = [[{0}, {0}], [{1}, {0}], [{1}, {1}]]\n"
AROUND = "corners = [[-9, -9], [-1, -9], [-1, 160], [210, 160], [210, 170], [-9, 170]]\n"
"""A hook beside the area: its box meets the area, and nothing of it lies inside."""
WALL = "[[no_go]]\ncorners = [[120, -1], [130, -1], [130, 151], [120, 151]]\n"
REFUSED = {
    "no reading": ("[budget]\nreadings = 0\n", "line 7, budget.readings: must be >= 1; got 0"),
    "no way": ("[budget]\ndistance = 0\n", "line 7, budget.distance: must be > 0; got 0"),
    "a way below zero": ("[budget]\ndistance = -2.5\n", "line 7, budget.distance: must be > 0; got -2.5"),
    "no time": ("[budget]\ntime = 0\n", "line 7, budget.time: must be > 0; got 0"),
    "less time than a reading": (
        "[budget]\ntime = 5\n[step]\nreading_time = 6\n",
        "line 7, budget.time: is too short for the way to the nearest place, and a reading: 6 s",
    ),
    "less way than to the nearest place": (
        "[budget]\ndistance = 9\n[step]\npoints = [[110, 75], [100, 75]]\n",
        "line 7, budget.distance: is shorter than the way to the nearest place, 10 m",
    ),
    "less way than there and back": (
        "[budget]\ndistance = 9\nreturn = true\n[step]\nshortest = 5\n[start]\nposition = [0, 0]\n",
        "line 7, budget.distance: is shorter than the way to the nearest place and back, 10 m",
    ),
    "nowhere to return to": (
        "[budget]\ndistance = 9\nreturn = true\n",
        "line 8, budget.return: needs a place to return to: give the position in [start]",
    ),
    "nothing to return within": (
        "[budget]\nreturn = true\n[start]\nposition = [0, 0]\n",
        "line 7, budget.return: needs a distance or a time",
    ),
    "no way at all": (
        "[step]\nshortest = 9\nlongest = 8.5\n",
        "line 7, step.shortest: must be <= longest = 8.5; got 9",
    ),
    "a way out of the area": (
        "[step]\nshortest = 126\n",
        "line 7, step.shortest: is longer than any way from the start in the area, 125 m",
    ),
    "a step below the shortest way": (
        "[step]\nlength = 4\nshortest = 5\n",
        "line 8, step.shortest: must be <= length = 4; got 5: change it, or leave length out",
    ),
    "a step above the longest way": (
        "[step]\nlength = 10\nlongest = 9\n",
        "line 8, step.longest: must be >= length = 10; got 9: change it, or leave length out",
    ),
    "places that are too far": (
        "[step]\npoints = [[180, 75]]\nlongest = 50\n",
        "line 7, step.points: none can be reached from the start on one way",
    ),
    "a step out of the area": (
        "[step]\nlength = 126\n",
        "line 7, step.length: is longer than any way from the start in the area, 125 m",
    ),
    "a step from the corner": (
        "[step]\nlength = 251\n[start]\nposition = [0, 0]\n",
        "line 7, step.length: is longer than any way from the start in the area, 250 m",
    ),
    "a fence of one line": (
        "[[geofence]]\ncorners = [[0, 0], [50, 50], [90, 90]]\n",
        "line 7, geofence.1.corners: encloses no area",
    ),
    "a fence elsewhere": (
        f"[[geofence]]\n{TRIANGLE.format(500, 600)}",
        "line 7, geofence.1.corners: lies outside the area; check its corners against [area]",
    ),
    "a fence elsewhere, and so the start outside of it": (
        f"[[geofence]]\n{TRIANGLE.format(201, 300)}[start]\nposition = [9, 9]\n",
        "line 7, geofence.1.corners: lies outside the area; check its corners against [area]",
    ),
    "a fence around the area": (
        f"[[geofence]]\n{AROUND}",
        "line 7, geofence.1.corners: lies outside the area",
    ),
    "a second fence elsewhere": (
        f"[[geofence]]\n{TRIANGLE.format(0, 50)}[[geofence]]\n{AROUND}",
        "line 9, geofence.2.corners: lies outside the area",
    ),
    "a no-go area elsewhere": (
        f"[[no_go]]\n{TRIANGLE.format(900, 950)}",
        "line 7, no_go.1.corners: lies outside the area",
    ),
    "no place left": (
        "[[no_go]]\ncorners = [[-1, -1], [201, -1], [201, 151], [-1, 151]]\n",
        "line 6, no_go: there is no place in the area where the sensor may be",
    ),
    "a place in a no-go area": (
        f"[step]\npoints = [[8, 1]]\n[[no_go]]\n{TRIANGLE.format(0, 9)}",
        "line 7, step.points: (8, 1) m is outside the geofence, or in a no-go area or obstacle",
    ),
    "a place outside": (
        "[step]\npoints = [[8, 1], [8, 151]]\n",
        "step.points: (8, 151) m is outside the area",
    ),
    "a place behind a wall": (
        f"[step]\npoints = [[180, 75]]\n{WALL}",
        "line 7, step.points: none can be reached from the start on one way",
    ),
    "the start alone": (
        "[step]\npoints = [[9, 9]]\n[start]\nposition = [9, 9]\n",
        "line 7, step.points: none can be reached from the start on one way",
    ),
    "a start walled in flush with the border": (
        "[[no_go]]\ncorners = [[8, 0], [9, 0], [9, 9], [0, 9], [0, 8], [8, 8]]\n[start]\nposition = [5, 5]\n",
        "line 8, start: it is walled in: 0 % of the allowed places can be reached; start elsewhere",
    ),
    "an interval in a wrong unit": (
        "[step]\nreading_interval = 1e-320\n",
        "line 7, step.reading_interval: must be >= 0.01; got",
    ),
    "a radius of everything": (
        "[search]\nradius = 126\n",
        "search.radius: holds the whole area, 250 m across",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(text, reason):
    require_refused(text, reason)


ACCEPTED = {
    "a step across the area": "[step]\nlength = 250\n[start]\nposition = [0, 0]\n",
    "a place beside a wall": f"[step]\npoints = [[180, 75], [90, 75]]\n{WALL}",
    "just enough": (
        "[budget]\ndistance = 10\ntime = 11\n[step]\npoints = [[110, 75]]\nspeed = 2.0\nreading_time = 6\n"
    ),
    "a fence that is wider": "[[geofence]]\ncorners = [[-9, -9], [300, -9], [300, 300], [-9, 300]]\n",
    "a fence that is partly inside": f"[[geofence]]\n{TRIANGLE.format(100, 500)}",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_can_be_done_is_accepted(text):
    site(text)


@pytest.mark.parametrize(
    ("limit", "length"), [("shortest = 20", 20.0), ("longest = 8", 8.0), ("longest = 20", 15.0)]
)
def test_the_usual_step_keeps_to_the_limits(limit, length):
    assert site(f"[step]\n{limit}\n").step_length == length
