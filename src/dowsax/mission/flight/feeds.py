"""Readings that do not come from the autopilot: a file that grows, a serial line, or a topic of a broker."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import unquote, urlsplit

from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.connection import parse_serial, require_serial
from dowsax.mission.flight.readings_file import ReadingsFile, RowId
from dowsax.mission.messages import MAX_BYTES
from dowsax.mission.mqtt import Broker, listen_mqtt, require_broker
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object

Row = tuple[str | None, dict[str, Any] | Refused]
"""The id of a reading, where its source has one, and its keys, or why it is none."""
_BAUD = 9_600
_SERIAL, _MQTT = "serial:", ("mqtt:", "mqtts:")
_RETRY_S = 2.0
"""Between two attempts to open a serial line."""
_MAX_WAITING = 10_000
"""Messages; the oldest are dropped."""
_CLOSE_S = 5.0


@runtime_checkable
class Feed(Protocol):
    """A source of readings."""

    def poll(self) -> Iterator[Row | Note]:
        """Yield what has arrived, and what became of the connection; it never waits."""
        ...

    def close(self) -> None: ...


def require_feed(address: str) -> None:
    """Raise an error in one line where this is no address of readings, or its broker does not answer."""
    if address.startswith(_MQTT):
        Broker.of(address)
        if "#" in address or "?" in address:
            raise ValueError(f"Not a topic: {address!r}. Write # as %23 in a topic, and ? as %3F.")
        asyncio.run(require_broker(address))
    elif address.startswith(_SERIAL):
        _parse_serial(address)
        require_serial()
    elif not _may_be_file(address):
        raise ValueError(
            f"Not a source of readings: {address!r}: give a file, serial:/dev/ttyUSB0:9600 or "
            "mqtt://host:1883/TOPIC."
        )


def _may_be_file(address: str) -> bool:
    """Whether a text is the name of a file, or of one that may appear in a folder."""
    path = Path(address)
    is_device = address.startswith("/dev/") and not address.startswith("/dev/shm/")
    return "://" not in address and not is_device and path.parent.is_dir() and path.exists() == path.is_file()


def open_feed(address: str, topic: str, last: RowId | None) -> Feed:
    """Open a source of readings.

    Parameters
    ----------
    address
        `serial:DEVICE:BAUD`, `mqtt://host:port/topic`, or a file.
    topic
        Where the address of a broker has none.
    last
        Of the file, the newest row that was read before.
    """
    if address.startswith(_MQTT):
        return MqttFeed(address, unquote(urlsplit(address).path.strip("/")) or topic)
    if address.startswith(_SERIAL):
        return SerialFeed(address)
    return ReadingsFile(Path(address), last)


def parse_line(data: bytes) -> dict[str, Any] | Refused:
    """Return the keys of a reading: those of a JSON object, or a number, which is its value."""
    text = data.decode("utf-8", errors="replace").strip()
    if len(data) > MAX_BYTES:
        return Refused(f"Too long: {len(data):,} bytes; a reading has at most {MAX_BYTES:,}.")
    try:
        if text.startswith("{"):
            return parse_object(text)
        float(text)
    except Refused as refusal:
        return refusal
    except ValueError:
        return Refused(f"Neither a number nor a JSON object: {text[:60]!r}.")
    return {"value": text}


class SerialFeed:
    """The lines of a sensor at a serial line, of which the first may be the end of one."""

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._rest, self._is_whole = b"", False
        self._again = 0.0
        """When to open it again [s]."""
        self._port: Any = None
        try:
            self._port = self._open()
        except OSError as error:
            raise ValueError(
                f"Cannot open {address} ({error.strerror or error}): check it, and whether another program "
                "has it."
            ) from None

    def poll(self) -> Iterator[Row | Note]:
        """Yield what the complete lines hold."""
        if self._port is None and self._clock() < self._again:
            return
        try:
            if self._port is None:
                self._port = self._open()
                yield Note(f"The sensor at {self._address} is back.")
            data = self._port.read(MAX_BYTES)
        except (OSError, TypeError) as error:
            # pyserial raises a TypeError where the device goes away in the middle of a call.
            if self._port is not None:
                yield Note(f"The sensor at {self._address} is gone ({error}): trying again.", is_alarm=True)
            self.close()
            self._again = self._clock() + _RETRY_S
            return
        for line in self._lines(data):
            if line.strip():
                yield None, parse_line(line)

    def close(self) -> None:
        if self._port is not None:
            with suppress(OSError):
                self._port.close()
        self._port, self._rest, self._is_whole = None, b"", False

    def _open(self) -> Any:
        device, baud = _parse_serial(self._address)
        return require_serial().Serial(device, baud, timeout=0)

    def _lines(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_BYTES:
            self._rest, self._is_whole = b"", False
        if lines and not self._is_whole:
            self._is_whole = True
            return lines[1:]
        return lines


class MqttFeed:
    """The messages of a topic, received by a thread of its own."""

    def __init__(self, url: str, topic: str) -> None:
        self._url, self._topic = url, topic
        self._arrived: deque[bytes | Note] = deque(maxlen=_MAX_WAITING)
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="readings", daemon=True)
        self._thread.start()

    def poll(self) -> Iterator[Row | Note]:
        """Yield what has arrived."""
        while self._arrived:
            item = self._arrived.popleft()
            yield item if isinstance(item, Note) else (None, parse_line(item))

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(lambda: None if self._task is None else self._task.cancel())
            self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        async def listen() -> None:
            self._task = asyncio.current_task()
            await listen_mqtt(self._url, self._topic, self._arrived.append, self._notify)

        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(listen())
        self._loop.close()

    def _notify(self, text: str, is_up: bool) -> None:
        self._arrived.append(Note(text, is_alarm=not is_up))


def _parse_serial(address: str) -> tuple[str, int]:
    try:
        return parse_serial(address.removeprefix(_SERIAL).removeprefix("//"), _BAUD)
    except ValueError as error:
        raise ValueError(
            f"Not an address of a sensor: {address!r} ({error}); give one such as serial:/dev/ttyUSB0:9600."
        ) from None
