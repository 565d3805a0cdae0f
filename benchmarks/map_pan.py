"""How smoothly the map of the console is panned: `python -m benchmarks.map_pan --particles 100000`.

Serves the page's files, and pans the map of a mission made by hand in Chromium, without a graphics card: a
belief of 100,000 particles over a picture of 4,096 by 4,096 pixels, its regions, and a path of 60 readings.
Each frame that the browser grants moves the map by (7, 3) points, back and forth. The report has the frames a
second by `requestAnimationFrame`, 60 at the most, and how long the drawing of a frame takes.
"""

import argparse
import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from benchmarks.machine import describe, load
from dowsax.console.app import STATIC

_SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 3, "is_mobile": True},
}
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
_PAGE = """<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="/css/base.css"><link rel="stylesheet" href="/css/map.css">"""
_PAN = """async ({ count, seconds, picture }) => {
  const { MapView } = await import("/map/map.js");
  const { buildControls } = await import("/map/controls.js");
  const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  const particles = Array.from({ length: count }, () => [50 + 15 * normal(), 40 + 9 * normal()]);
  const ring = (size) => [Array.from({ length: 200 }, (_, index) => {
    const angle = (2 * Math.PI * index) / 200;
    return [50 + 15 * size * Math.cos(angle), 40 + 9 * size * Math.sin(angle)];
  })];
  const snapshots = Array.from({ length: 60 }, (_, index) => ({
    number: index + 1,
    status: "searching",
    reading: { position: [5 + 1.4 * index, 20 + 12 * Math.sin(index / 5)], value: index % 17, wind: [3, 1] },
    estimate: { mean: [50, 40] },
    next: [60, 45],
    distance: 12,
    bearing: 40,
    radius: 2,
  }));
  const area = [[0, 0], [100, 80]];
  const facts = { area, source_area: area, start: [5, 5], origin: [52, 5], geographic: false, unit: "ppm" };
  const mission = {
    facts, snapshots, snapshot: snapshots.at(-1), shown: 60, count: 60, isLive: true, path: "/missions/none",
    cloud: { particles, regions: { 50: [ring(1.2)], 95: [ring(2.4)] } },
    activeReadings: () => snapshots,
  };
  const room = document.createElement("div");
  room.style.cssText = "position:fixed;inset:0;display:flex;z-index:9";
  document.body.append(room);
  const map = new MapView({ picked() {}, chosen() {}, drawn() {} });
  room.append(map.element);
  map.attach(mission);
  map.element.append(buildControls(map));
  map.camera.zoom(1.3);
  if (picture) {
    const image = Object.assign(document.createElement("canvas"), { width: 4096, height: 4096 });
    const pen = image.getContext("2d");
    for (let at = 0; at < 4096; at += 32) {
      pen.fillStyle = `hsl(${at % 360} 30% 60%)`;
      pen.fillRect(at, 0, 32, 4096);
    }
    map.picture.place([[0, 80], [100, 80], [0, 0]]);
    const loaded = new Promise((resolve) => { map.picture.loaded = resolve; });
    map.picture.load(URL.createObjectURL(await new Promise((done) => image.toBlob(done))));
    await loaded;
  }
  map._resize();
  const drawing = [];
  const plain = map._draw.bind(map);
  map._draw = () => {
    const began = performance.now();
    plain();
    drawing.push(performance.now() - began);
  };
  const frame = () => new Promise(requestAnimationFrame);
  for (let index = 0; index < 30; index++) await frame();
  drawing.length = 0;
  const began = performance.now();
  const at = [];
  for (let index = 0; performance.now() - began < 1000 * seconds; index++) {
    const way = Math.floor(index / 60) % 2 === 0 ? 1 : -1;
    map.camera.pan(7 * way, 3 * way);
    map.moved();
    at.push(await frame());
  }
  return { at, drawing };
}"""


@contextmanager
def served() -> Iterator[str]:
    """The address of the page's files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(STATIC)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def pan(screen: str, count: int, seconds: float, picture: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the times between frames, and how long each was drawn [ms]."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with served() as address, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=list(_FLAGS))
        page = browser.new_page(**_SCREENS[screen])
        page.goto(f"{address}/theme.js")
        page.set_content(_PAGE)
        found = page.evaluate(_PAN, {"count": count, "seconds": seconds, "picture": picture})
        browser.close()
    return np.diff(found["at"]), np.array(found["drawing"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--no-picture", action="store_true")
    given = parser.parse_args()
    machine = describe()
    print(f"{machine['cpu']}, {machine['cores']} cores, load {load():.1f}; {given.particles:,} particles")
    for screen in _SCREENS:
        between, drawing = pan(screen, given.particles, given.seconds, not given.no_picture)
        late, worst = np.quantile(between, 0.95), between.max()
        print(
            f"{screen}: {1000 * len(between) / between.sum():.1f} frames a second "
            f"(95 % within {late:.0f} ms, all within {worst:.0f} ms); "
            f"drawing {np.median(drawing):.1f} ms in the median, at most {drawing.max():.0f} ms"
        )


if __name__ == "__main__":
    main()
