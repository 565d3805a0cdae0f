"""Access control: who may use the console, from which page, by which host name, and how large a body.

The token of a link gives its role; that of the console, which loopback does not need, gives all rights.
Another page in the user's browser can send requests here; under a host name of its own that leads to this
machine it can even read the answers. So the host name and the origin of a request are checked on every route
and socket, besides the token.
"""

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dowsax.console.links import OWNER, READER, Link, Links

COOKIE = "dowsax_token"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MAX_BODY_BYTES = 64 * 1024
_MAX_SURVEY_BYTES = 5 * 1024 * 1024
_MAX_PICTURE_BYTES = 31 * 1024 * 1024
"""The largest picture, and the form around it."""
_MAX_DISCARDED_BYTES = 32 * 1024 * 1024
"""Of a body that is too large and is read all the same.

A connection that is closed with unread bytes is reset, and its answer is lost.
"""
_MAX_FORM_BYTES = 512 * 1024
"""A site file, and all that is drawn besides."""
_BODY_TIMEOUT_S = 30.0
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_OWNER_PATHS = "/api/links"
_REVOKED = 4401
"""Code with which the sockets of a revoked link are closed."""

_NO_TOKEN = 401, "A token is needed: open the address that the console printed when it started."

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class AccessSettings:
    """The address on which the console listens, and its token."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise ValueError(f"`port` must be from 0 to 65535; got {self.port}.")
        if self.token is None and not self.is_loopback:
            raise ValueError(f"`token` must be given for {self.host}, as it is not loopback.")
        if self.token is not None and (len(self.token) < 16 or not self.token.isascii()):
            raise ValueError("`token` must have at least 16 ASCII characters, so that it cannot be guessed.")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    def accepts_host(self, name: str) -> bool:
        """Whether the console answers to this host name: loopback, its own address, or a plain IP address.

        A name that somebody else has pointed to this machine is none of these.
        """
        if name in _LOOPBACK or name == self.host.lower():
            return True
        return self.host in ("0.0.0.0", "::") and _is_address(name)


def is_loopback(host: str) -> bool:
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Visitor:
    """Who sends a request."""

    role: str
    link: Link | None = None
    """Whose token was shown; `None` for the owner."""


class AccessControl:
    """ASGI middleware that passes on the requests that are allowed, with their `visitor` in the scope."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        settings: AccessSettings,
        links: Links | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        send = _with_headers(send, scope, headers.get("host", ""))
        visitor = self._visitor(scope, headers)
        refusal = self._refusal(scope, headers, visitor)
        if refusal is not None or visitor is None:
            await _refuse(scope, send, *(refusal or _NO_TOKEN))
            return
        scope["visitor"] = visitor
        if scope["type"] == "websocket":
            await self._app(scope, receive, self._until_revoked(visitor, send))
            return
        brought = _brought_token(scope)
        # On loopback one leaves a link by an empty token.
        is_left = brought == "" and self._settings.token is None
        if brought is not None and (is_left or self._identify(brought) is not None):
            await _store_token(send, brought)
            return
        body = await _body(scope, headers, receive)
        if isinstance(body, tuple):
            await _refuse(scope, send, *body)
            return
        await self._app(scope, _replay_body(body, receive), send)

    def _refusal(
        self, scope: Scope, headers: dict[str, str], visitor: Visitor | None
    ) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._settings.accepts_host(_name_of(host)):
            return 421, "This console does not answer to that name: use the address it printed."
        is_safe = scope["type"] == "http" and scope["method"] in _SAFE_METHODS
        if not is_safe and _is_cross_site(headers, host):
            return 403, "Requests from pages of other sites are not allowed."
        if visitor is None:
            return _NO_TOKEN
        # By method, so that no new route can be forgotten.
        if visitor.role == READER and scope["type"] == "http" and not is_safe:
            return 403, "This link is read-only: ask the owner of the console for an operator's link."
        if visitor.role != OWNER and scope["path"].startswith(_OWNER_PATHS):
            return 403, "Only the owner of the console manages its links: open the address that it printed."
        return None

    def _visitor(self, scope: Scope, headers: dict[str, str]) -> Visitor | None:
        """Return who sends a request; `None` where a token is needed and none is right."""
        shown = [_brought_token(scope), _bearer_token(headers), _cookie_token(headers)]
        known = (self._identify(token) for token in shown if token)
        own = Visitor(OWNER) if self._settings.token is None else None
        return next((visitor for visitor in known if visitor is not None), own)

    def _identify(self, token: str) -> Visitor | None:
        """Return whose token it is."""
        if self._settings.token is not None and _same(token, self._settings.token):
            return Visitor(OWNER)
        link = None if self._links is None else self._links.find(token)
        return None if link is None else Visitor(link.role, link)

    def _until_revoked(self, visitor: Visitor, send: Send) -> Send:
        """Return a `send` of a socket that closes it once the link of its visitor is revoked."""
        link, links, is_closed = visitor.link, self._links, False

        async def sending(message: dict[str, Any]) -> None:
            nonlocal is_closed
            is_revoked = link is not None and links is not None and link not in links.all
            if is_revoked and not is_closed and message["type"] != "websocket.close":
                is_closed = True
                await send({"type": "websocket.close", "code": _REVOKED, "reason": "The link was revoked."})
            elif not is_closed:
                await send(message)

        return sending


def _brought_token(scope: Scope) -> str | None:
    """Return the token with which the page is opened in its URL; `None` where there is none."""
    if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
        return None
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("token", [None])[0]


def _bearer_token(headers: dict[str, str]) -> str | None:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else None


def _cookie_token(headers: dict[str, str]) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[COOKIE].value if COOKIE in cookies else None


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_cross_site(headers: dict[str, str], host: str) -> bool:
    """Whether a browser says that another page sends this; other programs say nothing."""
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin not in (f"http://{host}", f"https://{host}")


async def _body(scope: Scope, headers: dict[str, str], receive: Receive) -> bytes | tuple[int, str]:
    """Return the whole body, or a status code and a reason."""
    limit = _max_bytes(scope["method"], scope["path"])
    too_large = 413, f"Too large: a body here must have at most {limit // 1024} kB."
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > _MAX_DISCARDED_BYTES:
        return too_large
    data, size = bytearray(), 0
    try:
        async with asyncio.timeout(_BODY_TIMEOUT_S):
            while size <= _MAX_DISCARDED_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return 400, "The request ended before it was complete."
                piece = message.get("body", b"")
                size += len(piece)
                if size <= limit:
                    data += piece
                if not message.get("more_body", False):
                    return bytes(data) if size <= limit else too_large
    except TimeoutError:
        return 408, "The request did not come in time: send it again."
    return too_large


def _max_bytes(method: str, path: str) -> int:
    """Return how large a body may be at an address; a reader's methods need none."""
    if method in _SAFE_METHODS:
        return _MAX_BODY_BYTES
    if path.endswith("/survey"):
        return _MAX_SURVEY_BYTES
    if path == "/api/site/form":
        return _MAX_FORM_BYTES
    if path == "/api/pictures":
        return _MAX_PICTURE_BYTES
    return _MAX_BODY_BYTES


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body again, then what comes next."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> dict[str, Any]:
        return waiting.pop() if waiting else await receive()

    return replay


def _with_headers(send: Send, scope: Scope, host: str) -> Send:
    """Add security headers to every answer."""
    shown = host if all(mark.isalnum() or mark in ".:[]-" for mark in host) else ""
    policy = (
        f"default-src 'self'; connect-src 'self' ws://{shown} wss://{shown}; img-src 'self' data: blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    added = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store" if scope["path"].startswith("/api") else "no-cache",
    }

    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            had = {name.lower() for name, _ in message.get("headers", ())}
            extra = [(name.encode(), value.encode()) for name, value in added.items()]
            missing = [pair for pair in extra if pair[0] not in had]
            message = message | {"headers": [*message.get("headers", ()), *missing]}
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4000 + status, "reason": words})
        return
    body, kind = json.dumps({"error": words}).encode(), b"application/json"
    if not scope["path"].startswith("/api"):
        body, kind = (
            f"<!doctype html><title>dowsax</title><p>{words}</p>".encode(),
            b"text/html; charset=utf-8",
        )
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (408, 413):
        # The rest of the body is not read.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _store_token(send: Send, token: str) -> None:
    """Store the token in a cookie that no script can read, and remove it from the URL; "" removes it."""
    age = 2592000 if token else 0
    cookie = f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
