"""`dowsax advise`: readings in, one by one, and after each the next step."""

import asyncio
import sys
from pathlib import Path

from dowsax.cli.console import preparing, print_status, waiting
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
    """Advise a running search: one JSON object a line in, one a line out.

    A reading is {"id": "7", "x": 3.2, "y": 8.1, "value": 0.4}. It may have latitude and longitude instead of
    x and y, and time, wind_u and wind_v or wind_speed and wind_from, altitude, dwell, sensor and unit. The
    answer has status (searching, found, inconclusive), next_position, bearing, distance, estimate, region and
    why. It is sent when the reading is on the disk. Send a reading without an answer again: an id makes that
    safe. An error has the line and "recorded": false. If it has "refused", the log says so; if not, the
    reading could not be written: send it again.

    To mend a reading, send {"withdraw": true, "id": "7"} or {"correct": true, "id": "7", "value": 0.04}. Use
    "number" (of its advice) for a reading without an id; "reason" is optional. An unlikely value is refused
    with "confirm": false: if it is right, send it again with "confirm": true.

    Parameters
    ----------
    site
        Site file; `dowsax site new` writes one.
    log
        Mission log; a mission in it continues.
    policy
        Planner or trained policy, such as infotaxis or att-pfrl-guarded. Default: the best for the site.
    seed
        Random seed. Default: that of the log, or 0.
    mqtt
        Broker, mqtt://host:port, with the topics dowsax/NAME/readings and dowsax/NAME/advice, where NAME is
        that of the site. Default: stdin and stdout.
    """
    if mqtt is not None:
        _require_broker(mqtt)
    advisor = _advisor(site, log, policy, seed)
    try:
        _serve(advisor, mqtt)
    finally:
        advisor.close()


def _require_broker(address: str) -> None:
    """Raise an error for a broker that does not answer, before the filter is compiled."""
    with waiting("Looking for the broker"):
        asyncio.run(require_broker(address))


def _advisor(site: Path, log: Path, policy: str | None, seed: int | None) -> Advisor:
    place = read_site(site)
    if log.is_file() and log.stat().st_size == 0:
        print_status(f"{log} is empty: a new mission is begun in it.")
    if seed is None:
        seed = MissionLog.open(log).header.seed if is_begun(log) else 0
    require_seed(seed)
    with preparing("Preparing"):
        advisor = Advisor(place, policy, seed, log)
    number = len(advisor.readings)
    begin = advisor.plan.frame.format_position(advisor.plan.start or advisor.plan.middle)
    state = f"going on after {number} readings" if number else f"ready, begin at {begin}"
    print_status(f"{place.name}: {state}; policy {advisor.guide.name}, log {log}.")
    print_status(f"{advisor.false_stops[0].upper()}{advisor.false_stops[1:]}.")
    return advisor


def _serve(advisor: Advisor, mqtt: str | None) -> None:
    if mqtt is not None:

        def notify(text: str, is_up: bool) -> None:
            print_status(text)
            advisor.note("feed" if is_up else "alarm", text)

        asyncio.run(serve_mqtt(advisor, mqtt, notify))
        return

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    # As bytes: a line that is no text must not end the stream.
    serve_lines(advisor, lines_of(sys.stdin.buffer), write)
