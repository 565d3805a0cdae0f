"""The sockets: the state at once, then what is new; one that does not listen holds up nobody."""

import base64
import json
import os
import socket
import threading
import time

import pytest
import uvicorn
from starlette.websockets import WebSocketDisconnect

WS = "ws://127.0.0.1:8000"


def of_type(socket, kind):
    """The next message of a type."""
    while True:
        message = socket.receive_json()
        if message["type"] == kind:
            return message[kind]


def test_a_socket_sends_the_mission_and_then_its_snapshots(begin, client):
    mission = begin(type="simulated", seed=31)["id"]
    with client.websocket_connect(f"{WS}/api/missions/{mission}/live") as live:
        assert of_type(live, "mission")["id"] == mission
        for number in (1, 2, 3):
            client.post(f"/api/missions/{mission}/control", json={"action": "step"})
            snapshot = of_type(live, "snapshot")
            assert snapshot["number"] == number
            assert snapshot == client.get(f"/api/missions/{mission}/snapshots/{number}").json()


def test_a_socket_sends_events(begin, client):
    mission = begin()["id"]
    with client.websocket_connect(f"{WS}/api/missions/{mission}/live") as live:
        client.post(f"/api/missions/{mission}/readings", json={"position": [99, 99], "value": 1})
        event = of_type(live, "event")
    assert event["kind"] == "refused"
    assert "outside the area" in event["text"]


def test_a_socket_sends_the_list_when_it_changes(begin, client):
    with client.websocket_connect(f"{WS}/api/live") as live:
        before = {mission["id"] for mission in of_type(live, "missions")}
        new = begin()["id"]
        while new not in (now := {mission["id"] for mission in of_type(live, "missions")}):
            pass
        assert now - before == {new}


def test_there_is_no_socket_for_no_mission(client):
    with client.websocket_connect(f"{WS}/api/missions/0123456789ab/live") as live:
        with pytest.raises(WebSocketDisconnect) as closed:
            live.receive_json()
        assert closed.value.code == 4404


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A console on a port of its own, that does not wait long for anybody."""
    from dowsax.console import live
    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build
    from dowsax.console.service import Console

    monkeypatch.setattr(live, "_SEND_TIMEOUT_S", 0.5)
    monkeypatch.setattr(live, "_MIN_SNAPSHOT_INTERVAL_S", 0.0)
    listener = socket.create_server(("127.0.0.1", 0))
    console = Console(tmp_path)
    server = uvicorn.Server(
        uvicorn.Config(build(console, AccessSettings()), log_level="warning", ws="websockets-sansio")
    )
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield console, listener.getsockname()
    server.should_exit = True
    thread.join(30)
    listener.close()


class Line:
    """A socket to a console, by hand: it reads when it is told to."""

    def __init__(self, address, path, room=None):
        self._line = socket.socket()
        if room is not None:
            self._line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self._line.settimeout(30)
        self._line.connect(address)
        host, port = address
        self._line.sendall(
            f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            f"sec-websocket-version: 13\r\nsec-websocket-key: {base64.b64encode(os.urandom(16)).decode()}"
            "\r\n\r\n".encode()
        )
        self._file = self._line.makefile("rb")
        while self._file.readline() not in (b"\r\n", b""):
            pass

    def message(self):
        """The next text, or nothing at the end."""
        while head := self._file.read(2):
            size = head[1] & 127
            if size >= 126:
                size = int.from_bytes(self._file.read(2 if size == 126 else 8), "big")
            data = self._file.read(size)
            if head[0] & 15 == 1:
                return json.loads(data)
            if head[0] & 15 == 8:
                return None
        return None

    def close(self):
        self._file.close()
        self._line.close()


def newest(message):
    """The number of the newest reading that a message tells of: a mission has its newest snapshot along."""
    return (message["snapshot"] if message["type"] == "snapshot" else message["mission"]["latest"])["number"]


def ask(address, path, body=None):
    import urllib.request

    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://{address[0]}:{address[1]}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def test_a_client_that_does_not_read_is_disconnected_and_delays_nobody(served, site_text):
    """It is sent more than any buffer holds; another client is told all the while, and what comes after."""
    console, address = served
    body = {"type": "real", "site": site_text(), "policy": "greedy", "seed": 3}
    mission = ask(address, "/api/missions", body)["id"]
    ask(address, f"/api/missions/{mission}/readings", {"position": [2, 2], "value": 0.5})
    deaf = Line(address, f"/api/missions/{mission}/live", room=4096)
    good = Line(address, f"/api/missions/{mission}/live")
    heard = []
    deadline = time.monotonic() + 60
    while len(console.broadcaster) != 2 and time.monotonic() < deadline:
        time.sleep(0.005)

    def listen():
        while not heard or heard[-1] < 2:
            heard.append(newest(good.message()))

    listening = threading.Thread(target=listen)
    listening.start()
    deadline = time.monotonic() + 60
    while len(console.broadcaster) != 1 and time.monotonic() < deadline:
        # Each makes some 30 kB for every watcher; what the deaf one does not take fills its buffers.
        console.missions[mission].publish_change()
        time.sleep(0.005)
    assert len(console.broadcaster) == 1
    ask(address, f"/api/missions/{mission}/readings", {"position": [3, 2], "value": 0.6})
    listening.join(30)
    assert heard == [1] * (len(heard) - 1) + [2]
    assert len(heard) > 10
    good.close()
    deaf.close()


def test_a_slow_client_gets_the_newest_and_not_what_was_before(served, site_text):
    """It does not read while many readings come: after what was under way, the next snapshot is the last."""
    _, address = served
    body = {"type": "real", "site": site_text(), "policy": "greedy", "seed": 3}
    mission = ask(address, "/api/missions", body)["id"]
    ask(address, f"/api/missions/{mission}/readings", {"position": [2, 2], "value": 0.5})
    slow = Line(address, f"/api/missions/{mission}/live")
    for count in range(2, 22):
        ask(address, f"/api/missions/{mission}/readings", {"position": [2, count], "value": 0.5})
    numbers = []
    while not numbers or numbers[-1] != 21:
        numbers.append(newest(slow.message()))
    assert numbers == sorted(numbers)
    slow.close()
