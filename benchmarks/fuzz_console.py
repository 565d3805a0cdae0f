"""Hostile calls of the console: a real server on this machine, and real missions behind it."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import uvicorn

from benchmarks.fuzz_tally import MAX_STEPS, Expected, Tally, errors_counted, strictly_parsed
from benchmarks.fuzzed_calls import JSON, Call, Targets, call
from dowsax.console.access_control import AccessSettings
from dowsax.console.app import build
from dowsax.console.bodies import CorrectionBody, ReadingBody
from dowsax.console.server import listen, server_config
from dowsax.console.service import Console
from dowsax.mission.messages import parse_request

CONNECT_TIMEOUT_S = 600.0
"""For one answer, and for a mission to be ready: one that is being compiled is deleted after that."""
MAX_REQUESTS = 2000
"""To one mission, whose log grows with every refusal."""


class Answer(NamedTuple):
    """What the server answers."""

    status: int
    content_type: str
    text: str


class Client:
    """Calls over one connection, which is begun again where it is lost."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CONNECT_TIMEOUT_S)

    def ask(self, asked: Call) -> Answer:
        """The answer; `OSError` or `HTTPException` where there is none."""
        headers = {"content-type": asked.content_type}
        try:
            self._connection.request(asked.method, f"/api{asked.path}", asked.body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode("utf-8")
        except BaseException:
            self._connection.close()
            raise
        return Answer(answer.status, answer.getheader("content-type") or "", text)

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """What a call that is as it should be is answered with."""
        answer = self.ask(Call(method, path, b"" if body is None else json.dumps(body).encode()))
        assert answer.status < 300, answer
        return json.loads(answer.text) if answer.text else None

    def close(self) -> None:
        self._connection.close()


@contextmanager
def served(folder: Path) -> Iterator[Client]:
    """A client of a console of its own, on a port of its own."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(server_config(build(Console(folder), AccessSettings())))
    thread = threading.Thread(target=server.run, args=([listener],), name="console")
    thread.start()
    client = Client(listener.getsockname()[1])
    try:
        yield client
    finally:
        client.close()
        server.should_exit = True
        thread.join()
        listener.close()


def fuzz_console(
    site: str, inputs: int, rng: np.random.Generator, folder: Path, on_progress: Callable[[int], None]
) -> Tally:
    """Send hostile calls, most of them to a real mission at this site, one mission after another."""
    tally = Tally("console API")
    with served(folder) as client, errors_counted(tally):
        simulated = _begin(client, {"type": "simulated", "field": "temperature", "particles": 64, "seed": 3})
        while tally.sent < inputs:
            real = _begin(client, {"type": "real", "site": site, "policy": "greedy", "seed": tally.missions})
            targets = Targets(real, simulated, site)
            expected = _fuzz_one(client, targets, inputs, rng, tally, on_progress)
            for words in expected.faults(next(folder.rglob(f"{real}*.log"))):
                tally.fault(words)
            client.json("DELETE", f"/missions/{real}")
    return tally


def _begin(client: Client, body: dict[str, Any]) -> str:
    id_ = client.json("POST", "/missions", body)["id"]
    end = time.monotonic() + CONNECT_TIMEOUT_S
    while client.json("GET", f"/missions/{id_}")["status"] == "preparing":
        assert time.monotonic() < end, "The mission is not ready."
        time.sleep(0.05)
    return id_


def _fuzz_one(
    client: Client,
    targets: Targets,
    inputs: int,
    rng: np.random.Generator,
    tally: Tally,
    on_progress: Callable[[int], None],
) -> Expected:
    tally.missions += 1
    expected = Expected()
    for _ in range(MAX_REQUESTS):
        if tally.sent >= inputs or len(expected.numbers) + expected.surveyed >= MAX_STEPS:
            break
        asked = call(rng, targets)
        tally.sent += 1
        answer = _answer(client, asked, tally)
        if answer is not None:
            _count(client, asked, answer, targets, tally, expected)
        on_progress(1)
    good = {"position": [9, 9], "value": 3, "id": "the last"}
    taken = client.ask(Call("POST", f"/missions/{targets.real}/readings", json.dumps(good).encode()))
    if taken.status != 200:
        tally.fault(f"A good reading was not taken in after all: {taken}")
    else:
        expected.numbers.add(json.loads(taken.text)["advice"]["number"])
    return expected


def _answer(client: Client, asked: Call, tally: Tally) -> Answer | None:
    try:
        return client.ask(asked)
    except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
        tally.unanswered += 1
        tally.fault(f"{asked.method} {asked.path[:100]}: {type(error).__name__} ({error}) after", asked.body)
        return None


def _count(
    client: Client, asked: Call, answer: Answer, targets: Targets, tally: Tally, expected: Expected
) -> None:
    """Count an answer, and note what the log has to hold by it."""
    what = f"{asked.method} {asked.path[:100]} ({asked.content_type}) {answer.status}"
    tally.answered += 1
    if answer.status >= 500:
        tally.raised += 1
        tally.fault(what, asked.body)
        return
    body: Any = {}
    if answer.content_type.startswith(JSON) and answer.text:
        try:
            body = strictly_parsed(answer.text)
        except ValueError as error:
            tally.fault(f"{what}: {error} in the answer to", asked.body)
    if answer.status >= 400 and asked.method != "HEAD" and not _is_one_line(body):
        tally.fault(f"{what}: {answer.text[:100]!r} is not one line that says why, after", asked.body)
    tally.count_body(asked.body, body if answer.status < 400 else {"error": "", **body})
    if asked.path == "/missions" and answer.status == 201:
        client.json("DELETE", f"/missions/{body['id']}")
    elif f"/missions/{targets.real}/" in asked.path:
        _expect(asked, answer.status, body, expected)


def _is_one_line(body: Any) -> bool:
    error = body.get("error") if isinstance(body, dict) else None
    return bool(error) and "\n" not in error and "Traceback" not in error


def _expect(asked: Call, status: int, body: Any, expected: Expected) -> None:
    if "advice" in body:
        expected.numbers.add(body["advice"]["number"])
    elif "/survey" in asked.path and status == 200:
        expected.surveyed += body["new"]
        for row in body["refused"]:
            expected.refuse(row["reason"])
    elif status == 422 and _reaches_the_mission(asked):
        expected.refuse(body["error"])


def _reaches_the_mission(asked: Call) -> bool:
    """Whether a reading or a correction is of the shape that the API asks for, and left to the mission."""
    number = asked.path.rpartition("/readings")[2].strip("/")
    kinds = {"POST": ReadingBody, "PATCH": CorrectionBody}
    if asked.method not in kinds or asked.content_type != JSON or number not in ("", "1", "2", "3"):
        return False
    try:
        body = kinds[asked.method].model_validate(json.loads(asked.body))
        more = {"correct": True, "number": int(number)} if number else {}
        parse_request(body.to_keys() | more)
    except (ValueError, RecursionError):
        return False
    return "/readings" in asked.path
