"""Fingerprints: equal for equal problems, different where anything that matters differs."""

import subprocess
import sys

from dowsax.policies.fingerprint import fingerprint
from dowsax.world import FOUR_MOVES, Model, Motion, PlumePrior, Poisson, benchmark_model


def field(theta, station):
    return theta[2] * station.position[0]


def test_it_differs_with_model_and_actions():
    gas = benchmark_model("gas")
    own = Model(PlumePrior(), field, Poisson(background=1.0))
    all_ = [
        fingerprint(gas, FOUR_MOVES),
        fingerprint(benchmark_model("energy"), FOUR_MOVES),
        fingerprint(gas, Motion(high=(25.0, 26.0))),
        fingerprint(own, FOUR_MOVES),
        fingerprint(Model(PlumePrior(), field, Poisson(background=1.5)), FOUR_MOVES),
    ]
    assert len(set(all_)) == len(all_)
    assert fingerprint(benchmark_model("gas"), Motion()) == all_[0]


def test_it_is_the_same_in_another_process():
    program = (
        "from dowsax.policies.fingerprint import fingerprint\n"
        "from dowsax.world import FOUR_MOVES, benchmark_model\n"
        "print(fingerprint(benchmark_model('gas'), FOUR_MOVES))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert printed == fingerprint(benchmark_model("gas"), FOUR_MOVES)
