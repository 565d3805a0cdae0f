"""What each role may do: every route of the application, also those that are added later."""

import itertools
import re

import pytest
from starlette.routing import Mount, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

TOKEN = "correct-horse-battery"
HOME = "http://127.0.0.1:8000"
SAFE = {"GET", "HEAD", "OPTIONS"}
LIVE = "ws://127.0.0.1:8000/api/live"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build
    from dowsax.console.service import Console

    return build(Console(tmp_path_factory.mktemp("locked")), AccessSettings(host="0.0.0.0", token=TOKEN))


@pytest.fixture(scope="module")
def locked(app):
    with TestClient(app, base_url=HOME, follow_redirects=False) as client:
        yield client


@pytest.fixture(scope="module")
def tokens(locked):
    """By role."""
    made = {
        role: locked.post("/api/links", json={"role": role, "name": role}, headers=bearer(TOKEN)).json()
        for role in ("operator", "reader")
    }
    return {"owner": TOKEN} | {role: link["token"] for role, link in made.items()}


def flatten(routes):
    """All routes, those of included routers as well."""
    for route in routes:
        inner = getattr(route, "original_router", None) or getattr(route, "router", None)
        if getattr(route, "path", None) is None and inner is not None:
            yield from flatten(inner.routes)
        else:
            yield route


def write_routes(app):
    """(method, path) of every route that may change something."""
    routes = [route for route in flatten(app.routes) if not isinstance(route, Mount | WebSocketRoute)]
    described = [
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if method.upper() not in SAFE
    ]
    known = [
        (method, route.path)
        for route in routes
        if getattr(route, "methods", None)
        for method in route.methods - SAFE
    ]
    return sorted(set(described) | set(known))


def test_a_read_only_link_is_refused_on_every_route_that_writes(app, locked, tokens):
    """Enumerated from the application, so that a new route cannot be forgotten."""
    found = write_routes(app)
    paths = {path for _, path in found}
    assert {"/api/missions", "/api/missions/{id}/readings/{number}/restore", "/api/links"} <= paths
    assert len(found) >= 12
    for method, path in found:
        filled = re.sub(r"{number}", "1", path).replace("{id}", "0123456789ab")
        answer = locked.request(method, filled, json={}, headers=bearer(tokens["reader"]))
        assert answer.status_code == 403, (method, path)
        error = answer.json()["error"]
        assert "read-only" in error
        assert "\n" not in error
        allowed = locked.request(method, filled, json={}, headers=bearer(tokens["operator"]))
        assert allowed.status_code != 401, (method, path)
        assert (allowed.status_code == 403) == path.startswith("/api/links"), (method, path)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE", "TRACE", "FOO"])
def test_no_method_writes_by_a_read_only_link_on_any_address(locked, tokens, method):
    for path in ("/", "/api/health", "/api/nothing"):
        answer = locked.request(method, path, headers=bearer(tokens["reader"]))
        assert answer.status_code == 403, path


def test_every_role_reads(locked, tokens):
    for role, token in tokens.items():
        assert locked.get("/api/missions", headers=bearer(token)).json() == []
        expected = {"role": role, "name": "" if role == "owner" else role, "is_open": False}
        assert locked.get("/api/access", headers=bearer(token)).json() == expected
    assert locked.get("/api/access").status_code == 401


def test_only_the_owner_sees_and_manages_links(locked, tokens):
    for role, (method, path) in itertools.product(
        ("operator", "reader"),
        [("GET", "/api/links"), ("POST", "/api/links"), ("DELETE", "/api/links/0123456789ab")],
    ):
        answer = locked.request(method, path, json={}, headers=bearer(tokens[role]))
        assert answer.status_code == 403
        assert TOKEN not in answer.text
    links = locked.get("/api/links", headers=bearer(TOKEN)).json()
    assert {link["role"] for link in links} == {"operator", "reader"}
    assert locked.delete("/api/links/0123456789ab", headers=bearer(TOKEN)).status_code == 404


def test_a_link_is_opened_like_the_address_of_the_console_and_revoked(locked):
    """The cookie works until the link is revoked."""
    link = locked.post("/api/links", json={"role": "reader"}, headers=bearer(TOKEN)).json()
    answer = locked.get(f"/?token={link['token']}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert locked.get("/api/access").json()["role"] == "reader"
    assert locked.post("/api/missions", json={}).status_code == 403
    with locked.websocket_connect(LIVE) as socket:
        assert socket.receive_json()["type"] == "missions"
    assert locked.delete(f"/api/links/{link['id']}", headers=bearer(TOKEN)).status_code == 204
    assert locked.get("/api/missions").status_code == 401
    with pytest.raises(WebSocketDisconnect) as refused, locked.websocket_connect(LIVE):
        pass
    assert refused.value.code == 4401
    locked.cookies.clear()


def test_a_link_limits_who_opens_it_on_loopback_until_it_is_left(client):
    """There everybody is the owner without a token, and a wrong one changes nothing."""
    assert client.get("/api/access").json() == {"role": "owner", "name": "", "is_open": True}
    link = client.post("/api/links", json={"role": "reader", "name": "office"}).json()
    shown = bearer(link["token"])
    assert client.get("/api/access", headers=shown).json()["role"] == "reader"
    assert client.post("/api/links", json={"role": "reader"}, headers=shown).status_code == 403
    assert client.get("/api/access", headers=bearer("wrong")).json()["role"] == "owner"
    left = client.get("/?token=", headers={"cookie": f"dowsax_token={link['token']}"}, follow_redirects=False)
    assert left.status_code == 303
    assert "Max-Age=0" in left.headers["set-cookie"]
    assert client.delete(f"/api/links/{link['id']}").status_code == 204
