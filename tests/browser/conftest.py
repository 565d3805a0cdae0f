"""A console with its page, and browsers to look at it with: a desktop and a phone.

Everything is skipped, with the reason, where playwright or Chromium is not there.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from served_console import CHROMIUM, DESKTOP, FLAGS, PARTICLES, SITE, Console, serve, wait_until


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A server on a port of its own; none where there is no browser.

    One for all files: each server prepares its own missions.
    """
    _require_browser()
    with serve(tmp_path_factory.mktemp("console")) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """For one file: as long as it is open the process has a running loop, which other tests must not meet."""
    with _require_browser().sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


def _require_browser() -> Any:
    """Return playwright; skip where it or the browser is not there."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("browser tests need Chromium: apt-get install chromium")
    return playwright


@pytest.fixture
def allowed_errors() -> list[str]:
    """Parts of console errors that the test provokes on purpose; a test appends them (default: none)."""
    return []


@pytest.fixture
def open_page(browser: Any, console: Console, allowed_errors: list[str]) -> Iterator[Callable[..., Any]]:
    """Open a page of the console; at the end, no page may have had an error or asked another host."""
    contexts, faults = [], []

    def watch(request: Any) -> None:
        if not request.url.startswith((console.url, console.url.replace("http", "ws"))):
            faults.append(f"asked {request.url}")

    def listen(said: Any) -> None:
        if said.type == "error":
            faults.append(said.text)

    def opened(place: str = "", **settings: Any) -> Any:
        context = browser.new_context(**(DESKTOP | settings))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", listen)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", watch)
        page.goto(f"{console.url}/{place}")
        page.wait_for_selector("h1", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [fault for fault in faults if not any(words in fault for words in allowed_errors)] == []


@pytest.fixture(scope="module")
def searched(console: Console) -> str:
    """A simulated search that is over: 128 particles, seed 4."""
    body = {"type": "simulated", "field": "temperature", "policy": "greedy", "seed": 4, "speed": 50.0}
    mission = console.post("/missions", body | {"particles": PARTICLES, "name": "over"})["id"]
    console.post(f"/missions/{mission}/control", {"action": "run"})
    wait_until(lambda: console.get(f"/missions/{mission}")["status"] in ("found", "inconclusive"), 180)
    return mission


@pytest.fixture(scope="module")
def walked(console: Console) -> str:
    """A real mission on the globe with three readings."""
    site = SITE.replace("high = [20.0, 20.0]", "high = [20.0, 20.0]\norigin = [52.1, 5.1]")
    mission = console.post("/missions", {"type": "real", "site": site, "name": "walked"})["id"]
    console.ready(mission)
    for place in (2.0, 4.0, 6.0):
        console.post(f"/missions/{mission}/readings", {"position": [place, 2.0], "value": place / 2})
    return mission


@pytest.fixture
def real(console: Console) -> str:
    """A real mission without a reading."""
    mission = console.post("/missions", {"type": "real", "site": SITE})["id"]
    console.ready(mission)
    return mission
