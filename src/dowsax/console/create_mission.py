"""Create a mission from a request, and list the choices for one."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from dowsax.console import simulation
from dowsax.console.advisor_cache import AdvisorCache
from dowsax.console.bodies import MissionBody
from dowsax.console.pictures import Picture, UploadedPictures, place_picture, site_picture
from dowsax.console.records import REAL, SIMULATED, Feed, MissionRecord, new_id
from dowsax.console.simulation import scenario_names
from dowsax.console.sites import facts_of
from dowsax.envs.scenarios import SCENARIOS
from dowsax.mission.log import Header, now
from dowsax.mission.mqtt import Broker, require_mqtt, topics
from dowsax.policies.base import Oracle
from dowsax.policies.catalogue import POLICIES
from dowsax.policies.shipped import BEST_POLICY, GUARDED_SUFFIX, pretrained_names, weights_path
from dowsax.policies.stored import load
from dowsax.site.kinds import KINDS
from dowsax.version import versions
from dowsax.world import FOUR_MOVES, MODALITIES, benchmark_model

_LABELS = {
    "random": "Random walk",
    "greedy": "Straight to the estimate",
    "surge-cast": "Surge and cast",
    "zigzag": "Zigzag upwind",
    "infotaxis": "Infotaxis: where a reading tells most",
    "space-aware": "Space-aware infotaxis",
    "entrotaxis": "Entrotaxis: where readings are least certain",
    "dcee": "DCEE: near the source, and surer of it",
    "location-gain": "Near and far: where a reading tells most of the location, per cost",
    "infotaxis-2": "Infotaxis, two moves ahead (slow)",
    "pfrl": "Trained: PFRL, the best",
    "att-pfrl": "Trained with attention: ATT-PFRL",
    "agdc-ent": "Trained to lose entropy: AGDC-ENT",
    "agdc-kld": "Trained to gain information: AGDC-KLD",
    "agdc-ee": "Trained to be near and sure: AGDC-EE",
    "att-pfrl-paper": "Trained as the paper prints it",
    "att-pfrl-r2": "Trained to contract the belief: R2",
    "att-pfrl-r3": "Trained to lose entropy: R3",
    "att-pfrl-right": "Trained to stop rightly",
}


def create_record(
    body: MissionBody,
    cache: AdvisorCache,
    file: str | None = None,
    uploads: UploadedPictures | None = None,
) -> tuple[MissionRecord, Header, Picture | None]:
    """Return the record of the requested mission, the header of its log, and the picture behind its map.

    `file` is the path of its site file on this machine, where it is known. What is wrong is a ValueError in
    one line.
    """
    id, seed = new_id(), body.seed
    if seed is None:
        seed = int(id, 16) % 2**31
    if body.policy is not None and body.policy not in policies():
        # A policy may also be a file, but clients must not find out which files exist.
        raise ValueError(f"Unknown policy; known are {', '.join(policies())}.")
    simulated = body.type == SIMULATED
    _require_fitting_keys(body, simulated)
    if simulated:
        scenario = body.scenario or "id"
        particles = body.particles or simulation.DEFAULT_PARTICLES
        text = simulation.site_text(body.field or "gas", scenario, seed, particles)
    else:
        # Normalised as in a file.
        text = (body.site or "").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        scenario = None
    site, plan, policy = cache.plan_site(text, body.policy, simulated)
    picture = site_picture(site, file)
    if body.picture is not None and uploads is not None:
        picture = uploads.get(body.picture)
    facts = facts_of(site, plan, policy)
    if picture is not None:
        facts["picture"] = {"corners": place_picture(picture, site)}
    name = body.name or site.name
    record = MissionRecord(
        id=id,
        name=name,
        type=SIMULATED if simulated else REAL,
        created=now(),
        site=text,
        policy=policy.name,
        seed=seed,
        facts=facts,
        scenario=scenario,
        speed=body.speed or 2.0,
        feed=_feed(body, name, id),
        file=file,
    )
    return record, record.header(plan.filter_name, versions()), picture


def _require_fitting_keys(body: MissionBody, simulated: bool) -> None:
    """Refuse keys of the other type of mission."""
    others = ("site", "mqtt", "picture") if simulated else ("field", "scenario", "particles", "speed")
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
            raise ValueError(f"A topic must not have wildcards, + or #; got {topic!r}.")
    return Feed(body.mqtt.url, body.mqtt.readings or readings, body.mqtt.advice or advice)


def require_own_topics(feed: Feed, others: Iterable[Feed]) -> None:
    """Refuse an advice topic that another mission uses, or from which readings are taken."""
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


@cache
def choices() -> dict[str, Any]:
    """Return the names and labels that a form offers."""
    return {
        "fields": [
            {"name": name, "label": item.description, "unit": item.unit} for name, item in MODALITIES.items()
        ],
        "policies": [_policy(name) for name in policies()],
        "scenarios": [{"name": name, "label": SCENARIOS[name].meaning} for name in scenario_names()],
        "kinds": [{"name": name, "label": kind.meaning, "unit": kind.unit} for name, kind in KINDS.items()],
    }


@cache
def policies() -> tuple[str, ...]:
    """Return the names of the policies that can advise: all but the oracles.

    First the best, then the planners, then other trained policies, then trained policies with a guard.
    """
    model = benchmark_model("gas")
    able = (name for name, make in POLICIES.items() if not isinstance(make(model, FOUR_MOVES), Oracle))
    trained = pretrained_names()
    return (
        *(name for name in trained if name == BEST_POLICY),
        *able,
        *(name for name in trained if name != BEST_POLICY),
        *(f"{name}{GUARDED_SUFFIX}" for name in trained),
    )


def _policy(name: str) -> dict[str, Any]:
    policy: dict[str, Any] = {"name": name, "label": _label(name)}
    weights = weights_path(name)
    if weights is not None:
        _, card = load(weights)
        policy["fields"] = list(card.fields)
    return policy


def _label(name: str) -> str:
    """Return the label of a policy; -ood: trained with sources in the middle of the square alone."""
    bare = name.removesuffix(GUARDED_SUFFIX)
    usual = bare.removesuffix("-ood")
    label = _LABELS.get(usual, usual)
    label += "" if usual == bare else ", sources in the middle alone"
    return label + ("" if bare == name else "; Infotaxis when it takes long")
