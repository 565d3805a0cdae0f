"""Occupancy maps of robots: the cells that are occupied, where they are, and files that are refused."""

import numpy as np
import pytest
import shapely

from dowsax.site.occupancy_map import OccupancyMap, read_occupancy_map

YAML = "image: map.pgm\nresolution: 0.5\norigin: [2.0, -1.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\n"
FREE, OCCUPIED, UNKNOWN = 254, 0, 205


def write_map(folder, grey, text=YAML, head=None):
    head = f"P5\n# made\n{grey.shape[1]} {grey.shape[0]}\n255\n" if head is None else head
    (folder / "map.pgm").write_bytes(head.encode() + grey.astype(np.uint8).tobytes())
    (folder / "map.yaml").write_text(text)
    return folder / "map.yaml"


def test_occupied_cells_are_where_they_are_drawn(tmp_path):
    """A block of 2 by 3 cells, from the third column and the second row on; unknown cells are free."""
    grey = np.full((10, 12), FREE)
    grey[1:4, 2:4], grey[5:9, 6:9] = OCCUPIED, UNKNOWN
    area = read_occupancy_map(write_map(tmp_path, grey)).area()
    assert area.bounds == pytest.approx((3.0, 2.0, 4.0, 3.5), abs=0.05)
    assert area.area == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.0])
def test_a_map_is_turned_about_its_origin(yaw):
    cells = np.zeros((20, 30), bool)
    cells[4:9, 10:25] = True
    area = OccupancyMap(cells, 0.2, (5.0, -3.0, yaw)).area()
    plain = shapely.box(10 * 0.2, 11 * 0.2, 25 * 0.2, 16 * 0.2)
    turned = shapely.transform(
        plain, lambda p: p @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + [5.0, -3.0]
    )
    assert area.hausdorff_distance(turned) < 0.01
    assert len(shapely.get_coordinates(area)) == 5


@pytest.mark.parametrize("seed", range(3))
def test_the_border_moves_by_no_more_than_half_a_cell(seed):
    """Of blobs, against the cells themselves."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:60, :60]
    discs = random.uniform(10, 50, (4, 2))
    cells = np.any([np.hypot(x - a, y - b) < random.uniform(4, 9) for a, b in discs], axis=0)
    area = OccupancyMap(cells, 1.0, (0.0, 0.0, 0.0)).area()
    rows, columns = np.nonzero(cells[::-1])
    exact = shapely.union_all(shapely.box(columns, rows, columns + 1, rows + 1))
    assert area.boundary.hausdorff_distance(exact.boundary) < 0.5 * 2**0.5 + 0.1
    corners = len(shapely.get_coordinates(area))
    assert corners < 0.6 * len(shapely.get_coordinates(exact))
    assert len(shapely.get_coordinates(OccupancyMap(cells, 1.0, (0.0, 0.0, 0.0)).area(3.0))) < corners


def test_cells_that_touch_in_a_corner_are_joined():
    cells = np.eye(6, dtype=bool)
    area = OccupancyMap(cells, 1.0, (0.0, 0.0, 0.0)).area(0.0)
    assert area.geom_type == "Polygon"


def test_text_images_and_negated_ones_are_read(tmp_path):
    (tmp_path / "map.pgm").write_text("P2\n3 2\n100\n0 0 100\n0 0 0\n")
    (tmp_path / "map.yaml").write_text(YAML.replace("negate: 0", "negate: 1  # white is a wall"))
    assert read_occupancy_map(tmp_path / "map.yaml").is_occupied.tolist() == [
        [False, False, True],
        [False] * 3,
    ]


REFUSED = {
    "no map": (None, None, "does not exist"),
    "another format": ("- image\n", None, "map.yaml, line 1: must be `key: value`"),
    "no resolution": (YAML.replace("resolution: 0.5\n", ""), None, "map.yaml has no `resolution`"),
    "a word for a number": (
        YAML.replace("0.65", "high"),
        None,
        "`occupied_thresh` must be a number; got high",
    ),
    "an origin of two": (YAML.replace(", 0.0]", "]"), None, "`origin` must be [x, y, yaw]"),
    "no size": (YAML.replace("0.5", "0.0"), None, "`resolution` must be > 0 m"),
    "raw": (f"{YAML}mode: raw\n", None, "`mode` must be trinary or scale; got raw"),
    "a picture": (YAML, "\x89PNG", "map.pgm is no PGM image"),
    "half a picture": (YAML, "P5\n400 400\n255\n", "map.pgm ends before its 400 rows"),
    "a huge picture": (YAML, "P5\n99999 99999\n255\n", "must be at most 25,000,000"),
    "no picture": (YAML.replace("map.pgm", "plan.pgm"), None, "plan.pgm does not exist"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_in_one_line(what, tmp_path):
    text, head, reason = REFUSED[what]
    path = tmp_path / "map.yaml"
    if text is not None:
        write_map(tmp_path, np.full((4, 4), FREE), text, head)
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        read_occupancy_map(path)
    assert reason in str(caught.value)
