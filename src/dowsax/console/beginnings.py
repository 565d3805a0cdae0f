"""What a mission is begun with: understood from what a client asks for, or refused in one line."""

from collections.abc import Iterable

from dowsax.console import simulation
from dowsax.console.choices import policies
from dowsax.console.records import REAL, SIMULATED, Feed, Record, new_id
from dowsax.console.schemas import MissionBody
from dowsax.console.sites import facts_of
from dowsax.console.store import header_of
from dowsax.console.workshop import Workshop
from dowsax.mission.log import Header, now
from dowsax.mission.mqtt import Broker, require_mqtt, topics
from dowsax.version import versions


def begin(body: MissionBody, workshop: Workshop, file: str | None = None) -> tuple[Record, Header]:
    """The mission that is asked for and what its log begins with, or a ValueError in one line.

    `file` is what its site file is called on this machine, where it is known.
    """
    id, seed = new_id(), body.seed
    if seed is None:
        seed = int(id, 16) % 2**31
    if body.policy is not None and body.policy not in policies():
        # A policy may also be a file; which ones there are on this machine is nobody's business.
        raise ValueError(f"Unknown policy; known are {', '.join(policies())}.")
    simulated = body.type == SIMULATED
    _require_only(body, simulated)
    if simulated:
        scenario = body.scenario or "id"
        particles = body.particles or simulation.DEFAULT_PARTICLES
        text = simulation.site_text(body.field or "gas", scenario, seed, particles)
    else:
        # As a file that holds it is read.
        text = (body.site or "").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        scenario = None
    site, plan, guide = workshop.planned(text, body.policy, simulated)
    name = body.name or site.name
    record = Record(
        id=id,
        name=name,
        type=SIMULATED if simulated else REAL,
        created=now(),
        site=text,
        policy=guide.name,
        seed=seed,
        facts=facts_of(site, plan, guide),
        scenario=scenario,
        speed=body.speed or 2.0,
        feed=_feed(body, name, id),
        file=file,
    )
    return record, header_of(record, plan.filter_name, versions())


def _require_only(body: MissionBody, simulated: bool) -> None:
    """What is for the other type of mission is not passed over in silence."""
    others = ("site", "mqtt") if simulated else ("field", "scenario", "particles", "speed")
    for name in others:
        if getattr(body, name) is not None:
            raise ValueError(f"`{name}` is not for a {body.type} mission: leave it out.")
    if not simulated and body.site is None:
        raise ValueError("`site` is missing: the text of a site file, as /api/site/new gives.")


def _feed(body: MissionBody, name: str, id: str) -> Feed | None:
    if body.mqtt is None:
        return None

    require_mqtt()
    Broker.of(body.mqtt.url)
    readings, advice = topics(name, id)
    for topic in (body.mqtt.readings, body.mqtt.advice):
        if topic is not None and any(mark in topic for mark in "+#\0"):
            raise ValueError(f"A topic has no wildcards, + or #; got {topic!r}.")
    return Feed(body.mqtt.url, body.mqtt.readings or readings, body.mqtt.advice or advice)


def require_own_topics(feed: Feed, others: Iterable[Feed]) -> None:
    """Advice goes where no other mission's goes, and where nobody takes it for readings."""
    broker = Broker.of(feed.url)
    if feed.advice == feed.readings:
        raise ValueError(
            f"Readings and advice cannot both be on {feed.advice!r}: give `advice` another topic."
        )
    for other in others:
        there = Broker.of(other.url)
        if (there.host, there.port) != (broker.host, broker.port):
            continue
        if feed.advice in (other.advice, other.readings):
            used = "advice" if feed.advice == other.advice else "readings"
            raise ValueError(
                f"The topic {feed.advice!r} is that of the {used} of another mission: give `advice` another."
            )
        if feed.readings == other.advice:
            raise ValueError(
                f"On {feed.readings!r} goes the advice of another mission: give `readings` another topic."
            )
