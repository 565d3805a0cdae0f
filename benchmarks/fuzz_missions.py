"""Hostile inputs for advisors: as lines of JSON from a stream, and as messages of an MQTT broker."""

import asyncio
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.brokers import broker_at, free_port
from benchmarks.fuzz_tally import MAX_STEPS, Expected, Tally, errors_counted
from benchmarks.fuzzed_inputs import payload
from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import MAX_BYTES, read_lines, serve_lines
from dowsax.mission.mqtt import require_mqtt, serve_mqtt, topics

BATCH = 50
"""Inputs that are sent before their answers are looked at."""
CONNECT_TIMEOUT_S = 60.0
"""For one answer."""
Answer = str | Exception | None
"""A text, what was raised, or nothing at all."""


class Link(Protocol):
    """A way to an advisor and back."""

    name: str
    answers_blanks: bool

    def connect(self, advisor: Advisor, number: int) -> None: ...
    def exchange(self, batch: Sequence[bytes]) -> list[Answer]:
        """Send all of them, and give back their answers in order."""
        ...


class Lines:
    """Lines of a stream of bytes."""

    name = "JSON lines"
    answers_blanks = False

    def connect(self, advisor: Advisor, number: int) -> None:
        self._advisor = advisor

    def exchange(self, batch: Sequence[bytes]) -> list[Answer]:
        answers: list[Answer] = []
        lines = read_lines(io.BytesIO(b"".join(data + b"\n" for data in batch)))
        while True:
            try:
                serve_lines(self._advisor, lines, answers.append)
                break
            except Exception as error:
                # The lines after it are served as those of another stream would be.
                answers.append(error)
        return answers + [None] * (len(batch) - len(answers))


class Mqtt:
    """Messages of a broker; its event loop runs while answers are waited for."""

    name = "MQTT"
    answers_blanks = True

    def __init__(self, runner: asyncio.Runner, port: int) -> None:
        self._runner = runner
        self._port = port
        self._server: asyncio.Task | None = None
        self._stack = AsyncExitStack()
        self._lost: list[Exception] = []

    async def _start(self, advisor: Advisor, number: int) -> None:
        if self._server is None:
            client = require_mqtt().Client("127.0.0.1", self._port)
            self._client = await self._stack.enter_async_context(client)
            self._messages = aiter(self._client.messages)
        else:
            await self._stop()
        listening = asyncio.Event()

        def notify(text: str, is_up: bool) -> None:
            listening.set()
            if not is_up:
                self._lost.append(ConnectionError(text))

        # Topics of its own, as the broker may send the last input of the one before once more.
        channels = topics("fuzz", str(number))
        self._readings = channels[0]
        address = f"mqtt://127.0.0.1:{self._port}"
        self._server = asyncio.create_task(serve_mqtt(advisor, address, notify, channels, f"fuzz-{number}"))
        await asyncio.wait_for(listening.wait(), CONNECT_TIMEOUT_S)
        await self._client.subscribe(channels[1], qos=1)

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.cancel()
        with suppress(asyncio.CancelledError):
            await self._server

    async def _exchange(self, batch: Sequence[bytes]) -> list[Answer]:
        answers: list[Answer] = []
        for data in batch:
            await self._client.publish(self._readings, data, qos=1)
        with suppress(TimeoutError):
            for _ in batch:
                message = await asyncio.wait_for(anext(self._messages), CONNECT_TIMEOUT_S)
                answers.append(bytes(message.payload).decode())
        lost, self._lost = self._lost, []
        missing = len(batch) - len(answers)
        return answers + [*lost, *[None] * missing][:missing]

    def connect(self, advisor: Advisor, number: int) -> None:
        self._runner.run(self._start(advisor, number))

    def exchange(self, batch: Sequence[bytes]) -> list[Answer]:
        return self._runner.run(self._exchange(batch))

    def close(self) -> None:
        if self._server is not None:
            self._runner.run(self._stop())
            self._runner.run(self._stack.aclose())


@contextmanager
def mqtt_link() -> Iterator[Mqtt]:
    """A link by way of a broker of its own."""
    port = free_port()
    with broker_at(port), asyncio.Runner() as runner:
        link = Mqtt(runner, port)
        try:
            yield link
        finally:
            link.close()


def fuzz_missions(
    link: Link,
    ready: Advisor,
    inputs: int,
    rng: np.random.Generator,
    folder: Path,
    on_progress: Callable[[int], None],
) -> Tally:
    """Send hostile inputs to missions at the site of an advisor that is compiled, one mission after another.

    Each is given a good reading in the end, and its log is compared with the answers.
    """
    tally = Tally(link.name)
    with errors_counted(tally):
        while tally.sent < inputs:
            path = folder / f"{link.name}-{tally.missions}.log".replace(" ", "-")
            advisor = Advisor(ready.plan, ready.policy, tally.missions, path, warm_up=False)
            try:
                expected = _fuzz_one(link, advisor, inputs, rng, tally, on_progress)
            finally:
                advisor.close()
            for words in expected.faults(path):
                tally.fault(words)
    return tally


def _fuzz_one(
    link: Link,
    advisor: Advisor,
    inputs: int,
    rng: np.random.Generator,
    tally: Tally,
    on_progress: Callable[[int], None],
) -> Expected:
    link.connect(advisor, tally.missions)
    tally.missions += 1
    expected = Expected()
    while tally.sent < inputs and advisor.history.count < MAX_STEPS:
        batch = [payload(rng) for _ in range(min(BATCH, inputs - tally.sent))]
        tally.sent += len(batch)
        full = batch if link.answers_blanks else [data for data in batch if not _is_blank(data)]
        tally.blank += len(batch) - len(full)
        for data, answer in zip(full, link.exchange(full), strict=True):
            _expect(expected, tally.count(data, answer))
        on_progress(len(batch))
    good = {"id": "the last", "x": 9, "y": 9, "value": 3, "wind_u": 3, "wind_v": 1, "dwell": 1}
    (answer,) = link.exchange([json.dumps(good).encode()])
    body = json.loads(answer) if isinstance(answer, str) else {}
    _expect(expected, body)
    if body.get("number") != advisor.history.count or "error" in body:
        tally.fault(f"A good reading was not taken in after all: {answer}")
    return expected


def _is_blank(data: bytes) -> bool:
    """Whether a line is passed over; one that is too long is not, as only its beginning is looked at."""
    return not data.strip() and len(data) < MAX_BYTES


def _expect(expected: Expected, body: dict) -> None:
    if "error" in body:
        expected.refuse(body["error"])
    elif body:
        expected.numbers.add(body["number"])
