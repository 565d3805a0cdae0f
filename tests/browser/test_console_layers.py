"""The layers of the map: each draws what the server has, by numbers and by the points of the picture."""

import numpy as np
import pytest
from served_console import PHONE

pytestmark = pytest.mark.slow

DENSITY = """async ([positions, area]) => {
  const { densityOf } = await import("/map/density.js");
  const grid = densityOf(positions, area);
  return { ...grid, values: Array.from(grid.values) };
}"""
PICTURE = "document.querySelector('canvas').toDataURL()"
AREA = [[-40.0, -40.0], [60.0, 60.0]]


def draws(kind: str, count: int = 400) -> np.ndarray:
    """Positions [m]: round, long and thin across the axes, or in two heaps."""
    plain = np.random.default_rng(5).normal(size=(count, 2))
    if kind == "round":
        return plain + 10
    if kind == "thin":
        return plain * [8.0, 0.2] @ np.array([[0.8, 0.6], [-0.6, 0.8]]) + 10
    return plain * 0.5 + np.where(np.arange(count) % 4 == 0, 0.0, 20.0)[:, None]


def kernel_density(positions: np.ndarray, places: np.ndarray, blur: float) -> np.ndarray:
    """The mean of Gaussian densities of the covariances w² C + blur² 1 [m²] about the positions, at places.

    C is the covariance of all positions, and w how far the 2 √n nearest neighbours are in its own units.
    """
    covariance = np.cov(positions.T, ddof=0)
    plain = np.linalg.solve(np.linalg.cholesky(covariance), positions.T).T
    far = np.sort(np.linalg.norm(plain[:, None] - plain[None], axis=2), axis=1)
    widths = far[:, int(np.ceil(2 * np.sqrt(len(positions))))]
    kernels = widths[:, None, None] ** 2 * covariance + blur**2 * np.eye(2)
    offsets = places[:, None] - positions[None]
    away = np.einsum("kni,nij,knj->kn", offsets, np.linalg.inv(kernels), offsets)
    return (np.exp(-away / 2) / (2 * np.pi * np.sqrt(np.linalg.det(kernels)))).mean(axis=1)


@pytest.mark.parametrize("kind", ["round", "thin", "heaps"])
def test_the_density_is_that_of_the_samples(open_page, kind):
    """At every cell the sum of kernels but for their tails, which hold exp(−3.5²/2) = 0.2 % of each."""
    positions = draws(kind)
    grid = open_page().evaluate(DENSITY, [positions.tolist(), AREA])
    low, high = np.array(grid["low"]), np.array(grid["high"])
    cell = (high - low) / [grid["columns"], grid["rows"]]
    x, y = (
        low[axis] + (np.arange(grid[name]) + 0.5) * cell[axis]
        for axis, name in enumerate(("columns", "rows"))
    )
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values, expected = np.array(grid["values"]), kernel_density(positions, places, grid["blur"])
    assert np.abs(values - expected).max() < 0.003 * expected.max()
    assert 0.6 * cell.max() < grid["blur"]
    # The widest kernels, those of the loneliest draws, reach beyond the grid.
    assert 0.93 < values.sum() * cell.prod() < 1.0


def test_a_density_of_one_place_is_finite(open_page):
    """All draws alike, as after a restart without their belief; and one alone."""
    page = open_page()
    for positions in ([[1.0, 2.0]] * 400, [[1.0, 2.0]]):
        values = np.array(page.evaluate(DENSITY, [positions, AREA])["values"])
        assert np.isfinite(values).all()
        assert values.max() > 0


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_layer_changes_the_picture_and_goes_again(open_page, searched, look):
    """By its box, and for field and density by a key as well, which moves the box along."""
    page = open_page(f"#/m/{searched}", color_scheme=look)
    page.locator("#replay").fill("3")
    page.locator(".replay-where", has_text="3 /").wait_for()
    page.wait_for_timeout(500)
    page.click("[aria-label=Layers]")
    for name in ("density", "regions", "particles", "path", "grid"):
        box = page.locator(f"[name=layer-{name}]")
        before = page.evaluate(PICTURE)
        for differs in (True, False):
            box.click()
            page.wait_for_timeout(150)
            assert (page.evaluate(PICTURE) != before) is differs, name
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    for key, name in (("d", "density"), ("f", "field")):
        page.keyboard.press(key)
        assert page.locator(f"[name=layer-{name}]").is_checked()
        page.keyboard.press(key)
        assert not page.locator(f"[name=layer-{name}]").is_checked()


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (390, 600), (844, 390)])
def test_all_layers_are_within_reach_on_a_phone(open_page, walked, size):
    """Each box can be touched where it is seen: on the map, not beyond its edge."""
    page = open_page(f"#/m/{walked}", **(PHONE | {"viewport": {"width": size[0], "height": size[1]}}))
    page.get_by_role("button", name="Layers").tap()
    for box in page.locator(".popover input").all():
        was = box.is_checked()
        box.scroll_into_view_if_needed()
        place, plan = box.bounding_box(), page.locator(".map").bounding_box()
        assert plan["x"] <= place["x"]
        assert place["x"] + place["width"] <= plan["x"] + plan["width"]
        assert plan["y"] <= place["y"]
        assert place["y"] + place["height"] <= plan["y"] + plan["height"]
        box.tap()
        assert box.is_checked() is not was


def test_the_expected_field_is_drawn_where_the_server_has_it(open_page, console, searched):
    """By day the place of the highest expected reading is far darker than the ground at the lowest was."""
    page = open_page(f"#/m/{searched}")
    field = console.get(f"/missions/{searched}/field")
    values = np.array(field["values"]).reshape(field["rows"], field["columns"])
    row, column = np.unravel_index(np.argmin(values), values.shape)
    shares = (column + 0.5) / field["columns"], 1 - (row + 0.5) / field["rows"]
    colour = """([across, down]) => {
      const canvas = document.querySelector("canvas");
      const [left, right, top, bottom] = window.edges;
      const at = [left + across * (right - left), top + down * (bottom - top)].map(Math.round);
      return Array.from(canvas.getContext("2d").getImageData(...at, 1, 1).data);
    }"""
    page.wait_for_timeout(500)
    box = page.locator("canvas").bounding_box()
    # The area fills the height of the map but for the room above and below.
    side = box["height"] - 32 - 24
    left = (box["width"] - side) / 2
    page.evaluate("(edges) => { window.edges = edges; }", [left, left + side, 32, 32 + side])
    ground = page.evaluate(colour, shares)
    page.evaluate("document.activeElement.blur()")
    with page.expect_response(lambda answer: "/field" in answer.url):
        page.keyboard.press("f")
    page.wait_for_timeout(400)
    row, column = np.unravel_index(np.argmax(values), values.shape)
    peak = (column + 0.5) / field["columns"], 1 - (row + 0.5) / field["rows"]
    assert sum(page.evaluate(colour, peak)[:3]) < sum(ground[:3]) - 100
