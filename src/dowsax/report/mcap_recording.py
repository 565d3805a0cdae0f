"""A mission as an MCAP file, which Foxglove opens: of a finished log, or live beside it.

Each record of the log is a chunk of its own and is written at once, so that a file whose program was killed
can be read up to the last record. Times are those of the measurements.
"""

import json
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

from dowsax.extras import require_extra
from dowsax.files import replace_file
from dowsax.mission.advice import Advice
from dowsax.mission.history import History
from dowsax.mission.log import Header, MissionLog, Note, Record, Refusal, Step, now
from dowsax.mission.messages import AdvisorLike, Request
from dowsax.mission.plan import Plan
from dowsax.report.mcap_messages import Message, other_message, site_messages, step_messages
from dowsax.report.mcap_schemas import encode_schema
from dowsax.site import parse_site
from dowsax.site.site import Site
from dowsax.survey.reading import Refused
from dowsax.version import VERSION

MAGIC = b"\x89MCAP0\r\n"
_MAX_TIME_NS = 2**63
_NAME = "dowsax"


class Clock:
    """The times of records [ns], by the clock of the measurements.

    A reading has the time at which it was measured. What has none, such as a correction, has the time at
    which it arrived, moved by as much as the newest measurement was: seconds since the start of a mission are
    another clock than that of this machine.
    """

    def __init__(self) -> None:
        self._newest: int | None = None
        self._shift = 0

    def time(self, record: Record) -> int:
        """Return the time of a record [ns]."""
        arrived = round(datetime.fromisoformat(record.received).timestamp() * 1e3) * 10**6
        measured = _measured(record)
        if measured is None:
            return max(arrived + self._shift, 0)
        if self._newest is None or measured >= self._newest:
            self._newest, self._shift = measured, measured - arrived
        return measured


def _measured(record: Record) -> int | None:
    """Return when a new reading was measured [ns]; `None` where that is not known."""
    if not isinstance(record, Step) or record.corrects is not None or record.reading is None:
        return None
    seconds = record.reading.get("time")
    # To a microsecond, the precision of seconds since 1970.
    time = None if seconds is None else round(seconds * 1e6) * 1000
    return time if time is not None and 0 <= time < _MAX_TIME_NS else None


class Recording:
    """An MCAP file that grows with a mission."""

    def __init__(self, stream: IO[bytes], site: Site, header: Header) -> None:
        require_extra("mcap", "A recording")
        from mcap.writer import Writer

        self._site, self._clock, self._is_begun = site, Clock(), False
        self._waiting: list[Record] = []
        """Records before the first reading, which says by which clock they are."""
        self._writer = Writer(stream)
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._writer.start(library=f"{_NAME} {VERSION}")
        self._writer.add_metadata(_NAME, _about(header, site))
        self._writer.flush()

    def add(self, record: Record) -> None:
        """Write a record; what was written is in the file when this returns."""
        if not self._is_begun and not isinstance(record, Step):
            self._waiting.append(record)
            return
        time = self._clock.time(record)
        waiting, self._waiting = self._waiting, []
        if not self._is_begun:
            self._is_begun = True
            for message in site_messages(self._site):
                self._write(message, min([time, *map(self._clock.time, waiting)]))
        for each, at in [*((each, self._clock.time(each)) for each in waiting), (record, time)]:
            for message in _messages(each, self._site, at):
                self._write(message, at)
        self._writer.flush()

    def close(self) -> None:
        """Write the end of the file, with its index; the stream stays open."""
        waiting, self._waiting, self._is_begun = self._waiting, [], True
        for record in waiting:
            self.add(record)
        self._writer.finish()

    def _write(self, message: Message, time: int) -> None:
        if message.kind not in self._schemas:
            schema = encode_schema(message.kind)
            self._schemas[message.kind] = self._writer.register_schema(message.kind, "jsonschema", schema)
        if message.topic not in self._channels:
            self._channels[message.topic] = self._writer.register_channel(
                message.topic, "json", self._schemas[message.kind]
            )
        data = json.dumps(message.body, allow_nan=False).encode()
        self._writer.add_message(self._channels[message.topic], time, data, time)


def _messages(record: Record, site: Site, time: int) -> Iterator[Message]:
    if isinstance(record, Step):
        yield from step_messages(record, site, time)
    else:
        yield other_message(record, time)


def _about(header: Header, site: Site) -> dict[str, str]:
    """Return what was the mission that is recorded."""
    return {"name": site.name, "kind": site.kind, "unit": site.unit} | _mission_of(header)


@runtime_checkable
class LoggingAdvisor(AdvisorLike, Protocol):
    """An advisor with a log."""

    @property
    def step(self) -> Step | None: ...
    @property
    def history(self) -> History: ...
    def note(self, what: str, text: str) -> None: ...


class RecordedAdvisor:
    """An advisor whose mission is recorded as it goes. A recording that fails does not stop the mission.

    What the log has already is recorded first, so that a mission that continues has one whole file.
    """

    def __init__(self, advisor: LoggingAdvisor, log: Path, path: Path, notify: Callable[[str], None]) -> None:
        self._advisor, self._log, self._path, self._notify = advisor, log, path, notify
        opened = MissionLog.open(log)
        require_recording(path, opened.header)
        site = parse_site(opened.header.site, str(log))
        with replace_file(path) as partial:
            self._stream = partial.open("wb")
            self._recording: Recording | None = Recording(self._stream, site, opened.header)
            _record_all(opened.records(), self._recording)
            # It goes on growing under its own name.

    @property
    def plan(self) -> Plan:
        return self._advisor.plan

    @property
    def latest(self) -> Advice | None:
        return self._advisor.latest

    def answer(self, request: Request, given: str = "") -> Advice:
        """Do what `Advisor.answer` does, and record it."""
        before = self._advisor.step
        try:
            advice = self._advisor.answer(request, given)
        except Refused as refusal:
            self._record(self._refusal(given, str(refusal)))
            raise
        if self._advisor.step is not None and self._advisor.step is not before:
            self._record(self._advisor.step)
        return advice

    def note_refusal(self, given: str, reason: str) -> None:
        """Do what `Advisor.note_refusal` does, and record it."""
        self._advisor.note_refusal(given, reason)
        self._record(self._refusal(given, reason))

    def note(self, what: str, text: str) -> None:
        """Do what `Advisor.note` does, and record it."""
        self._advisor.note(what, text)
        self._record(Note(now(), what, text))

    def close(self) -> None:
        """End the recording; the advisor stays open."""
        self._try(lambda recording: recording.close())
        # What a full disk did not take is tried again here.
        with suppress(OSError):
            self._stream.close()

    def _refusal(self, given: str, reason: str) -> Refusal:
        return Refusal(self._advisor.history.count, now(), given, reason)

    def _record(self, record: Record) -> None:
        self._try(lambda recording: recording.add(record))

    def _try(self, write: Callable[[Recording], None]) -> None:
        """Write to the recording; where the disk does not take it, say so once and go on without."""
        if self._recording is None:
            return
        try:
            write(self._recording)
        except OSError as error:
            self._recording = None
            self._notify(
                f"{self._path} could not be written ({error.strerror}): the recording ends, the mission goes "
                f"on; `dowsax export {self._log} --mcap FILE` writes all of it later."
            )


def require_recording(path: Path, header: Header | None = None) -> None:
    """Raise a ValueError where a file is not a recording: of the same mission, where that is given."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    known = _recorded_mission(path)
    if known is None or (header is not None and known != _mission_of(header)):
        raise ValueError(
            f"{path} is no recording of this mission: choose another file for --mcap, or move it away."
        )


def _mission_of(header: Header) -> dict[str, str]:
    """Return what makes a mission the same one, as the metadata of a recording have it."""
    return dict(zip(("site", "seed", "policy", "preset"), map(str, header.binding), strict=True))


def _recorded_mission(path: Path) -> dict[str, str] | None:
    """Return `_mission_of` the mission in a file, which may have been cut off; `None` for other files."""
    from mcap.exceptions import McapError
    from mcap.records import Metadata
    from mcap.stream_reader import StreamReader

    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return None
        stream.seek(0)
        try:
            found = next(each for each in StreamReader(stream).records if isinstance(each, Metadata))
        except (McapError, StopIteration, struct.error, ValueError):
            return None
    return {name: found.metadata.get(name, "") for name in ("site", "seed", "policy", "preset")}


def export_recording(log: MissionLog, path: Path) -> None:
    """Write a mission log, which may be in use, as an MCAP file."""
    site = parse_site(log.header.site, str(log.path))
    with replace_file(path) as partial, partial.open("wb") as stream:
        _record_all(log.records(), Recording(stream, site, log.header)).close()


def _record_all(records: Iterable[Record], recording: Recording) -> Recording:
    for record in records:
        recording.add(record)
    return recording
