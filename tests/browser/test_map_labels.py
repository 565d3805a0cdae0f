"""Labels on the map of the page: none is cut at an edge, none lies on another or under the tools.

The map is given missions made by hand, and the boxes are those of the texts that reach the canvas.
"""

import itertools

import pytest
from served_console import DESKTOP, PHONE

pytestmark = pytest.mark.slow

TOUCH = 0.5
"""[points] by which boxes may overlap: letters do not fill theirs."""
DRAWN = """async ({ cases, size }) => {
  const { MapView } = await import("/map/map.js");
  const { buildControls } = await import("/map/controls.js");
  const room = document.createElement("div");
  room.style.cssText = `position:fixed;inset:0;width:${size[0]}px;height:${size[1]}px;display:flex`;
  document.body.append(room);
  let texts = [];
  const plain = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const box = this.measureText(text);
    texts.push({
      text,
      box: [
        x - box.actualBoundingBoxLeft,
        y - box.actualBoundingBoxAscent,
        x + box.actualBoundingBoxRight,
        y + box.actualBoundingBoxDescent,
      ],
    });
    plain.call(this, text, x, y);
  };
  const made = [];
  for (const { facts, snapshot } of cases) {
    const map = new MapView({ picked() {}, chosen() {}, drawn() {} });
    room.replaceChildren(map.element);
    const mission = { facts, snapshot, snapshots: [snapshot], shown: 1, count: 1, isLive: true, cloud: null };
    mission.activeReadings = () => mission.snapshots;
    map.attach(mission);
    map.element.append(buildControls(map));
    texts = [];
    map._resize();
    const { left, top } = map.canvas.getBoundingClientRect();
    const tools = [...map.element.querySelectorAll(".map-tools > .tool")].map((tool) => {
      const box = tool.getBoundingClientRect();
      return { text: tool.title, box: [box.left - left, box.top - top, box.right - left, box.bottom - top] };
    });
    made.push({ texts, tools });
    texts = [];
    map.close();
  }
  CanvasRenderingContext2D.prototype.fillText = plain;
  room.remove();
  return made;
}"""


def case(place, truth, next_place, wind, origin):
    """A mission of one reading in an area of 100 by 80 m."""
    facts = {
        "area": [[0, 0], [100, 80]],
        "source_area": [[0, 0], [100, 80]],
        "start": None,
        "truth": {"position": truth},
        "origin": origin,
        "geographic": origin is not None,
        "unit": "ppm",
    }
    snapshot = {
        "number": 1,
        "status": "searching",
        "reading": {"position": place, "value": 2.5, "wind": wind},
        "estimate": {"mean": truth},
        "next": next_place,
        "distance": 123.4,
        "bearing": 278.0,
        "radius": 5.0,
    }
    return {"facts": facts, "snapshot": snapshot}


EDGES = [[x, y] for x in (0, 50, 100) for y in (0, 40, 80)]
WINDS = [[12.34, 0], [8, 8], [0, 12], [-8, 8], [-12, 0], [-8, -8], [0, -12], [8, -8]]


def cases():
    """Reading, truth and next place at edges, corners and on each other, in winds of all directions."""
    for origin in (None, [51.2, -1.75]):
        for place, wind in itertools.product(EDGES, WINDS):
            yield case(place, place, place, wind, origin)
            yield case(place, [50, 40], [place[0] * 0.9 + 5, place[1] * 0.9 + 4], wind, origin)
            yield case([50, 40], place, [52, 41], wind, origin)


@pytest.mark.parametrize(
    ("settings", "size"),
    [(DESKTOP, (900, 640)), (PHONE, (390, 420)), (PHONE, (390, 240))],
    ids=["desktop", "phone", "short"],
)
def test_every_label_of_the_map_is_read(open_page, settings, size):
    page = open_page(**settings)
    made = list(cases())
    for told, drawn in zip(made, page.evaluate(DRAWN, {"cases": made, "size": size}), strict=True):
        texts = [(item["text"], item["box"]) for item in drawn["texts"]]
        said = " ".join(text for text, _ in texts)
        assert "wind " in said, told
        assert "truth" in said, told
        assert "278°" in said, told
        for text, (left, top, right, bottom) in texts:
            assert left >= 0, (text, told)
            assert top >= 0, (text, told)
            assert right <= size[0], (text, told)
            assert bottom <= size[1], (text, told)
        tools = [(item["text"], item["box"]) for item in drawn["tools"]]
        for one, other in [*itertools.combinations(texts, 2), *itertools.product(texts, tools)]:
            across = min(one[1][2], other[1][2]) - max(one[1][0], other[1][0])
            down = min(one[1][3], other[1][3]) - max(one[1][1], other[1][1])
            assert min(across, down) <= TOUCH, (one, other, told)


TICKS = """async (all) => {
  const { buildLegend } = await import("/map/controls.js");
  const { scaleOf } = await import("/map/colours.js");
  return all.map((values) => {
    const { element, update } = buildLegend();
    document.body.append(element);
    const mission = { facts: { unit: "ppm" } };
    update({ camera: { scale: 7 }, show: {}, scale: scaleOf(values), mission }, "light");
    const boxes = [...element.querySelectorAll(".legend-ticks span, .legend-title")].map((span) => {
      const { left, right } = span.getBoundingClientRect();
      return [left, right];
    });
    element.remove();
    return boxes;
  });
}"""
SCALES = [
    [low * size, high * size]
    for low, high in ((1, 5), (-5, 5), (0, 1), (1, 3.3), (-7, -2), (1, 1e4), (1, 3e5), (1, 1))
    for size in (1e-7, 1e-3, 0.1, 1, 1234, 100_000, 1e9)
]


@pytest.mark.parametrize("settings", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_ticks_of_the_colours_are_apart(open_page, settings):
    """Of readings of any size; there are two at least where readings differ."""
    page = open_page(**settings)
    for values, (title, *ticks) in zip(SCALES, page.evaluate(TICKS, SCALES), strict=True):
        assert len(ticks) >= 1 + (values[0] != values[1]), values
        for (_, right), (left, _) in itertools.pairwise([title, *sorted(ticks)]):
            assert right <= left, values
