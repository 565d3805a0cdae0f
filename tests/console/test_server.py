"""Clients that send half a request, or one byte at a time: closed after a while, and never too many at once.

A server as `dowsax serve` sets it up, with less patience, and real sockets.
"""

import asyncio
import json
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from websockets.sync.client import connect

from dowsax.console import server as server_module
from dowsax.console.server import LimitedProtocol, listen

TIMEOUT_S = 0.5
LONG_S = 1.5
"""Longer than any client has."""
WAIT_S = 20.0
"""Until a test gives up."""
BIG = 20_000_000
"""Letters, more than all buffers on the way to a client hold."""
REQUEST = b"GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def application(scope, receive, send):
    """Answers at once, after a long time, or in a websocket what it is told."""
    if scope["type"] == "lifespan":
        return
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
        return
    if scope["path"] == "/later":
        await asyncio.sleep(LONG_S)
    body = json.dumps("x" * BIG if scope["path"] == "/big" else scope["path"]).encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
    )
    await send({"type": "http.response.body", "body": body})


@contextmanager
def served():
    """The port of a server in another thread."""
    server = uvicorn.Server(server_module.server_config(application))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.fixture
def port(monkeypatch):
    """Of a server that waits half a second, and for four clients at most."""
    monkeypatch.setattr(LimitedProtocol, "timeout_s", TIMEOUT_S)
    monkeypatch.setattr(LimitedProtocol, "max_waiting", 4)
    with served() as port:
        yield port


def opened(port, data=b""):
    client = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    client.sendall(data)
    return client


def answer(client):
    """The body of one answer."""
    data = bytearray()
    while b"\r\n\r\n" not in data[:1000] or not data.endswith(b'"'):
        more = client.recv(1 << 20)
        assert more, "closed without an answer"
        data += more
    return bytes(data).partition(b"\r\n\r\n")[2]


def drip(client):
    """Send bytes, each sooner than the server loses its patience, for far longer than it has."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        client.sendall(b"x")
        time.sleep(TIMEOUT_S / 10)


def is_open(client):
    """Whether the server has not closed it, now."""
    client.settimeout(0.0)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False
    finally:
        client.settimeout(WAIT_S)


HALVES = {
    "nothing": b"",
    "half a line": b"GET /no",
    "half a head": b"GET /now HTTP/1.1\r\nHost: local",
    "half a second request": REQUEST + b"GET /now HTTP/1.1\r\n",
}


@pytest.mark.parametrize("data", HALVES.values(), ids=HALVES)
def test_half_a_request_is_closed(port, data):
    with opened(port, data) as client:
        while client.recv(4096):
            pass


DRIPS = {
    "a head": b"GET /now HTTP/1.1\r\nX: ",
    "a second head": REQUEST + b"GET /now HTTP/1.1\r\nX: ",
    "a body after its answer": b"POST /now HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
}


@pytest.mark.parametrize("data", DRIPS.values(), ids=DRIPS)
def test_one_byte_at_a_time_is_closed(port, data):
    with opened(port, data) as client, pytest.raises((BrokenPipeError, ConnectionResetError)):
        drip(client)


def test_a_request_in_pieces_is_answered(port):
    with opened(port) as client:
        for part in (REQUEST[:9], REQUEST[9:30], REQUEST[30:]):
            client.sendall(part)
            time.sleep(TIMEOUT_S / 10)
        assert answer(client) == b'"/now"'


def test_a_long_answer_and_the_next_request_are_not_cut(port):
    with opened(port) as client:
        for _ in range(2):
            client.sendall(REQUEST.replace(b"now", b"later"))
            assert answer(client) == b'"/later"'
            client.sendall(REQUEST)
            assert answer(client) == b'"/now"'


def test_a_large_answer_that_is_read_late_comes_whole(port):
    with opened(port, REQUEST.replace(b"now", b"big")) as client:
        time.sleep(LONG_S)
        assert len(answer(client)) == BIG + 2


def test_a_websocket_that_says_nothing_stays_open(port):
    with connect(f"ws://127.0.0.1:{port}/") as client:
        time.sleep(LONG_S)
        client.send("still there")
        assert client.recv(WAIT_S) == "still there"


def test_of_too_many_that_wait_the_oldest_are_closed(port, monkeypatch):
    """However many they are, a request is answered."""
    monkeypatch.setattr(LimitedProtocol, "timeout_s", WAIT_S)
    clients = [opened(port, b"GET /no") for _ in range(12)]
    with opened(port, REQUEST) as client:
        assert answer(client) == b'"/now"'
        # The one that was answered waits for another request, as one of the four.
        end = time.monotonic() + WAIT_S
        while sum(map(is_open, clients)) > 3 and time.monotonic() < end:
            time.sleep(0.05)
        assert [is_open(one) for one in clients] == [False] * 9 + [True] * 3
    for one in clients:
        one.close()


def test_beyond_the_most_connections_a_request_is_refused_at_once(monkeypatch):
    """And taken again when there are fewer."""
    monkeypatch.setattr(server_module, "_MAX_CONNECTIONS", 3)
    with served() as port:
        busy = [opened(port, REQUEST.replace(b"now", b"later")) for _ in range(2)]
        time.sleep(LONG_S / 3)
        with opened(port, REQUEST) as client:
            assert client.recv(4096).startswith(b"HTTP/1.1 503")
        assert [answer(client) for client in busy] == [b'"/later"'] * 2
        for client in busy:
            client.close()
        time.sleep(LONG_S / 3)
        with opened(port, REQUEST) as client:
            assert answer(client) == b'"/now"'


async def is_sent_at_once(listener):
    """Whether the system holds nothing back on a connection to this socket, as asyncio serves it."""
    found = asyncio.get_running_loop().create_future()

    async def served(reader, writer):
        made = writer.get_extra_info("socket")
        found.set_result(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(served, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        try:
            return await found
        finally:
            writer.close()


def test_the_parts_of_an_answer_do_not_wait_for_each_other():
    """By default the body would come 40 ms after the head."""
    with listen("127.0.0.1", 0) as listener:
        assert asyncio.run(is_sent_at_once(listener))


def test_the_links_in_force_are_said_with_their_addresses(tmp_path):
    from dowsax.console.access_control import AccessSettings
    from dowsax.console.links import Links
    from dowsax.console.server import describe_links

    links = Links(tmp_path / "links.json")
    access = AccessSettings("0.0.0.0", 8000, "correct-horse-battery")
    assert describe_links(links, access, 8000) == []
    links.create_first()
    crew, office = links.all
    assert describe_links(links, access, 81) == [
        f"The crew (runs missions): http://127.0.0.1:81/?token={crew.token}",
        f"The office (read-only): http://127.0.0.1:81/?token={office.token}",
    ]
