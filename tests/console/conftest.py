"""One console for all tests of its addresses, with missions that share one small compiled filter."""

import time
from typing import Any

import pytest

HOME = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def site_text():
    """(changes) -> a site in the benchmark's square, with few particles."""
    from dowsax.console.simulation import site_text

    def text(seed=0, origin=None, readings=200):
        made = site_text("temperature", "id", seed, 64).replace("readings = 200", f"readings = {readings}")
        return made if origin is None else made.replace("[area]\n", f"[area]\norigin = {list(origin)}\n")

    return text


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """A client of a console on loopback."""
    from starlette.testclient import TestClient

    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build
    from dowsax.console.service import Console

    app = build(Console(tmp_path_factory.mktemp("missions")), AccessSettings())
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def begin(client, site_text):
    """(body) -> a mission that is ready: a real one at the small site unless the body says otherwise."""

    def begun(**body: Any) -> dict[str, Any]:
        body = {"type": "real", "policy": "greedy", "seed": 3, **body}
        if body["type"] == "real":
            body.setdefault("site", site_text())
        else:
            body = {"field": "temperature", "particles": 64, **body}
        answer = client.post("/api/missions", json=body)
        assert answer.status_code == 201, answer.text
        return until(client, answer.json()["id"], lambda mission: mission["status"] != "preparing")

    return begun


def until(client, mission, holds):
    """The mission as soon as something holds of it."""
    for _ in range(6000):
        body = client.get(f"/api/missions/{mission}").json()
        if holds(body):
            return body
        time.sleep(0.02)
    raise AssertionError(f"It never held of {body['status']}, {body['message']!r}.")


@pytest.fixture(scope="session")
def wait_until(client):
    return lambda mission, holds: until(client, mission, holds)
