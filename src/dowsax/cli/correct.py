"""`dowsax withdraw`, `correct` and `restore`: mend a reading of a mission without a running advisor."""

import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dowsax.cli.console import preparing, say
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.mission.messages import parse_request
from dowsax.site import parse_site
from dowsax.site.measured import QUANTITIES


def withdraw(log: Path, *, number: int | None = None, id: str | None = None, reason: str = "") -> None:
    """Withdraw a reading of a mission; belief and advice are computed without it.

    It stays in the log, as withdrawn. While `dowsax advise` runs, send {"withdraw": true, "id": "7"} to it.

    Parameters
    ----------
    log
        Mission log.
    number
        Number of the reading in its advice.
    id
        Id of the reading, instead of the number.
    reason
        Reason, for the log.
    """
    _ask(log, {"withdraw": True, "number": number, "id": id, "reason": reason or None})


def restore(
    log: Path,
    *,
    number: int | None = None,
    id: str | None = None,
    as_of: int | None = None,
    reason: str = "",
) -> None:
    """Undo a withdrawal or a correction of a reading; belief and advice are computed again.

    All versions stay in the log. While `dowsax advise` runs, send {"restore": true, "id": "7"} to it.

    Parameters
    ----------
    log
        Mission log.
    number
        Number of the reading in its advice.
    id
        Id of the reading, instead of the number.
    as_of
        Number of the step after which the reading was right (default: as it was withdrawn).
    reason
        Reason, for the log.
    """
    keys = {"number": number, "id": id, "as_of": as_of, "reason": reason or None}
    _ask(log, {"restore": True} | keys)


def correct(
    log: Path,
    *,
    number: int | None = None,
    id: str | None = None,
    value: float | None = None,
    unit: str | None = None,
    x: float | None = None,
    y: float | None = None,
    latitude: float | None = None,
    longitude: float | None = None,
    time: str | None = None,
    wind_speed: float | None = None,
    wind_from: float | None = None,
    altitude: float | None = None,
    dwell: float | None = None,
    sensor: str | None = None,
    quantity: Annotated[list[str] | None, Parameter(negative="")] = None,
    reason: str = "",
    confirm: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Correct a reading of a mission; belief and advice are computed again.

    Give what was wrong; the rest stays. Both readings stay in the log. While `dowsax advise` runs, send
    {"correct": true, "id": "7", "value": 0.04} to it.

    Parameters
    ----------
    log
        Mission log.
    number
        Number of the reading in its advice.
    id
        Id of the reading, instead of the number.
    value
        Correct value.
    unit
        Unit of the value. Default: that of the site.
    x
        East [m].
    y
        North [m].
    latitude
        Latitude [degrees], instead of x and y.
    longitude
        Longitude [degrees].
    time
        Seconds, or a date and time in ISO 8601.
    wind_speed
        Wind speed [m/s].
    wind_from
        Where the wind comes from [degrees clockwise from north].
    altitude
        Altitude [m].
    dwell
        How long the sensor counted [s].
    sensor
        Name of the sensor.
    quantity
        Background, efficiency, uncertainty or heading, as in background=9.5; may be repeated.
    reason
        Reason, for the log.
    confirm
        Accept a value that is unlikely.
    """
    keys = {"value": value, "unit": unit, "x": x, "y": y, "latitude": latitude, "longitude": longitude}
    keys |= {"time": time, "wind_speed": wind_speed, "wind_from": wind_from, "altitude": altitude}
    keys |= {"dwell": dwell, "sensor": sensor, "reason": reason or None, "confirm": confirm or None}
    keys |= _parse_quantities(quantity or [])
    _ask(log, {"correct": True, "number": number, "id": id} | keys)


def _parse_quantities(pairs: list[str]) -> dict[str, str]:
    """Return texts like background=9.5 as keys of a reading."""
    found = {}
    for pair in pairs:
        name, _, number = pair.partition("=")
        if name.strip() not in QUANTITIES or not number.strip():
            raise ValueError(f"--quantity takes name=number, of {', '.join(QUANTITIES)}; got {pair!r}.")
        found[name.strip()] = number.strip()
    return found


def _ask(log: Path, body: dict[str, Any]) -> None:
    """Send a request to an advisor of the mission, and print its advice."""
    given = {key: value for key, value in body.items() if value is not None}
    request = parse_request(given)
    with MissionLog.open(log) as opened:
        header = opened.header
        with preparing("Replaying the readings of the mission") as count:
            site = parse_site(header.site, str(log))
            rules = {"warm_up": False, "on_progress": count}
            advisor = Advisor(site, header.policy, header.seed, opened.writable(), **rules)
            unused = advisor.plan.unused_keys(request.keys)
            if unused:
                raise ValueError(f"Not used at this site: {', '.join(unused)}; leave it out.")
            advice = advisor.answer(request, json.dumps(given))
    say(f"{advice.status}: {advice.why}")
