"""The documentation of the console does what it says."""

import json
import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "console.md"
SURVEY = b"x,y,value,dwell\n5,5,3,1\n9,9,4,1\n"


def commands():
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def curl(client):
    """(words, names, files) -> the answer to a command, by the client of the tests."""

    def ask(line, names, files):
        for name, value in names.items():
            line = line.replace(f"${name}", value)
        # What goes before a bar makes the body that is called "-".
        words = shlex.split(line.rpartition("| ")[2])
        assert words[:2] == ["curl", "-s"]
        method, body, headers, out, path = None, None, {}, None, None
        rest = iter(words[2:])
        for word in rest:
            if word == "--json":
                body, headers["content-type"] = next(rest), "application/json"
            elif word == "--data-binary":
                body = next(rest)
            elif word == "-H":
                name, _, value = next(rest).partition(": ")
                headers[name] = value
            elif word in ("-X", "-o"):
                method, out = (next(rest), out) if word == "-X" else (method, next(rest))
            else:
                path = word
        if body is not None and body.startswith("@"):
            body = files[body[1:]]
        answer = client.request(
            method or ("GET" if body is None else "POST"), path, content=body, headers=headers
        )
        if out is not None:
            files[out] = answer.content
        return answer

    return ask


def test_every_command_of_the_page_works(curl, client, wait_until, site_text):
    """In order, each with what the ones before have left; the real mission at the small site of the tests."""
    names = {"C": ""}
    small = json.dumps({"type": "real", "site": site_text(), "policy": "greedy"})
    files = {"survey.csv": SURVEY, "-": small.encode()}
    lines = commands()
    assert len(lines) == 18
    for line in lines:
        if "/readings" in line and "REAL" in line:
            wait_until(names["REAL"], lambda now: now["status"] != "preparing")
        if "/reveal" in line:
            wait_until(names["SIMULATED"], lambda now: now["status"] in ("found", "inconclusive"))
        answer = curl(line, names, files)
        assert answer.status_code in (200, 201, 204), f"{line}: {answer.text}"
        if answer.status_code == 201 and "type" in answer.json():
            names[answer.json()["type"].upper()] = answer.json()["id"]
    assert json.loads(files["found.geojson"])["type"] == "FeatureCollection"


def test_every_address_is_described_and_named(client):
    """The OpenAPI description and the page's table speak of the same addresses."""
    described = set(client.get("/api/openapi.json").json()["paths"])
    text = PAGE.read_text()
    for path in described:
        assert path.rpartition("}")[2].rpartition("/")[2] in text, path


def test_limits_of_the_page_are_those_of_the_code():
    from dowsax.console import access_control, bodies, broadcast, pictures, scheduler, service, sites, surveys

    text = " ".join(PAGE.read_text().split())
    for words in (
        f"A body of {access_control._MAX_BODY_BYTES // 1024} kB",
        f"a survey of {access_control._MAX_SURVEY_BYTES // 1024**2} MB and {surveys.MAX_ROWS:,} readings",
        f"a picture of {pictures.MAX_BYTES // 1024**2} MB and {pictures.MAX_PIXELS // 10**6} million pixels",
        f"a site file of {bodies.MAX_SITE_LENGTH:,} letters with {sites.MAX_POINTS:,} points in `[step]`",
        f"{sites.MAX_PARTICLES:,} particles",
        f"{service.MAX_MISSIONS:,} missions in a folder, {broadcast.MAX_SUBSCRIBERS} sockets",
        f"Of one mission {scheduler.MAX_WAITING} readings may wait",
        f"behind all readings, {scheduler.MAX_ASIDE} of a mission at most",
        f"beliefs of {service.MAX_IN_MEMORY} missions",
    ):
        assert words in text


def test_every_address_asks_for_the_token(client):
    """Of the application as it is built: each route that is described, each socket and the page itself."""
    from starlette.testclient import TestClient
    from starlette.websockets import WebSocketDisconnect

    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build

    app = build(client.app.state.console, AccessSettings(token="correct-horse-battery"))
    locked = TestClient(app, base_url="http://127.0.0.1:8000")
    described = app.openapi()["paths"]
    assert len(described) >= 10
    for path, methods in {**described, "/": {"get": {}}, "/main.js": {"get": {}}}.items():
        for method in methods:
            address = path.replace("{id}", "0123456789ab").replace("{number}", "1")
            assert locked.request(method, address).status_code == 401, (method, path)
    for path in ("/api/live", "/api/missions/0123456789ab/live"):
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            locked.websocket_connect(f"ws://127.0.0.1:8000{path}"),
        ):
            pass
        assert refused.value.code == 4401
