"""`dowsax advise`: readings in, one by one, and after each what to do next."""

import sys
from pathlib import Path

from dowsax.cli.console import preparing, waiting
from dowsax.cli.locate import require_seed
from dowsax.mission.advisor import Advisor
from dowsax.mission.answers import lines_of, serve_lines
from dowsax.mission.log import MissionLog, is_begun
from dowsax.mission.mqtt import require_broker, serve_mqtt
from dowsax.site import read_site


def advise(
    *,
    site: Path,
    log: Path,
    policy: str | None = None,
    seed: int | None = None,
    mqtt: str | None = None,
) -> None:
    """Advise a search while it goes on: one JSON object a line in, one a line out.

    A reading: {"id": "7", "x": 3.2, "y": 8.1, "value": 0.4}, with latitude and longitude instead of x and y,
    and, where there are any, time, wind_u and wind_v or wind_speed and wind_from, altitude, dwell, sensor and
    unit. The answer has status (searching, found, cannot tell), next_position, bearing, distance, estimate,
    region and why. An answer is acknowledgement: the reading is on the disk. One that got none has to be sent
    again, which does no harm when it has an id. Or there is error, with the line, and "recorded": false; what
    is "refused" is in the log as refused, and what is not could not be written and has to be sent again.

    A reading that was wrong: {"withdraw": true, "id": "7"}, or {"correct": true, "id": "7", "value": 0.04}
    with what is right instead; "number" (of its advice) instead of "id" where it had none, and "reason" if
    there is one. A value that is hardly ever right is refused with "confirm": false: send it again with
    "confirm": true if it is.

    Parameters
    ----------
    site
        The site file; `dowsax site new` writes one.
    log
        The mission log. When it holds a mission at this site already, that goes on where it was.
    policy
        Who chooses the next place: infotaxis, entrotaxis, dcee, greedy, a trained policy, one with a guard
        such as att-pfrl-guarded … The best there is for the site unless given.
    seed
        The same seed gives the same advice; that of the log, or 0, unless given.
    mqtt
        The address of a broker, mqtt://host:port, instead of stdin and stdout. Readings come on the topic
        dowsax/NAME/readings and advice goes to dowsax/NAME/advice, NAME being that of the site. A broker that
        does not answer within 5 s at the start is an error; one that is lost later is waited for.
    """
    if mqtt is not None:
        _require_broker(mqtt)
    advisor = _advisor(site, log, policy, seed)
    try:
        _serve(advisor, mqtt)
    finally:
        advisor.close()


def _require_broker(address: str) -> None:
    """Before the filter is compiled, which takes longer."""
    import asyncio

    with waiting("Looking for the broker"):
        asyncio.run(require_broker(address))


def _advisor(site: Path, log: Path, policy: str | None, seed: int | None) -> "Advisor":

    understood = read_site(site)
    if log.is_file() and log.stat().st_size == 0:
        _tell(f"{log} is empty: a new mission is begun in it.")
    if seed is None:
        seed = MissionLog.open(log).header.seed if is_begun(log) else 0
    require_seed(seed)
    with preparing("Preparing"):
        advisor = Advisor(understood, policy, seed, log)
    number = len(advisor.readings)
    begin = advisor.plan.frame.format_position(advisor.plan.start or advisor.plan.middle)
    said = f"going on after {number} readings" if number else f"ready, begin at {begin}"
    _tell(f"{understood.name}: {said}; policy {advisor.guide.name}, log {log}.")
    _tell(f"{advisor.false_stops[0].upper()}{advisor.false_stops[1:]}.")
    return advisor


def _serve(advisor: "Advisor", mqtt: str | None) -> None:

    if mqtt is not None:
        import asyncio

        def notify(text: str, is_up: bool) -> None:
            _tell(text)
            advisor.note("feed" if is_up else "alarm", text)

        asyncio.run(serve_mqtt(advisor, mqtt, notify))
        return

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    # As bytes: a line that is no text must not end the stream.
    serve_lines(advisor, lines_of(sys.stdin.buffer), write)


def _tell(sentence: str) -> None:
    """For people: stdout is for advice alone."""
    print(f"dowsax: {sentence}", file=sys.stderr, flush=True)
