"""How readings come and advice goes: lines of JSON, or MQTT."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, NoReturn, Protocol, runtime_checkable
from urllib.parse import unquote, urlsplit

from dowsax.mission.advice import Advice
from dowsax.mission.log import NotRecorded
from dowsax.mission.plan import Plan
from dowsax.mission.reading import Reading, Refused

_LONGEST = 10_000
"""Characters of what was given that are kept in the log."""
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_RETRY = 2.0
"""[s], until what could not be recorded is tried again."""
PATIENCE = 5.0
"""[s], that a broker has to answer."""
_RECONNECT = (0.5, 30.0)
"""[s], the first wait for a broker that does not answer and the longest; each is twice the one before."""
_STEADY = 10.0
"""[s], a connection that held for so long begins with the first wait again."""


class NoBroker(ConnectionError):
    """Nobody answers at the address of a broker, or nobody is let in."""


@runtime_checkable
class Advising(Protocol):
    """An advisor, or who passes readings on to one."""

    @property
    def plan(self) -> Plan: ...
    @property
    def latest(self) -> Advice | None: ...
    def take(self, reading: Reading, given: str = "") -> Advice: ...
    def note_refusal(self, given: str, reason: str) -> None: ...


def answer(advisor: Advising, data: bytes | str, told: set[str] | None = None) -> dict[str, Any]:
    """The answer to one reading: advice, or `error` with a reason. Never raises for what was given.

    An error says that the reading is not `recorded` as one, and whether it was `refused`. What was refused is
    in the log as refused, with the reason: sent again as it is, it is refused again. What was not refused
    could not be written: it is in no log, was not acknowledged, and has to be sent again. `told` are keys of
    which it has been said that they are not used; others are added, with a warning.
    """
    given = ""
    try:
        text = data if isinstance(data, str) else _decoded(data)
        given = text.strip()[:_LONGEST]
        reading = _parsed(advisor, text, given)
        advice = advisor.take(reading, given)
    except Refused as refusal:
        return {"error": str(refusal), "id": _id_of(given), "recorded": False, "refused": True}
    except NotRecorded as error:
        return {"error": str(error), "id": _id_of(given), "recorded": False, "refused": False}
    body = advice.message(advisor.plan.frame)
    unused = unused_words(advisor.plan.unused(text), set() if told is None else told)
    return body if unused is None else body | {"warnings": [*body["warnings"], unused]}


def unused_words(keys: Iterable[str], told: set[str]) -> str | None:
    """A sentence on those keys that it has not been `told` of yet, which are added to it."""
    strange = [key for key in keys if key not in told]
    told.update(strange)
    if not strange:
        return None
    return f"Not used, as no key of a reading is called so: {', '.join(strange)}."


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _parsed(advisor: Advising, text: str, given: str):
    try:
        return advisor.plan.parsed(text)
    except Refused as refusal:
        advisor.note_refusal(given, str(refusal))
        raise


def _id_of(text: str) -> str | None:
    """The id of what was refused, where it can be made out."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = body.get("id") if isinstance(body, dict) else None
    return None if found is None else str(found)


def serve_lines(advisor: Advising, lines: Iterable[bytes | str], write: Callable[[str], None]) -> None:
    """Answer every line that is not empty by one line of JSON; an error names the line, counted from 1."""
    told: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        body = answer(advisor, line, told)
        if "error" in body:
            body["line"] = number
        write(json.dumps(body, allow_nan=False, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Broker:
    """Where an MQTT broker is."""

    host: str
    port: int
    username: str | None = None
    password: str | None = None
    tls: bool = False

    @classmethod
    def of(cls, url: str) -> "Broker":
        """From `mqtt://user:password@host:port`, or `mqtts` for TLS."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ValueError(
                f"Not an address of a broker: {url!r} ({error}); give one such as mqtt://localhost:1883."
            ) from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"Not an address of a broker: {url!r}; give one such as mqtt://localhost:1883.")
        user = None if parts.username is None else unquote(parts.username)
        password = None if parts.password is None else unquote(parts.password)
        tls = parts.scheme == "mqtts"
        return cls(parts.hostname, port or _PORTS[parts.scheme], user, password, tls)


def topics(name: str, id: str | None = None) -> tuple[str, str]:
    """Where the readings of a mission come in, and where advice goes out; by its id, too, if it has one."""
    plain = "".join("-" if mark in "+#/ \t\0" else mark for mark in name.strip()) or "mission"
    path = f"dowsax/{plain}" if id is None else f"dowsax/{plain}/{id}"
    return f"{path}/readings", f"{path}/advice"


def require_mqtt():
    """The module that speaks MQTT; a ValueError in one line where it is not there."""
    try:
        import aiomqtt
    except ImportError:
        raise ValueError("MQTT needs aiomqtt: pip install 'dowsax[mqtt]'.") from None
    return aiomqtt


async def serve_mqtt(
    advisor: Advising,
    url: str,
    said: Callable[[str], None] = lambda _: None,
    channels: tuple[str, str] | None = None,
    identifier: str | None = None,
) -> NoReturn:
    """Answer the readings of a broker for ever; what happens to the connection is told by `said`.

    `channels` are the topics of readings and advice, and `identifier` is by what the broker knows for whom it
    keeps readings: those of the mission's name unless given.

    A reading is acknowledged to the broker when it is in the log, and kept by the broker until then, also
    while no advisor runs. The newest advice is retained, for those who join later.
    """
    aiomqtt = require_mqtt()
    broker, clock = Broker.of(url), asyncio.get_running_loop().time
    channels = channels or topics(advisor.plan.name)
    # By its name the broker knows for whom it keeps readings.
    identifier = identifier or topics(advisor.plan.name)[0].rpartition("/")[0].replace("/", "-")
    wait, since, away, unsent = _RECONNECT[0], clock(), False, _Unsent()
    while True:
        try:
            async with _client(aiomqtt, broker, identifier, clean_session=False) as client:
                # aiomqtt has no word for this of its own.
                client._client.manual_ack_set(True)
                since, away = clock(), False
                await _serve(client, advisor, channels, said, unsent)
        except aiomqtt.MqttError as error:
            if not away:
                said(
                    f"No connection to {broker.host}:{broker.port} ({error}): trying again, in the end every "
                    f"{_RECONNECT[1]:g} s. Readings wait with the broker, or with who sends them."
                )
            if not away and clock() - since >= _STEADY:
                wait = _RECONNECT[0]
            away = True
        await asyncio.sleep(wait)
        wait = min(2 * wait, _RECONNECT[1])


async def require_broker(url: str) -> None:
    """`NoBroker` unless there is a broker that lets us in, within `PATIENCE` seconds."""
    aiomqtt, broker = require_mqtt(), Broker.of(url)
    try:
        # Under another name than the mission's, for which the broker may keep readings.
        async with _client(aiomqtt, broker, f"dowsax-{token_hex(4)}", clean_session=True):
            pass
    except aiomqtt.MqttError as error:
        raise NoBroker(
            f"No broker answers at {broker.host}:{broker.port} within {PATIENCE:g} s ({error}): start it, or "
            "check address, name and password."
        ) from None


def _client(aiomqtt, broker: Broker, name: str, *, clean_session: bool):
    return aiomqtt.Client(
        broker.host,
        broker.port,
        username=broker.username,
        password=broker.password,
        identifier=name,
        clean_session=clean_session,
        tls_params=aiomqtt.TLSParameters() if broker.tls else None,
        timeout=PATIENCE,
    )


@dataclass
class _Unsent:
    """A reading that was taken in, and its answer, when the broker was lost before it was acknowledged.

    The broker sends it once more, and it must not count twice where it has neither id nor time.
    """

    payload: bytes | str = ""
    body: dict[str, Any] | None = None
    told: set[str] = field(default_factory=set)
    """Keys of which it has been said that they are not used."""

    def answer(self, advisor: Advising, payload: bytes | str) -> dict[str, Any]:
        if self.body is None or payload != self.payload:
            self.payload, self.body = payload, answer(advisor, payload, self.told)
        return self.body

    def sent(self) -> None:
        self.body = None


async def _serve(
    client, advisor: Advising, channels: tuple[str, str], said: Callable[[str], None], unsent: _Unsent
) -> None:
    readings, advice = channels
    await client.subscribe(readings, qos=1)
    said(f"Listening to {readings}, answering on {advice}.")
    if advisor.latest is not None:
        await _publish(client, advice, _message(advisor, advisor.latest))
    async for message in client.messages:
        # In a thread, so that the connection is kept alive while the filter works.
        payload = _payload(message.payload)
        body = await asyncio.to_thread(unsent.answer, advisor, payload)
        while body.get("refused") is False:
            unsent.sent()
            await _publish(client, advice, body)
            await asyncio.sleep(_RETRY)
            body = await asyncio.to_thread(unsent.answer, advisor, payload)
        await _publish(client, advice, body)
        client._client.ack(message.mid, message.qos)
        unsent.sent()


def _message(advisor: Advising, advice: Advice) -> dict[str, Any]:
    return advice.message(advisor.plan.frame)


def _payload(payload: Any) -> bytes | str:
    return payload if isinstance(payload, bytes | str) else str(payload)


async def _publish(client, topic: str, body: dict[str, Any]) -> None:
    text = json.dumps(body, allow_nan=False, ensure_ascii=False)
    await client.publish(topic, text, qos=1, retain="error" not in body)
