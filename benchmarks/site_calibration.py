"""Calibration of beliefs of several sources at the standard sites: results/tables/calibration/sites.md.

    python -m benchmarks.site_calibration --surveys 1000 --seed 1   # as published
    python -m benchmarks.site_calibration --surveys 20              # a trial; its numbers mean little

As `dowsax calibrate`, with the models of the files that `dowsax site new` writes and the preset `survey`:
sources from the prior, and 40 readings on a walk to and fro. Parameters are compared in the order of the x of
their sources.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from benchmarks.worlds import Case, site_case, walk
from dowsax.compilation import enable_cache
from dowsax.evaluate.calibration import PROBABILITIES, Calibration, calibrate, pooled_coverage
from dowsax.evaluate.surveys import Surveys
from dowsax.evaluate.tables import markdown
from dowsax.types import Key, Station, Theta
from dowsax.world import Model

KINDS = {"gas-plume": {"is_windy": True}, "radiation": {"is_counted": True}, "level": {"is_level": True}}
HEADINGS = (
    "site",
    "surveys",
    "test",
    "50 % intervals hold",
    "90 % intervals hold",
    "90 % intervals of one parameter",
)


def simulate(kind: str, sources: int, surveys: int, seed: int) -> tuple[Surveys, Model]:
    """Surveys of a site with this number of sources."""
    case = site_case(kind, sources=sources, **KINDS[kind])
    return survey_all(case, surveys, jax.random.key(seed), [seed]), case.model


def survey_all(case: Case, surveys: int, key: Key, seed: Sequence[int]) -> Surveys:
    """Surveys of sources from the prior, each on a walk of its own."""
    model = case.model
    stations = [walk(np.random.default_rng([*seed, number]), case) for number in range(surveys)]
    together = jax.tree.map(lambda *leaves: np.stack(leaves), *stations)
    theta_key, noise_key = jax.random.split(key)
    thetas = jax.vmap(model.prior.sample)(jax.random.split(theta_key, surveys))
    # One after the other: noise that readings share is drawn in a loop over them.
    keys = jax.random.split(noise_key, surveys)
    readings = [_draw(model, *each) for each in zip(keys, thetas, stations, strict=True)]
    return Surveys(np.asarray(thetas), together, np.stack(readings))


@eqx.filter_jit
def _draw(model: Model, key: Key, theta: Theta, stations: Station) -> Array:
    return model.simulate(key, theta, stations)


def measure(kind: str, sources: int, surveys: int, seed: int) -> Calibration:
    """The calibration of one site."""
    simulated, model = simulate(kind, sources, surveys, seed)
    start, num_done = time.perf_counter(), 0

    def show(more: int) -> None:
        nonlocal num_done
        num_done += more
        print(
            f"{kind}: {num_done} of {surveys}, {time.perf_counter() - start:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    return calibrate(model, simulated, preset="survey", seed=seed, on_progress=show)


def row(kind: str, report: Calibration) -> tuple[str, ...]:
    """One line of the table."""
    pooled = pooled_coverage([report])
    shares = {parameter.name: parameter.coverage[PROBABILITIES[-1]].value for parameter in report.parameters}
    least, most = min(shares, key=lambda name: shares[name]), max(shares, key=lambda name: shares[name])
    return (
        kind,
        str(report.num_cases),
        f"{'pass' if report.passed else 'FAIL'}, p = {report.p_value:.2g}",
        *(f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]" for share in pooled.values()),
        f"{shares[least]:.3f} ({least}) to {shares[most]:.3f} ({most})",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--surveys", type=int, default=100)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--sources", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    enable_cache()
    rows = [
        row(kind, measure(kind, arguments.sources, arguments.surveys, arguments.seed))
        for kind in arguments.kinds
    ]
    print("\n".join(markdown(HEADINGS, rows)))


if __name__ == "__main__":
    main()
