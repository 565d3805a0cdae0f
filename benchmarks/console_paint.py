"""How soon the page of the console is seen: `python -m benchmarks.console_paint --visits 30`.

Starts a server of its own, and opens its page in Chromium again and again with nothing kept from before. Told
is the first contentful paint by the browser's own clock, from the moment the address is asked for; the very
first visit, as soon as the server has said where it is, apart from the others.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.console_load import started
from benchmarks.machine import describe, load

_PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) { observer.disconnect(); resolve(paint.startTime); }
  }).observe({ type: "paint", buffered: true });
})"""
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


def paints(address: str, visits: int) -> np.ndarray:
    """[s] until something is seen, of each visit; each by a browser profile of its own."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=list(_FLAGS))
        found = []
        for _ in range(visits):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            page.goto(address)
            found.append(page.evaluate(_PAINT) / 1000)
            context.close()
        browser.close()
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=30)
    visits = parser.parse_args().visits
    with tempfile.TemporaryDirectory() as folder:
        server, address = started(Path(folder))
        try:
            first = paints(address, 1)[0]
            rest = paints(address, visits)
        finally:
            server.terminate()
            server.wait(20)
    machine = describe()
    print(f"{machine['cpu']}, {machine['cores']} cores, load {load():.1f}")
    print(f"first paint just after the start: {first:.2f} s")
    middle, late = np.quantile(rest, [0.5, 0.95])
    print(
        f"of {visits} visits: median {middle:.2f} s, 95th percentile {late:.2f} s, at most {rest.max():.2f} s"
    )


if __name__ == "__main__":
    main()
