"""The guard turns away who has no token, comes by another name or page, or sends too much."""

import asyncio

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

TOKEN = "correct-horse-battery"
HOME = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/api/live"


async def echo(scope, receive, send):
    """Says what it was sent; on a socket, that it is open."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "open"})
        await send({"type": "websocket.close"})
        return
    if scope["type"] == "http":
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


def guarded(**door):
    from dowsax.console.access_control import AccessControl, AccessSettings

    return TestClient(AccessControl(echo, AccessSettings(**door)), base_url=HOME, follow_redirects=False)


def closed_with(client, headers):
    """The code with which a socket is refused."""
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(LIVE, headers=headers):
        pass
    return refused.value.code


@pytest.fixture
def locked():
    return guarded(host="0.0.0.0", token=TOKEN)


@pytest.mark.parametrize(
    "path", ["/", "/app.js", "/api/missions", "/api/openapi.json", "/api/missions/x/export"]
)
def test_nothing_is_answered_without_the_token(locked, path):
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": TOKEN},
        {"cookie": "dowsax_token=no"},
    ):
        answer = locked.get(path, headers=headers)
        assert answer.status_code == 401
        assert TOKEN not in answer.text
    assert locked.get(f"{path}?token=wrong").status_code == 401


def test_the_token_opens_every_door(locked):
    assert (
        locked.post("/api/x", content=b"hello", headers={"authorization": f"Bearer {TOKEN}"}).text == "hello"
    )
    assert locked.get("/", headers={"cookie": f"dowsax_token={TOKEN}"}).status_code == 200


def test_the_address_with_the_token_leaves_a_cookie_that_no_script_reads(locked):
    """And leads on to the address without it; elsewhere a token in the address opens nothing."""
    answer = locked.get(f"/?token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert locked.get("/").status_code == 200
    locked.cookies.clear()
    assert locked.get(f"/api/missions?token={TOKEN}").status_code == 401


def test_sockets_need_the_token_too(locked):
    assert closed_with(locked, {}) == 4401
    with locked.websocket_connect(LIVE, headers={"authorization": f"Bearer {TOKEN}"}) as socket:
        assert socket.receive_text() == "open"


def test_an_open_socket_of_a_revoked_link_gets_nothing_more(tmp_path):
    from dowsax.console.access_control import AccessControl, AccessSettings
    from dowsax.console.links import Links

    links = Links(tmp_path / "links.json")
    link, other = links.create("reader", ""), links.create("reader", "")
    sent = []

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "1"})
        links.revoke(other.id)
        await send({"type": "websocket.send", "text": "2"})
        links.revoke(link.id)
        for text in ("3", "4"):
            await send({"type": "websocket.send", "text": text})
        await send({"type": "websocket.close"})

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {link.token}".encode())]
    scope = {"type": "websocket", "path": "/api/live", "query_string": b"", "headers": headers}
    asyncio.run(AccessControl(app, AccessSettings(), links)(scope, None, send))
    assert [message.get("text") for message in sent] == [None, "1", "2", None]
    assert (sent[-1]["type"], sent[-1]["code"]) == ("websocket.close", 4401)


def test_loopback_needs_no_token_and_any_other_address_does():
    from dowsax.console.access_control import AccessSettings

    assert guarded().get("/").status_code == 200
    for host in ("127.0.0.1", "localhost", "::1", "127.9.9.9"):
        AccessSettings(host=host)
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        with pytest.raises(ValueError, match="token"):
            AccessSettings(host=host)
    with pytest.raises(ValueError, match="16"):
        AccessSettings(token="short")


def test_other_names_are_not_answered():
    """A name that somebody else has made lead here: the page behind it could read all answers."""
    client = guarded()
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1", "localhost@evil"):
        assert client.get("/api/missions", headers={"host": host}).status_code == 421
    for host in ("localhost", "localhost:1", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"):
        assert client.get("/api/missions", headers={"host": host}).status_code == 200


def test_a_wildcard_address_answers_to_addresses_and_not_to_names(locked):
    allowed = {"authorization": f"Bearer {TOKEN}"}
    assert locked.get("/api", headers={"host": "192.168.7.7:8000", **allowed}).status_code == 200
    assert locked.get("/api", headers={"host": "evil.example", **allowed}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": HOME},
    ],
)
def test_other_pages_change_nothing(headers):
    """Neither by a request nor by a socket; from what only reads, the browser hides the answer."""
    client = guarded()
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/api/missions", headers=headers).status_code == 403
    assert closed_with(client, headers) == 4403


def test_its_own_page_and_programs_may():
    client = guarded()
    for headers in ({"origin": HOME}, {"origin": HOME, "sec-fetch-site": "same-origin"}, {}):
        assert client.post("/api/missions", content=b"1", headers=headers).status_code == 200
        with client.websocket_connect(LIVE, headers=headers) as socket:
            assert socket.receive_text() == "open"


def test_bodies_are_limited():
    """64 kB, and 5 MB for a survey; whether the length is said beforehand or not."""
    client = guarded()
    for path, most in (("/api/missions", 64 * 1024), ("/api/missions/x/survey", 5 * 1024 * 1024)):
        assert len(client.post(path, content=b"x" * most).content) == most
        assert client.post(path, content=b"x" * (most + 1)).status_code == 413
        pieces = (b"x" * 1024 for _ in range(most // 1024 + 1))
        assert client.post(path, content=pieces).status_code == 413
    assert client.post("/api/x", headers={"content-length": "-1"}, content=b"").status_code == 413


@pytest.mark.parametrize("path", ["/api/missions/x/survey", "/api/site/form", "/api/pictures"])
def test_only_what_changes_something_may_have_a_large_body(path):
    """A reader can send nothing that is large, as it would be in memory until it is complete."""
    client, body = guarded(), b"x" * (64 * 1024 + 1)
    assert client.post(path, content=body).status_code == 200
    for method in ("GET", "OPTIONS"):
        assert client.request(method, path, content=body).status_code == 413
        assert client.request(method, path, content=body[1:]).status_code == 200


@pytest.mark.parametrize(
    ("length", "read"),
    [(b"200000", 200_000), (b"1000000000", 0), (b"9" * 5000, 0)],
    ids=["too large", "far too large", "5,000 digits"],
)
def test_a_body_that_is_too_large_is_read_to_its_end(length, read):
    """A connection that is closed before would be reset, and the answer lost; none is read without end."""
    from dowsax.console.access_control import AccessControl, AccessSettings

    left, said = [b"x" * 1000] * 200, []

    async def receive():
        piece = left.pop()
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(message):
        said.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-length", length)]
    scope = {"type": "http", "method": "POST", "path": "/api/missions", "headers": headers}
    asyncio.run(AccessControl(echo, AccessSettings())(scope, receive, send))
    assert said[0]["status"] == 413
    assert 1000 * (200 - len(left)) == read


def test_security_headers_allow_only_the_console():
    headers = guarded().get("/api/missions").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    hostile = guarded(host="0.0.0.0", token=TOKEN).get("/", headers={"host": "1.1.1.1;script-src *"})
    assert "script-src" not in hostile.headers["content-security-policy"]
