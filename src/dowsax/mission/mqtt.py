"""Readings from an MQTT broker, and advice to it."""

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from dowsax.extras import require_extra
from dowsax.mission.answers import Advising, answer

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_RETRY_S = 2.0
"""Until what could not be recorded is tried again."""
PATIENCE_S = 5.0
"""That a broker has to answer."""
_RECONNECT_S = (0.5, 30.0)
"""The first wait for a broker that does not answer and the longest; each is twice the one before."""
_STEADY_S = 10.0
"""A connection that held for this long begins with the first wait again."""


Notify = Callable[[str, bool], None]
"""Told what has happened to a connection, and whether it is up."""
_LOGGER = logging.getLogger(__name__)


class NoBroker(ConnectionError):
    """Nobody answers at the address of a broker, or nobody is let in."""


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
    """Return the module that speaks MQTT; raise `MissingExtra` where it is not installed."""
    require_extra("mqtt", "MQTT")
    import aiomqtt

    return aiomqtt


async def serve_mqtt(
    advisor: Advising,
    url: str,
    notify: Notify = lambda text, is_up: None,
    channels: tuple[str, str] | None = None,
    identifier: str | None = None,
) -> NoReturn:
    """Answer the readings of a broker for ever; `notify` is told in words when the connection goes and comes.

    `channels` are the topics of readings and advice (default: those of the mission's name), and `identifier`
    is the name by which the broker knows for whom it keeps readings (default: made of the mission's name).

    A reading is acknowledged to the broker when it is in the log, as taken in or as refused, and kept by the
    broker until then, also while no advisor runs. The newest advice is retained, for those who join later.
    Whatever fails, the connection is begun again.
    """
    aiomqtt = require_mqtt()
    broker, clock = Broker.of(url), asyncio.get_running_loop().time
    channels = channels or topics(advisor.plan.name)
    identifier = identifier or topics(advisor.plan.name)[0].rpartition("/")[0].replace("/", "-")
    wait, since, is_up, unsent = _RECONNECT_S[0], clock(), True, _Unsent()
    while True:
        try:
            async with _client(aiomqtt, broker, identifier, clean_session=False) as client:
                # aiomqtt has no word for this of its own.
                client._client.manual_ack_set(True)
                since, is_up = clock(), True
                await _serve(client, advisor, channels, notify, unsent)
        except Exception as error:
            if is_up:
                notify(_lost(broker, error, isinstance(error, aiomqtt.MqttError)), False)
            if is_up and clock() - since >= _STEADY_S:
                wait = _RECONNECT_S[0]
            is_up = False
        await asyncio.sleep(wait)
        wait = min(2 * wait, _RECONNECT_S[1])


def _lost(broker: Broker, error: Exception, is_foreseen: bool) -> str:
    again = (
        f"trying again, in the end every {_RECONNECT_S[1]:g} s. Readings wait with the broker, or with who "
        "sends them."
    )
    if is_foreseen:
        return f"No connection to {broker.host}:{broker.port} ({error}): {again}"
    _LOGGER.error("The feed failed.", exc_info=error)
    return f"The feed from {broker.host}:{broker.port} failed ({type(error).__name__}): {again}"


async def require_broker(url: str) -> None:
    """`NoBroker` unless there is a broker that lets us in, within `PATIENCE_S` seconds."""
    aiomqtt, broker = require_mqtt(), Broker.of(url)
    try:
        # Under another name than the mission's, for which the broker may keep readings.
        async with _client(aiomqtt, broker, f"dowsax-{token_hex(4)}", clean_session=True):
            pass
    except aiomqtt.MqttError as error:
        raise NoBroker(
            f"No broker answers at {broker.host}:{broker.port} within {PATIENCE_S:g} s ({error}): start it, "
            "or check address, name and password."
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
        timeout=PATIENCE_S,
        # Else an answer waits for 40 ms behind the acknowledgement of the reading before it.
        socket_options=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
    )


@dataclass
class _Unsent:
    """A request that was answered when the broker was lost before it was acknowledged.

    The broker sends it once more, and a reading must not count twice where it has neither id nor time.
    """

    payload: bytes | str = ""
    body: dict[str, Any] | None = None
    reported: set[str] = field(default_factory=set)
    """Unused keys of which a warning was given."""

    def answer(self, advisor: Advising, payload: bytes | str) -> dict[str, Any]:
        if self.body is None or payload != self.payload:
            self.payload, self.body = payload, answer(advisor, payload, self.reported)
        return self.body

    def sent(self) -> None:
        self.body = None


async def _serve(
    client, advisor: Advising, channels: tuple[str, str], notify: Notify, unsent: _Unsent
) -> None:
    readings, advice = channels
    await client.subscribe(readings, qos=1)
    notify(f"Listening to {readings}, answering on {advice}.", True)
    if advisor.latest is not None:
        await _publish(client, advice, advisor.latest.message(advisor.plan.frame))
    async for message in client.messages:
        # In a thread, so that the connection is kept alive while the filter works.
        payload = message.payload if isinstance(message.payload, bytes | str) else str(message.payload)
        body = await asyncio.to_thread(unsent.answer, advisor, payload)
        while body.get("refused") is False:
            unsent.sent()
            await _publish(client, advice, body)
            await asyncio.sleep(_RETRY_S)
            body = await asyncio.to_thread(unsent.answer, advisor, payload)
        await _publish(client, advice, body)
        client._client.ack(message.mid, message.qos)
        unsent.sent()


async def _publish(client, topic: str, body: dict[str, Any]) -> None:
    await client.publish(topic, json.dumps(body, allow_nan=False), qos=1, retain="error" not in body)
