"""`dowsax fly`: against the stub of an autopilot in real time, killed and started again, until it is home."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor
from pathlib import Path
from unittest.mock import PropertyMock, call, create_autospec

import pytest

from benchmarks.autopilot_stub import AutopilotStub, serve
from benchmarks.simulated_flights import HOME, SITE
from dowsax.cli.fly import _finish, _run
from dowsax.geo.local import LocalCoordinates
from dowsax.interruption import GRACE_S
from dowsax.mission.flight.link import Link
from dowsax.mission.flight.session import Session
from dowsax.mission.flight.state import State
from dowsax.mission.flight.worker import AdvisorWorker
from dowsax.mission.log import MissionLog, Note, Step

TIMEOUT_S = 300.0


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def site_file(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(SITE)
    return path


@pytest.fixture
def autopilot():
    """The stub in a thread, and the port to which it talks."""
    number, is_over = free_port(), threading.Event()
    stub = AutopilotStub(LocalCoordinates((52.1, 5.1)), HOME, lambda place, height: 40.0 - 0.1 * place[0])
    thread = threading.Thread(target=serve, args=(stub, ("127.0.0.1", number), is_over.is_set))
    thread.start()
    yield stub, number
    is_over.set()
    thread.join()


def start(site, log, number, errors, *words):
    address = f"udpin:127.0.0.1:{number}"
    command = [
        "-m",
        "dowsax.cli",
        "fly",
        "--site",
        str(site),
        "--log",
        str(log),
        "--mavlink",
        address,
        *words,
    ]
    with errors.open("ab") as stderr:
        return subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stderr=stderr, text=True)


def steps_of(log):
    try:
        return list(MissionLog.open(log).steps())
    except ValueError:
        return []


def wait_for(process, is_there, say=""):
    """Wait until something is there; say a word to the process once a second."""
    begun = time.monotonic()
    while not is_there():
        assert process.poll() is None, "it has ended"
        assert time.monotonic() - begun < TIMEOUT_S, "it takes too long"
        if say:
            process.stdin.write(f"{say}\n")
            process.stdin.flush()
        time.sleep(0.5)


@pytest.mark.slow
def test_killed_in_the_air_it_goes_on_and_flies_home(site_file, autopilot, tmp_path):
    """After the kill the vehicle waits for a person; no reading is lost or twice; `home` ends it at home."""
    stub, number = autopilot
    log, errors = tmp_path / "mission.log", tmp_path / "stderr"
    first = start(site_file, log, number, errors, "--arm")
    try:
        wait_for(first, lambda: len(steps_of(log)) >= 2)
        os.kill(first.pid, signal.SIGKILL)
    finally:
        first.kill()
        first.communicate()
    kept = [step.id for step in steps_of(log)]
    again = start(site_file, log, number, errors, "--arm")
    try:
        wait_for(again, lambda: len(steps_of(log)) >= len(kept) + 2, say="resume")
        wait_for(again, lambda: again.poll() is not None or stub.is_home, say="home")
        again.communicate(timeout=TIMEOUT_S)
    finally:
        again.kill()
        again.communicate()
    text = errors.read_text()
    assert again.returncode == 0, text
    assert "Traceback" not in text
    assert stub.is_home
    with MissionLog.open(log) as opened:
        records = list(opened.records())
    ids = [one.id for one in records if isinstance(one, Step)]
    assert ids[: len(kept)] == kept
    assert len(set(ids)) == len(ids)
    phases = [one.data["phase"] for one in records if isinstance(one, Note) and "phase" in one.data]
    assert phases[-1] == "ended"
    assert {"taking off", "going", "reading", "thinking", "returning"} <= set(phases)
    given = json.loads(next(one.given for one in records if isinstance(one, Step)))
    assert given["altitude"] == pytest.approx(12.0, abs=1.0)


def test_says_what_is_wrong_before_anything_else(complaint, site_file, tmp_path):
    log, words = tmp_path / "mission.log", ("--mavlink", "udpin:127.0.0.1:0")
    assert "Not an address of an autopilot" in complaint(
        "fly", "--site", site_file, "--log", log, "--mavlink", "here"
    )
    assert "1 to 10 characters" in complaint(
        "fly", "--site", site_file, "--log", log, *words, "--value", "concentration"
    )
    assert "--system must be from 1 to 255; got 0" in complaint(
        "fly", "--site", site_file, "--log", log, *words, "--system", "0"
    )
    for old, new, expected in (
        ("origin = [52.1, 5.1]", "", "needs latitude and longitude"),
        ("height = 12", "height = 200", "is not from lowest = 2 to highest = 120 m"),
        ("height = 12", "height = 12\nclearance = 30", "nothing of the geofence is left"),
        ("[search]", '[[searcher]]\nname = "a"\n[search]', "no [[searcher]]"),
    ):
        site_file.write_text(SITE.replace(old, new))
        assert expected in complaint("fly", "--site", site_file, "--log", log, *words)
    assert not log.exists()


def test_the_clock_of_the_computer_may_be_set_in_flight(monkeypatch):
    session, link = create_autospec(Session, instance=True), create_autospec(Link, instance=True)
    session.state = State(heard=10.0)
    type(session).is_over = PropertyMock(side_effect=[False, False, True])
    clock = create_autospec(time)
    clock.monotonic.side_effect, clock.time.side_effect = [10.0, 10.0, 11.0], [1010.0, 5011.0]
    monkeypatch.setattr("dowsax.cli.fly.time", clock)
    monkeypatch.setattr("dowsax.cli.fly.wait_for_bytes", lambda port, seconds: None)
    _run(session, link, None, "udpin:127.0.0.1:14550")
    assert session.set_clock.call_args_list == [call(1000.0), call(5000.0)]


@pytest.mark.parametrize(("is_built", "late"), [(True, 0), (True, 4), (False, 4)])
def test_readings_that_come_too_late_are_said(capsys, is_built, late):
    """Before its thread is ended, the advisor takes in what waits for it."""
    worker, executor = create_autospec(AdvisorWorker, instance=True), create_autospec(Executor, instance=True)
    worker.advisor, worker.finish.return_value = (object() if is_built else None), late
    _finish(worker, executor, Path("mission.log"))
    executor.shutdown.assert_called_once_with(wait=is_built, cancel_futures=True)
    (seconds,) = worker.finish.call_args.args
    assert 0.0 < seconds < GRACE_S
    where = "; mission.log has them among the refused ones" if is_built else ""
    expected = f"4 readings came too late for the advisor{where}: send them again."
    assert (expected in capsys.readouterr().err) == (late > 0)
