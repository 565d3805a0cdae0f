"""Take the pictures of the console in the docs: `python tests/browser/take_pictures.py docs/pictures`.

Two searches for a gas leak by Infotaxis with the default filter, seeds 3 and 6.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from served_console import CHROMIUM, FLAGS, PHONE, Console, serve, wait_until

SCREEN: dict[str, Any] = {"viewport": {"width": 1360, "height": 850}}
SETTLED = 2500
"""[ms] in which all that was asked for is drawn."""
LARGEST = 240_000
"""[bytes]"""
GAP = 40
"""Points between two phones."""


def searched(console: Console, seed: int) -> str:
    """A search that is over."""
    body = {"type": "simulated", "field": "gas", "policy": "infotaxis", "seed": seed, "speed": 50.0}
    mission = console.post("/missions", body | {"name": f"Gas leak, seed {seed}"})["id"]
    console.post(f"/missions/{mission}/control", {"action": "run"})
    wait_until(lambda: console.get(f"/missions/{mission}")["status"] in ("found", "inconclusive"), 300)
    return mission


def shown(browser: Browser, address: str, look: str, number: int | None, screen: dict[str, Any]) -> Page:
    """A mission at this reading, or at its end; with the field where the look is dark."""
    page = browser.new_page(color_scheme=look, **screen)
    page.goto(address)
    page.wait_for_selector("#status-word")
    if look == "dark":
        page.click("[aria-label=Layers]")
        page.check("[name=layer-field]")
        page.keyboard.press("Escape")
    if number is not None:
        page.fill("#replay", str(number))
    return page


def taken(page: Page, path: Path) -> Image.Image:
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=path)
    return Image.open(path).convert("RGB")


def kept(picture: Image.Image, path: Path) -> None:
    """In all its colours where that is small enough, else in the best 256 of them, mixed."""
    picture.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        colours = picture.quantize(256, kmeans=2)
        picture.quantize(palette=colours, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def side_by_side(pictures: list[Image.Image], share: float) -> Image.Image:
    """Made smaller by this share."""
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) - 1)
    both = Image.new("RGB", (width, pictures[0].height), (128, 138, 148))
    left = 0
    for picture in pictures:
        both.paste(picture, (left, 0))
        left += picture.width + GAP
    return both.resize((round(share * both.width), round(share * both.height)), Image.Resampling.LANCZOS)


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name, serve(Path(name)) as console, sync_playwright() as engine:
        folder = Path(name)
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        short, long = (f"{console.url}/#/m/{searched(console, seed)}" for seed in (3, 6))
        kept(
            taken(shown(browser, short, "dark", 14, SCREEN), folder / "search.png"),
            target / "console-search.png",
        )
        phones = [(long, "light", 40), (short, "dark", 17)]
        pictures = [
            taken(shown(browser, *phone, PHONE), folder / f"phone-{at}.png")
            for at, phone in enumerate(phones)
        ]
        kept(side_by_side(pictures, 0.6), target / "console-phone.png")
        page = shown(browser, long, "light", None, SCREEN)
        page.click("text=Reveal the truth")
        page.click("[aria-label='Zoom to the belief']")
        kept(taken(page, folder / "found.png"), target / "console-found.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
