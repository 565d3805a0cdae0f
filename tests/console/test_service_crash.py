"""A console that is killed in the middle of everything goes on as if it had not been."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

PLACES = [(2.0 + 1.5 * (count % 6), 2.0 + 0.7 * count) for count in range(12)]
BODIES = [
    {"id": str(count), "position": list(place), "value": 0.1 + 0.05 * count, "time": float(count)}
    for count, place in enumerate(PLACES)
]
SEED = 21
# By its seed it takes all its 200 readings, and so is never over here.
LONG = {
    "type": "simulated",
    "field": "temperature",
    "particles": 64,
    "policy": "greedy",
    "seed": 23,
    "speed": 5.0,
}


class Server:
    """A console in a process of its own."""

    def __init__(self, folder):
        words = [sys.executable, "-m", "dowsax.cli", "serve", "--port", "0", "--missions", str(folder)]
        source = str(Path(__file__).parents[2] / "src")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]),
        }
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        self.address = re.search(r"http://[^/]+", self.process.stdout.readline())[0]

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def send_and_leave(self, path, body):
        """Send without waiting for an answer."""
        parts, data = urlsplit(self.address), json.dumps(body).encode()
        line = socket.create_connection((parts.hostname, parts.port))
        head = f"POST {path} HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
        line.sendall(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)
        return line

    def end(self, how=signal.SIGKILL):
        os.kill(self.process.pid, how)
        self.process.wait(60)
        self.process.stdout.close()

    def wait(self, mission, holds):
        """Until something holds of a mission."""
        while not holds(self.ask(f"/api/missions/{mission}")):
            time.sleep(0.02)


@pytest.fixture
def serve(tmp_path):
    """A console on the same folder each time; the last is ended at the end."""
    begun = []

    def start():
        begun.append(Server(tmp_path))
        return begun[-1]

    yield start
    if begun[-1].process.returncode is None:
        begun[-1].end()


@pytest.fixture(scope="module")
def whole(site_text):
    """The mission without a console and without an end: every advice, and the draws of its last belief."""
    from dowsax.console.snapshots import ParticleSamples
    from dowsax.mission.advisor import Advisor
    from dowsax.site import parse_site

    advisor = Advisor(parse_site(site_text()), "greedy", SEED)
    told = [
        advisor.observe(body["position"], body["value"], id=body["id"], time=body["time"]).to_json()
        for body in BODIES
    ]
    return json.loads(json.dumps(told)), ParticleSamples.unpack(
        ParticleSamples.of(advisor.reported_belief).pack()
    ).thetas


def simulated_alone(steps):
    """The estimates of the same simulation without a console and without an end."""
    from dowsax.console.advisor_cache import AdvisorCache
    from dowsax.console.simulation import Truth, site_text
    from dowsax.mission.advisor import Advisor

    text = site_text(LONG["field"], "id", LONG["seed"], LONG["particles"])
    _, plan, guide = AdvisorCache().plan_site(text, LONG["policy"], simulated=True)
    advisor, truth = Advisor(plan, guide, LONG["seed"]), Truth.sample(plan, "id", LONG["seed"])
    place, told = plan.start, []
    for _ in range(steps):
        advice = advisor.add(truth.read(advisor, place))
        place = advice.next_position
        told.append(list(advice.estimate.mean))
    return told


@pytest.mark.slow
def test_what_was_acknowledged_is_there_and_beliefs_are_as_they_were(serve, tmp_path, site_text, whole):
    """Killed twice while readings come and a simulation runs; every answer is as without a kill."""
    from dowsax.console.store import Store
    from dowsax.mission.log import MissionLog

    expected, draws = whole
    moments = random.Random(3)
    server = serve()
    real = server.ask(
        "/api/missions", {"type": "real", "site": site_text(), "policy": "greedy", "seed": SEED}
    )
    simulated = server.ask("/api/missions", LONG)
    posts = f"/api/missions/{real['id']}/readings"
    answers, steps = [], 0
    for stop in (4, 8, len(BODIES)):
        server.ask(f"/api/missions/{simulated['id']}/control", {"action": "run"})
        while len(answers) < stop:
            answers.append(server.ask(posts, BODIES[len(answers)])["advice"])
        server.wait(simulated["id"], lambda now, steps=steps: now["readings"] > steps)
        if stop == len(BODIES):
            break
        line = server.send_and_leave(posts, BODIES[len(answers)])
        time.sleep(moments.uniform(0.0, 0.05))
        server.end()
        line.close()
        held = [step.id for step in MissionLog.open(tmp_path / f"{real['id']}.log").steps()]
        assert held[: len(answers)] == [body["id"] for body in BODIES[: len(answers)]]
        server = serve()
        listed = {mission["id"]: mission for mission in server.ask("/api/missions")}
        assert listed[real["id"]]["readings"] == len(held)
        assert not listed[simulated["id"]]["running"]
        assert listed[simulated["id"]]["readings"] >= steps
        steps = listed[simulated["id"]]["readings"]
    assert answers == expected
    snapshots = server.ask(f"/api/missions/{simulated['id']}/snapshots")
    assert [snapshot["number"] for snapshot in snapshots] == list(range(1, len(snapshots) + 1))
    assert len(snapshots) > steps > 0
    assert [snapshot["estimate"]["mean"] for snapshot in snapshots] == simulated_alone(len(snapshots))
    server.end(signal.SIGTERM)
    store = Store(tmp_path)
    _, kept = store.snapshots(real["id"]).get(len(BODIES))
    store.close()
    np.testing.assert_array_equal(kept.thetas, draws)
