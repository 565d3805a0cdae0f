"""`dowsax advise`: readings in, one by one, and after each what to do next."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dowsax.cli.console import preparing, print_status, waiting
from dowsax.cli.durations import site_kind
from dowsax.cli.locate import require_seed
from dowsax.cli.outputs import require_writable
from dowsax.extras import require_extra
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog, has_mission
from dowsax.mission.messages import read_lines, serve_lines
from dowsax.mission.mqtt import require_broker, serve_mqtt
from dowsax.mission.next_reading import describe_start
from dowsax.mission.plan import Plan
from dowsax.report.mcap_recording import RecordedAdvisor, require_recording
from dowsax.site import read_site


def advise(
    *,
    site: Path,
    log: Path,
    policy: str | None = None,
    seed: int | None = None,
    mqtt: str | None = None,
    ahead: int = 1,
    mcap: Path | None = None,
) -> None:
    """Advise a live search: one JSON object a line in, one a line out.

    A reading: {"id": "7", "x": 3.2, "y": 8.1, "value": 0.4}, with latitude and longitude instead of x and y.
    Optional keys: time, wind_u and wind_v or wind_speed and wind_from, altitude, dwell, sensor and unit.
    Where the site file has several searchers, each reading needs "searcher", and its answer is for that one.
    The answer has status (searching, found, inconclusive), next_position, bearing, distance, estimate, region
    and why. An answer is an acknowledgement: the reading is on the disk. Send a reading without an answer
    again, which is safe when it has an id. An error has the line and "recorded": false. With "refused": true
    the reading is in the log as refused; with false it could not be written, and has to be sent again.

    To withdraw a reading: {"withdraw": true, "id": "7"}. To correct one: {"correct": true, "id": "7",
    "value": 0.04}. "number" (of its advice) replaces a missing "id"; "reason" is optional. An implausible
    value is refused with "confirm": false: send it again with "confirm": true if it is right.

    Parameters
    ----------
    site
        The site file; `dowsax site new` writes one.
    log
        The mission log. If it holds a mission at this site already, that mission continues.
    policy
        The policy that chooses the next place: location-gain, location-gain-2, infotaxis, entrotaxis, dcee,
        greedy, a trained policy, one with a guard such as pfrl-guarded … (default: the best for the site).
    seed
        The same seed gives the same advice (default: that of the log, or 0).
    mqtt
        The address of a broker, mqtt://host:port, instead of stdin and stdout. Readings come on the topic
        dowsax/NAME/readings and advice goes to dowsax/NAME/advice, with the NAME of the site; that for one of
        several searchers also to dowsax/NAME/advice/SEARCHER. A broker that
        does not answer within 5 s at the start is an error; one that is lost later is waited for.
    ahead
        How many places to plan, 1 to 10, for plans that hold several waypoints. From 2 on the answer has them
        as `ahead`, in the order of flight.
    mcap
        File to record the mission in as MCAP, for Foxglove; it is complete up to the last answer even if the
        program is killed. Default: none.
    """
    if mcap is not None:
        require_extra("mcap", "`--mcap`")
        require_writable(mcap)
        require_recording(mcap)
    if mqtt is not None:
        # Before the filter is compiled, which takes longer.
        with waiting("Connecting to the broker"):
            asyncio.run(require_broker(mqtt))
    advisor = _build_advisor(site, log, policy, seed, ahead)
    try:
        with _recorded(advisor, log, mcap) as served:
            _serve(served, mqtt)
    finally:
        advisor.close()


@contextmanager
def _recorded(advisor: Advisor, log: Path, mcap: Path | None) -> Iterator[Advisor | RecordedAdvisor]:
    """Yield the advisor, or one that records the mission as well."""
    if mcap is None:
        yield advisor
        return
    recorded = RecordedAdvisor(advisor, log, mcap, print_status)
    try:
        yield recorded
    finally:
        recorded.close()


def _build_advisor(file: Path, log: Path, policy: str | None, seed: int | None, ahead: int) -> Advisor:
    site = read_site(file)
    if log.is_file() and log.stat().st_size == 0:
        print_status(f"{log} is empty: a new mission is started in it.")
    seed, is_new = mission_seed(log, seed), not has_mission(log)
    with preparing("Preparing", kind=site_kind("advise", site.text, policy, min(ahead, 2))) as count:
        advisor = Advisor(site, policy, seed, log, warm_up=not is_new, ahead=ahead, on_progress=count)
        if is_new:
            # At once, as the way there takes time as well.
            print_status(f"{site.name}: begin at {_starts(advisor.plan)}.")
            advisor.warm_up()
    number = len(advisor.readings)
    state = f"continuing after {number} readings" if number else "ready"
    print_status(f"{site.name}: {state}; policy {advisor.policy.name}, log {log}.")
    print_status(f"{advisor.false_stops[0].upper()}{advisor.false_stops[1:]}.")
    return advisor


def mission_seed(log: Path, seed: int | None) -> int:
    """Return the seed of a mission: as given, else that of its log, else 0."""
    if seed is None:
        seed = MissionLog.open(log).header.seed if has_mission(log) else 0
    require_seed(seed)
    return seed


def _starts(plan: Plan) -> str:
    """Return where to begin, for each searcher."""
    words = {name: describe_start(plan.for_searcher(name)) for name in plan.searchers or (None,)}
    return ", ".join(place if name is None else f"{place} ({name})" for name, place in words.items())


def _serve(advisor: Advisor | RecordedAdvisor, mqtt: str | None) -> None:
    if mqtt is not None:

        def notify(text: str, is_up: bool) -> None:
            print_status(text)
            advisor.note("feed" if is_up else "alarm", text)

        asyncio.run(serve_mqtt(advisor, mqtt, notify))
        return

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    # As bytes: a line that is not text must not end the stream.
    serve_lines(advisor, read_lines(sys.stdin.buffer), write)
