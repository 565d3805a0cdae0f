"""A mission that is killed at random moments ends like one that is not: the same belief, the same advice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from made_missions import read

from dowsax.mission.log import MissionLog

HERE = Path(__file__).parent
# A mission of its own process: readings on stdin, advice on stdout, the belief at the end.
CHILD = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from made_missions import MODEL, hill_site
from dowsax.mission.advisor import Advisor
from dowsax.mission.messages import serve_lines

advisor = Advisor(hill_site(), seed=4, log=sys.argv[2], model=MODEL)

def write(line):
    sys.stdout.write(line)
    sys.stdout.flush()

write("ready\\n")
serve_lines(advisor, sys.stdin, write)
np.savez(sys.argv[3], particles=advisor.belief.particles, log_weights=advisor.belief.log_weights)
"""
PLACES = [(2.0 + 1.5 * (count % 6), 2.0 + 0.5 * count) for count in range(12)]
LINES = [
    json.dumps({"id": count, "x": x, "y": y, "value": read(count, (x, y)), "time": count})
    for count, (x, y) in enumerate(PLACES)
]


def start(log, belief):
    words = [sys.executable, "-c", CHILD, str(HERE), str(log), str(belief)]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    return child


def end(child):
    """Close its stdin, upon which it ends by itself unless it is dead already."""
    with suppress(BrokenPipeError):
        child.stdin.close()
    child.wait(timeout=60)
    child.stdout.close()


def ask(child, line):
    child.stdin.write(line + "\n")
    child.stdin.flush()
    return json.loads(child.stdout.readline())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The mission without a crash: every answer, and the belief at the end."""
    folder = tmp_path_factory.mktemp("whole")
    child = start(folder / "mission.log", folder / "belief.npz")
    answers = [ask(child, line) for line in LINES]
    end(child)
    return answers, dict(np.load(folder / "belief.npz"))


@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_as_if_nothing_had_been(tmp_path, whole):
    """The sender sends again what it got no answer to; no reading counts twice, and none is lost."""
    expected, belief = whole
    moments = random.Random(7)
    log, answers, kills = tmp_path / "mission.log", [], 0
    while len(answers) < len(LINES):
        child = start(log, tmp_path / "belief.npz")
        for _ in range(moments.randint(2, 5)):
            answers.append(ask(child, LINES[len(answers)]))
            if len(answers) == len(LINES):
                break
        if len(answers) < len(LINES):
            # In the middle of an answer, or just before or after it: wherever the moment falls.
            child.stdin.write(LINES[len(answers)] + "\n")
            child.stdin.flush()
            time.sleep(moments.uniform(0.0, 0.05))
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
        end(child)
    assert kills >= 2
    assert answers == expected
    with MissionLog.open(log) as opened:
        assert [step.id for step in opened.steps()] == [str(count) for count in range(len(LINES))]
    again = np.load(tmp_path / "belief.npz")
    for name, values in belief.items():
        np.testing.assert_array_equal(again[name], values)
