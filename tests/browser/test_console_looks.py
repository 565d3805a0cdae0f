"""The page for everybody: by keyboard, on a phone, by day and by night, with any name."""

import numpy as np
import pytest
from served_console import PARTICLES, PHONE

from dowsax.geo.local import LocalCoordinates

pytestmark = pytest.mark.slow

CONTRAST = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (text) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgb(getComputedStyle(document.body).backgroundColor);
  };
  const found = [];
  for (const element of document.querySelectorAll("h1, h2, p, a, button, label, td, th, span, small, dt")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest(":disabled, .skip, .unseen") || !element.checkVisibility()) continue;
    const pair = [light(rgb(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    found.push([contrast, element.className || element.tagName, element.textContent.slice(0, 30)]);
  }
  return found;
}"""


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_text_is_readable(open_page, searched, walked, look):
    """Contrast of at least 4.5 to 1 (WCAG AA), by the formula of its luminances."""
    for place in ("", "#/new/simulated", "#/new/real", f"#/m/{searched}", f"#/m/{walked}"):
        page = open_page(place, color_scheme=look)
        for folded in page.locator("summary").all():
            folded.click()
        texts = page.evaluate(CONTRAST)
        assert len(texts) >= 5
        assert [text for text in texts if text[0] < 4.5] == []


def test_the_look_follows_the_system_until_it_is_chosen(open_page):
    """A choice outlives a reload."""
    page = open_page(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("[aria-label='Switch to light']")
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate(ground) == light
    assert open_page(color_scheme="light").evaluate(ground) == light


def focused(page) -> str:
    return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name")


def tab_to(page, text: str) -> None:
    """Press Tab until this has the focus; every stop on the way shows that it has it."""
    for _ in range(60):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        if page.evaluate("document.activeElement !== document.body"):
            assert outline != "none", focused(page)
        if text in focused(page):
            return
    raise AssertionError(f"{text!r} is not reached by Tab.")


def test_a_search_is_run_by_keyboard_alone(open_page, console):
    page = open_page()
    tab_to(page, "Watch a simulated search")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Simulated search").wait_for()
    tab_to(page, "excess temperature")
    page.keyboard.type("excess")
    tab_to(page, "Straight to the estimate")
    page.keyboard.type("straight to")
    tab_to(page, "name")
    page.keyboard.type("by keys")
    tab_to(page, "More about the filter")
    page.keyboard.press("Enter")
    tab_to(page, "particles")
    page.keyboard.type(str(PARTICLES))
    tab_to(page, "Start the search")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="by keys").wait_for()
    # Away from every button, Space holds the search and lets it run.
    page.locator("button:has-text('Pause')").wait_for(timeout=120_000)
    page.locator("#status-word", has_text="SEARCHING").wait_for(timeout=120_000)
    page.keyboard.press("Space")
    page.locator("button:has-text('Run')").wait_for()
    tab_to(page, "Step")
    mission = page.url.rsplit("/", 1)[1]
    known = console.get(f"/missions/{mission}")
    assert (known["field"], known["policy"], known["name"]) == ("temperature", "greedy", "by keys")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#replay[max="{known["readings"] + 1}"]')


def test_a_reading_is_given_by_keyboard_alone(open_page, console, real):
    """The middle of the map is picked by Enter, and the value typed where the focus goes."""
    page = open_page(f"#/m/{real}")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "CANVAS":
            break
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.name") == "value"
    places = [float(page.get_by_label(name).input_value()) for name in ("East [m]", "North [m]")]
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    page.locator(".form-message.good", has_text="Reading 1 ").wait_for()
    reading = console.get(f"/missions/{real}/snapshots/1")["reading"]
    assert (reading["position"], reading["value"]) == (places, 2.5)
    # The middle of the map is that of the area, but for the room of its tools: 4 points, each of 3 cm.
    assert places == pytest.approx([10.0, 10.0], abs=0.2)


def test_the_map_is_moved_by_keys(open_page, searched):
    """Plus makes a metre longer by its factor; 0 brings the area back."""
    page = open_page(f"#/m/{searched}")
    picture = "document.querySelector('canvas').toDataURL()"
    page.locator("canvas").focus()
    page.keyboard.press("0")
    page.wait_for_timeout(100)
    home = page.evaluate(picture)
    seen = {home}
    for key in ("+", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        page.wait_for_timeout(100)
        seen.add(page.evaluate(picture))
    assert len(seen) == 4
    page.keyboard.press("0")
    page.wait_for_timeout(100)
    assert page.evaluate(picture) == home


def test_a_phone_has_the_map_on_top_and_nothing_runs_over(open_page, searched):
    """No sideways scrolling, targets for fingers, a sheet that grows."""
    page = open_page(f"#/m/{searched}", **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    plan, sheet = (page.locator(name).bounding_box() for name in (".map", ".sheet"))
    assert plan["y"] + plan["height"] <= sheet["y"]
    assert plan["height"] >= 200
    for button in page.locator("#side button:visible, #side a.button:visible").all():
        assert button.bounding_box()["height"] >= 44
    page.locator(".handle").press("Enter")
    assert page.locator(".sheet").bounding_box()["height"] > sheet["height"]


COVERED = """() => {
  const shown = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  const outer = document.querySelector(".map").getBoundingClientRect();
  const tools = [...document.querySelectorAll(".map-tools > .tool")].filter(shown);
  const faults = [];
  for (const tool of tools) {
    const box = tool.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.bottom - 2);
    if (!tool.contains(top)) faults.push(`${tool.ariaLabel} is covered by ${top?.className}`);
    if (box.bottom > outer.bottom || box.top < outer.top) faults.push(`${tool.ariaLabel} is cut off`);
  }
  const parts = [".map", ".legend", ".replay", ".sheet"].map((name) => document.querySelector(name));
  const boxes = parts.filter(shown).map((part) => [part.className, part.getBoundingClientRect()]);
  for (const [name, box] of boxes)
    for (const [other, its] of boxes)
      if (name !== other && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 0.5 &&
          Math.min(box.right, its.right) - Math.max(box.left, its.left) > 0.5)
        faults.push(`${name} overlaps ${other}`);
  for (const part of document.querySelectorAll(".legend *, .replay *")) {
    const box = part.getBoundingClientRect();
    if (shown(part) && (box.left < 0 || box.right > innerWidth)) faults.push(`${part.className} runs over`);
  }
  const words = [...document.querySelectorAll(".legend-title, .legend-ticks span, .scale")].filter(shown);
  for (const [at, one] of words.entries())
    for (const other of words.slice(at + 1)) {
      const [a, b] = [one, other].map((word) => word.getBoundingClientRect());
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        faults.push(`${one.textContent} lies on ${other.textContent}`);
    }
  return [tools.length, outer.height, faults];
}"""


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("size", [(390, 844), (360, 640), (844, 390)], ids=["large", "small", "landscape"])
def test_nothing_lies_on_the_controls_of_a_phone(open_page, searched, walked, size, look):
    """However tall the sheet is, with the field and without: all tools or none, whole, and none covered."""
    for mission in (searched, walked):
        page = open_page(
            f"#/m/{mission}",
            **(PHONE | {"viewport": {"width": size[0], "height": size[1]}}),
            color_scheme=look,
        )
        page.get_by_role("button", name="Layers").tap()
        page.locator("[name=layer-field]").tap()
        page.keyboard.press("Escape")
        for _ in range(3):
            page.wait_for_timeout(150)
            tools, height, faults = page.evaluate(COVERED)
            assert faults == []
            assert tools == (0 if height <= 150 else 7)
            if size[0] < size[1]:
                page.locator(".handle").press("Enter")


def test_the_status_is_read_out(open_page, console, real):
    page = open_page(f"#/m/{real}")
    console.post(f"/missions/{real}/readings", {"position": [2.0, 2.0], "value": 1.5})
    page.locator("#announce", has_text="Reading 1: searching. Next:").wait_for(state="attached")
    assert page.locator("#announce").get_attribute("aria-live") == "polite"


def test_a_name_is_never_markup(open_page, console):
    name = "<img src=x onerror=alert(1)><b>bold</b>"
    body = {"type": "simulated", "field": "temperature", "policy": "greedy", "particles": PARTICLES}
    mission = console.post("/missions", body | {"name": name})["id"]
    page = open_page()
    page.locator(".mission-name", has_text=name).wait_for()
    page.goto(f"{page.url.split('#')[0]}#/m/{mission}")
    page.locator("h1", has_text=name).wait_for()
    assert page.locator("main img, main b b, header img").count() == 0


def test_degrees_of_the_page_are_those_of_the_package(open_page):
    """There and back, within a millimetre and a billionth of a degree, of sites far apart."""
    page = open_page()
    places = [[0.0, 0.0], [1500.0, -800.0], [-12000.0, 9000.0]]
    for origin in ([52.1, 5.1], [-33.9, 151.2], [68.4, -179.99]):
        got = page.evaluate(
            """async ([origin, places]) => {
              const { Globe } = await import("/map/globe.js");
              const globe = new Globe(origin);
              return places.map((place) => {
                const degrees = globe.toDegrees(place);
                return [degrees, globe.toMetres(...degrees)];
              });
            }""",
            [origin, places],
        )
        frame = LocalCoordinates(tuple(origin))
        degrees = np.array([item[0] for item in got])
        assert np.abs(degrees - frame.to_degrees(places))[:, 0].max() < 1e-9
        assert np.abs([item[1] for item in got] - frame.to_metres(*degrees.T)).max() < 1e-3


def test_colours_of_readings_are_even_to_the_eye(open_page):
    """The lightness L* of CIE 1976 goes one way, in steps of like size, by day and by night."""
    page = open_page()
    for look, sign in (("light", -1), ("dark", 1)):
        colours = page.evaluate(
            """async (look) => {
              const { ramp } = await import("/map/colours.js");
              return Array.from({ length: 21 }, (_, index) => ramp(index / 20, look));
            }""",
            look,
        )
        steps = sign * np.diff([lightness(colour) for colour in colours])
        assert steps.min() > 0
        assert steps.max() < 2.5 * steps.mean()


def lightness(colour) -> float:
    """CIE L* from sRGB."""
    shares = np.asarray(colour) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.008856 else 903.3 * luminance


def test_colours_of_readings_differ_from_the_belief(open_page):
    """The regions' blue is told from every colour of a reading, on both grounds (distance in CIELAB)."""
    page = open_page()
    for look in ("light", "dark"):
        colours, belief = page.evaluate(
            """async (look) => {
              const { ramp, PALETTES } = await import("/map/colours.js");
              const text = PALETTES[look].belief;
              const belief = [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
              return [Array.from({ length: 21 }, (_, index) => ramp(index / 20, look)), belief];
            }""",
            look,
        )
        apart = [np.linalg.norm(lab(colour) - lab(belief)) for colour in colours]
        assert min(apart) > 30


def lab(colour) -> np.ndarray:
    """CIELAB (D65) from sRGB."""
    shares = np.asarray(colour) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratios = matrix @ linear / matrix.sum(axis=1)
    roots = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])])


def metre(page) -> float:
    """Points of the screen a metre, by the scale bar."""
    length = float(page.locator(".scale span").first.inner_text().split()[0])
    return page.locator(".ruler").evaluate("(ruler) => parseFloat(ruler.style.width)") / length


def test_two_fingers_zoom_the_map_and_one_moves_it(open_page, searched):
    """Fingers that end twice as far apart make a metre twice as long."""
    page = open_page(f"#/m/{searched}", **PHONE)
    before = metre(page)
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *apart: float) -> None:
        points = (
            [{"x": x + sign * apart[0], "y": y, "id": (1 + sign) // 2} for sign in (-1, 1)] if apart else []
        )
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    # The first points of the way tell a slip from a pinch: they count, too.
    touch("touchStart", 30)
    for half in range(32, 62, 2):
        touch("touchMove", half)
    touch("touchEnd")
    page.wait_for_timeout(100)
    assert metre(page) / before == pytest.approx(2.0, rel=0.12)


def test_the_map_is_dragged_and_zoomed_with_the_mouse(open_page, real):
    """What is under the pointer stays there: after a drag, and after a turn of the wheel."""
    page = open_page(f"#/m/{real}")
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + 300, box["y"] + 300
    page.mouse.move(x, y)
    held = page.locator(".place").inner_text()
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=8)
    page.mouse.move(x + 120, y + 80, steps=8)
    page.mouse.up()
    before = metre(page)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(150)
    assert metre(page) > before
    page.mouse.move(x + 121, y + 80)
    page.mouse.move(x + 120, y + 80)
    assert page.locator(".place").inner_text() == held
