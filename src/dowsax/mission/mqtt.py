"""The MQTT transport: readings from a broker, and advice to it."""

import asyncio
import json
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from dowsax.extras import require_extra
from dowsax.mission.messages import AdvisorLike, answer
from dowsax.mission.waiting import Waiting
from dowsax.site.plain_names import plain_name

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_RETRY_S = 2.0
"""The wait before a reading that could not be recorded is tried again."""
CONNECT_TIMEOUT_S = 5.0
_RECONNECT_S = (0.5, 30.0)
"""The first and the longest wait before reconnecting; the wait doubles each time."""
_STABLE_S = 10.0
"""After a connection of this length, reconnecting starts with the first wait again."""


Notify = Callable[[str, bool], None]
"""Called with what happened to a connection, and whether it is up."""
_LOGGER = logging.getLogger(__name__)


class NoBroker(ConnectionError):
    """The broker does not answer, or refuses the connection."""


@dataclass(frozen=True)
class Broker:
    """The address of an MQTT broker."""

    host: str
    port: int
    username: str | None = None
    password: str | None = None
    tls: bool = False

    @classmethod
    def of(cls, url: str) -> "Broker":
        """Parse `mqtt://user:password@host:port`, or `mqtts` for TLS."""
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
    """Return the topics of readings and of advice; with the mission's id, if it has one."""
    plain = _plain(name) or "mission"
    path = f"dowsax/{plain}" if id is None else f"dowsax/{plain}/{id}"
    return f"{path}/readings", f"{path}/advice"


def topic_of_searcher(advice: str, searcher: str) -> str:
    """Return the topic of the advice for one of several searchers, below that of all advice."""
    return f"{advice}/{plain_name(searcher)}"


def _plain(name: str) -> str:
    return "".join("-" if mark in "+#/ \t\0" else mark for mark in name.strip())


def require_mqtt():
    """Return the module aiomqtt; raise `MissingExtra` where it is not installed."""
    require_extra("mqtt", "MQTT")
    import aiomqtt

    return aiomqtt


async def serve_mqtt(
    advisor: AdvisorLike,
    url: str,
    notify: Notify = lambda text, is_up: None,
    channels: tuple[str, str] | None = None,
    identifier: str | None = None,
) -> NoReturn:
    """Answer the readings of a broker for ever; reconnect after any failure.

    A reading is acknowledged to the broker when it is in the log, accepted or refused. Until then the broker
    stores it, also while no advisor runs. The newest advice is retained for later subscribers, and the newest
    for each of several searchers.

    Parameters
    ----------
    notify
        Called with a sentence when the connection is lost and when it is back.
    channels
        The topics of readings and advice (default: made of the mission's name).
    identifier
        The client id, for which the broker stores readings (default: made of the mission's name).
    """
    own, undelivered = channels or topics(advisor.plan.name), _Undelivered()
    identifier = identifier or topics(advisor.plan.name)[0].rpartition("/")[0].replace("/", "-")

    async def use(client) -> None:
        # aiomqtt does not offer manual acknowledgement itself.
        client._client.manual_ack_set(True)
        await _serve(client, advisor, own, notify, undelivered)

    await _stay_connected(Broker.of(url), identifier, use, notify, is_stored=True)


async def listen_mqtt(url: str, topic: str, take: Callable[[bytes], None], notify: Notify) -> NoReturn:
    """Pass on what is published on a topic from now on, for ever; reconnect after any failure.

    Neither what was published before, nor what is published while there is no connection.
    """

    async def use(client) -> None:
        await client.subscribe(topic, qos=1)
        notify(f"Listening to {topic}.", True)
        async for message in client.messages:
            if not message.retain:
                take(message.payload if isinstance(message.payload, bytes) else str(message.payload).encode())

    await _stay_connected(Broker.of(url), f"dowsax-{token_hex(4)}", use, notify, is_stored=False)


async def _stay_connected(
    broker: Broker, identifier: str, use: Callable[..., Awaitable[None]], notify: Notify, *, is_stored: bool
) -> NoReturn:
    """Connect, use the connection, and connect again when it is lost.

    Where it `is_stored`, the broker has for this identifier what is published meanwhile.
    """
    aiomqtt, clock = require_mqtt(), asyncio.get_running_loop().time
    wait, since, is_up = _RECONNECT_S[0], clock(), True
    while True:
        try:
            async with _client(aiomqtt, broker, identifier, clean_session=not is_stored) as client:
                since, is_up = clock(), True
                await use(client)
        except Exception as error:
            if is_up:
                meanwhile = (
                    "wait at the broker, or at their sender" if is_stored else "of that time do not count"
                )
                is_expected = isinstance(error, aiomqtt.MqttError)
                notify(_describe_loss(broker, error, is_expected, meanwhile), False)
            if is_up and clock() - since >= _STABLE_S:
                wait = _RECONNECT_S[0]
            is_up = False
        await asyncio.sleep(wait)
        wait = min(2 * wait, _RECONNECT_S[1])


def _describe_loss(broker: Broker, error: Exception, is_expected: bool, meanwhile: str) -> str:
    longest = _RECONNECT_S[1]
    again = f"trying again, in the end every {longest:g} s. Readings {meanwhile}."
    if is_expected:
        return f"No connection to {broker.host}:{broker.port} ({error}): {again}"
    _LOGGER.error("The feed failed.", exc_info=error)
    return f"The feed from {broker.host}:{broker.port} failed ({type(error).__name__}): {again}"


async def require_broker(url: str) -> None:
    """Raise `NoBroker` unless the broker accepts a connection within `CONNECT_TIMEOUT_S`."""
    aiomqtt, broker = require_mqtt(), Broker.of(url)
    try:
        # Under another client id than the mission's, for which the broker may store readings.
        async with _client(aiomqtt, broker, f"dowsax-{token_hex(4)}", clean_session=True):
            pass
    except aiomqtt.MqttError as error:
        raise NoBroker(
            f"No broker answers at {broker.host}:{broker.port} within {CONNECT_TIMEOUT_S:g} s ({error}): "
            "start it, or check address, name and password."
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
        timeout=CONNECT_TIMEOUT_S,
        # Otherwise an answer waits 40 ms for the acknowledgement of the one before.
        socket_options=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
    )


@dataclass
class _Undelivered:
    """An answer that was not delivered because the connection to the broker was lost.

    The broker sends the request again, and a reading with neither id nor time must not count twice.
    """

    payload: bytes | str = ""
    body: dict[str, Any] | None = None
    reported: set[str] = field(default_factory=set)
    """Unused keys that were warned about."""

    def answer(
        self, advisor: AdvisorLike, payload: bytes | str, later: tuple[bytes | str, ...] = ()
    ) -> dict[str, Any]:
        if self.body is None or payload != self.payload:
            self.payload = payload
            self.body = answer(advisor, payload, self.reported, waiting=later)
        return self.body

    def clear(self) -> None:
        self.body = None


async def _serve(
    client, advisor: AdvisorLike, channels: tuple[str, str], notify: Notify, undelivered: _Undelivered
) -> None:
    readings, advice = channels
    await client.subscribe(readings, qos=1)
    notify(f"Listening to {readings}, answering on {advice}.", True)
    if advisor.latest is not None:
        await _publish(client, advice, advisor.latest.message(advisor.plan.coordinates))
    waiting, arrived = Waiting(), asyncio.Queue()
    reader = asyncio.create_task(_read_ahead(client, waiting, arrived))
    try:
        while (found := await arrived.get()) is not None:
            message, payload, name = found
            later = waiting.take(name) if advisor.plan.searchers else ()
            body = await _answer(client, advisor, advice, payload, undelivered, later)
            await _publish(client, advice, body)
            client._client.ack(message.mid, message.qos)
            undelivered.clear()
        await reader
    finally:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def _read_ahead(client, waiting: Waiting, arrived: asyncio.Queue) -> None:
    """Put messages with their texts and searchers into a queue, `None` last."""
    try:
        async for message in client.messages:
            payload = message.payload if isinstance(message.payload, bytes | str) else str(message.payload)
            await arrived.put((message, payload, waiting.add(payload)))
    finally:
        arrived.put_nowait(None)


async def _answer(
    client,
    advisor: AdvisorLike,
    advice: str,
    payload: bytes | str,
    undelivered: _Undelivered,
    later: tuple[bytes | str, ...],
) -> dict[str, Any]:
    """Return the answer to a request, as soon as it could be recorded."""
    # In a thread, so that the connection stays alive while the filter works.
    body = await asyncio.to_thread(undelivered.answer, advisor, payload, later)
    while body.get("refused") is False:
        undelivered.clear()
        await _publish(client, advice, body)
        await asyncio.sleep(_RETRY_S)
        body = await asyncio.to_thread(undelivered.answer, advisor, payload, later)
    return body


async def _publish(client, topic: str, body: dict[str, Any]) -> None:
    """Publish an answer; advice for one of several searchers also on a topic of its own."""
    names = [topic] if body.get("searcher") is None else [topic, topic_of_searcher(topic, body["searcher"])]
    for name in names:
        await client.publish(name, json.dumps(body, allow_nan=False), qos=1, retain="error" not in body)
