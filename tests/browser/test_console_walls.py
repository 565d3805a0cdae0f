"""Obstacles, walls that were seen, and the ways of a team on the map, and the keys of its legend."""

import numpy as np
import pytest
from served_console import SITE, Console

from dowsax.mission.plan import Plan
from dowsax.mission.seen_walls import seen_walls
from dowsax.site import parse_site
from dowsax.survey.reading import Reading

pytestmark = pytest.mark.slow

LIMIT_M = 6.0
SENSOR = f"[sensor]\nrange_directions = 8\nrange_limit = {LIMIT_M}\n"
WALLED = f"""{SITE}{SENSOR}
[[obstacle]]
corners = [[12.0, 12.0], [16.0, 12.0], [16.0, 15.0], [12.0, 15.0]]
[[searcher]]
name = "anna"
[[searcher]]
name = "ben"
start = [18.0, 3.0]
"""
RANGES = [None, 4.0, 3.0, None, None, None, 5.0, None]
"""Walls to the north-east, the east and the west, and none within 6 m elsewhere."""
SEEN = """async ([limit, readings]) => {
  const { seenWallsOf } = await import("/map/places.js");
  return seenWallsOf({ range_limit: limit }, readings.map((reading) => ({ reading })));
}"""
POINTS = """(colour) => {
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    count += colour.every((part, index) => data[at + index] === part);
  return count;
}"""
WALL_COLOUR = [0x50, 0x60, 0x6E]


@pytest.fixture(scope="module")
def mission(console: Console) -> str:
    """A mission of two searchers; each has read three times, and anna has seen walls."""
    body = {"type": "real", "policy": "location-gain", "seed": 3, "site": WALLED}
    begun = console.post("/missions", body)["id"]
    console.ready(begun)
    places = {"anna": [2.0, 2.0], "ben": [18.0, 3.0]}
    for number in range(6):
        name = ("ben", "anna")[number % 2]
        reading = {"position": places[name], "value": 0.1, "searcher": name, "id": str(number)}
        ranges = RANGES if name == "anna" else [None] * 8
        answer = console.post(f"/missions/{begun}/readings", reading | {"ranges": ranges})
        places[name] = answer["snapshot"]["next"] or places[name]
    return begun


def test_the_map_has_the_walls_that_ways_go_around(open_page):
    """The same squares as the mission's, also where a later reading shows that there is no wall."""
    plan = Plan.of(parse_site(SITE + SENSOR))
    random = np.random.default_rng(2)
    readings = [
        Reading(tuple(place), 0.1, ranges=tuple(None if length > LIMIT_M else length for length in lengths))
        for place, lengths in zip(
            random.uniform(4.0, 16.0, (5, 2)), random.uniform(1.0, 9.0, (5, 8)), strict=True
        )
    ]
    first, visited = readings[0], readings[0].ranges.index(next(filter(None, readings[0].ranges)))
    angle = 2 * np.pi * visited / 8
    inside = np.add(first.position, (first.ranges[visited] + 0.2) * np.array([np.sin(angle), np.cos(angle)]))
    readings.append(Reading(tuple(inside), 0.1, ranges=(None,) * 8))
    given = [{"position": one.position, "ranges": one.ranges} for one in readings]
    found = open_page().evaluate(SEEN, [LIMIT_M, given])
    known = sorted(np.round(wall, 6).tolist() for wall in seen_walls(plan, readings))
    assert sorted(np.round(wall, 6).tolist() for wall in found) == known
    assert 5 < len(known) < 64
    assert open_page().evaluate(SEEN, [None, given]) == []


def test_walls_that_were_seen_are_drawn_and_named(mission, console, open_page, tmp_path):
    """The first reading is that of ben, who saw no walls; the legend has a line for each searcher."""
    page = open_page(f"#/m/{mission}", color_scheme="light")
    page.wait_for_selector("#status-word")
    legend = page.locator(".legend-marks")
    legend.get_by_text("wall seen").wait_for()
    for words in ("obstacle", "anna", "ben"):
        assert legend.get_by_text(words).is_visible()
    page.wait_for_timeout(1500)
    page.screenshot(path=tmp_path / "walls.png")
    with_walls = page.evaluate(POINTS, WALL_COLOUR)
    page.fill("#replay", "1")
    legend.get_by_text("wall seen").wait_for(state="hidden")
    assert with_walls > page.evaluate(POINTS, WALL_COLOUR) + 200
    assert console.get(f"/missions/{mission}")["range_limit"] == LIMIT_M


def test_a_site_without_walls_has_neither_key(console, open_page):
    body = {"type": "real", "policy": "greedy", "seed": 3, "site": SITE}
    plain = console.post("/missions", body)["id"]
    console.ready(plain)
    page = open_page(f"#/m/{plain}")
    page.wait_for_selector("#status-word")
    legend = page.locator(".legend-marks")
    legend.get_by_text("estimate").wait_for()
    assert not legend.get_by_text("wall seen").is_visible()
    assert not legend.get_by_text("obstacle").is_visible()
    assert page.locator(".key.way").count() == 0
