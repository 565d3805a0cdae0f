"""Simulation-based calibration: are the posteriors right on average over data that the model simulates?

Draw sources from the prior, simulate surveys, and rank each true parameter among draws of its belief. If the
belief is the posterior, the ranks are uniform and a central interval of probability p holds the truth in a
share p of the cases (Talts et al. 2018). The verdict is the ECDF test of `uniformity` for each parameter,
with Holm's correction over the parameters at a total level of 1 %: a correct filter fails at most once in a
hundred times.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import numpy as np

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.ranks import NUM_DRAWS, Scores, join, score
from dowsax.evaluate.statistics import bootstrap_interval, holm, wilson_interval
from dowsax.evaluate.surveys import Surveys, simulate_surveys
from dowsax.evaluate.uniformity import Uniformity, uniformity
from dowsax.files import finite
from dowsax.inference import Preset
from dowsax.inference.labels import sort_sources
from dowsax.inference.locate import locate
from dowsax.inference.posterior import Posterior
from dowsax.world import Model, source_columns

LEVEL = 0.01
"""Probability that a correct filter fails the test."""
NUM_READINGS = 36
CONTRACTED_SPREAD_M = 0.5
"""A belief with a smaller spread is contracted."""
FALSE_ERROR_M = 1.0
"""A contracted belief with at least this error is false."""
PROBABILITIES = (0.5, 0.9)
_CASES_PER_CHUNK, _CASES_PER_CHUNK_ON_ACCELERATOR = 100, 1000


@dataclass(frozen=True)
class Share:
    """A share of cases with its 95 % Wilson interval."""

    successes: int
    trials: int

    @property
    def value(self) -> float:
        return self.successes / self.trials if self.trials else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.successes, self.trials)


@dataclass(frozen=True)
class ParameterReport:
    """The calibration of one parameter."""

    name: str
    tests: Uniformity
    p_value: float
    """Of the ECDF test, after Holm's correction over the parameters."""
    coverage: dict[float, Share]
    """By the probability of the central interval."""
    median_z: float
    """Median of |truth − mean|/std; 0.67 for a Gaussian belief. Infinite if most beliefs have no width."""


@dataclass(frozen=True)
class Calibration:
    """The calibration of a filter."""

    scores: Scores
    parameters: tuple[ParameterReport, ...]
    contracted: Share
    false_contracted: Share
    """Share of the contracted beliefs with an error of 1 m or more."""
    mean_error: float
    """[m]"""
    mean_error_interval: tuple[float, float]
    spearman: float
    """Rank correlation of spread and error: positive is good. NaN if one of them is constant."""

    @property
    def num_cases(self) -> int:
        return len(self.scores.ranks)

    @property
    def p_value(self) -> float:
        """Of the hypothesis that all parameters are calibrated."""
        return min(parameter.p_value for parameter in self.parameters)

    @property
    def passed(self) -> bool:
        return self.p_value >= LEVEL

    def to_dict(self) -> dict:
        """Plain numbers, for JSON: a number that is not finite is `None`."""
        return {
            "cases": self.num_cases,
            "draws": NUM_DRAWS,
            "level": LEVEL,
            "passed": self.passed,
            "p_value": self.p_value,
            "parameters": {parameter.name: _parameter_dict(parameter) for parameter in self.parameters},
            "contracted": _share_dict(self.contracted),
            "false_contracted": _share_dict(self.false_contracted),
            "mean_error": self.mean_error,
            "mean_error_interval": list(self.mean_error_interval),
            "spearman_spread_error": finite(self.spearman),
            "ranks": self.scores.ranks.tolist(),
        }


def calibrate(
    model: Model,
    surveys: Surveys,
    *,
    preset: str | Preset | None = None,
    particles: int | None = None,
    seed: int = 0,
    on_progress: Callable[[int], None] = lambda num_cases: None,
) -> Calibration:
    """Locate the sources of every survey, of a known number, and compare the beliefs with the truth.

    `on_progress` is called with the number of new cases after each chunk.
    """
    settings = {"preset": preset, "particles": particles, "seed": seed}
    return verdict(*score_surveys(model, surveys, on_progress=on_progress, **settings))


def score_surveys(
    model: Model,
    surveys: Surveys,
    *,
    preset: str | Preset | None = None,
    particles: int | None = None,
    seed: int = 0,
    on_progress: Callable[[int], None] = lambda num_cases: None,
) -> tuple[tuple[str, ...], Scores]:
    """Return what `calibrate` judges: the names of the parameters, and the scores of all surveys.

    Scores of several models can be joined where their parameters are the same.
    """
    size = _CASES_PER_CHUNK if jax.default_backend() == "cpu" else _CASES_PER_CHUNK_ON_ACCELERATOR
    parts, names = [], ()
    # A chunk is scored while the next one is located.
    with ThreadPoolExecutor(1) as scorer:
        for chunk, start in enumerate(range(0, len(surveys.thetas), size)):
            part = jax.tree.map(lambda leaf, start=start: leaf[start : start + size], surveys)
            filter_seed = int(np.random.SeedSequence([seed, chunk]).generate_state(1)[0])
            posterior = locate(
                part.positions,
                part.readings,
                model=model,
                preset=preset,
                particles=particles,
                seed=filter_seed,
            )
            parts.append(scorer.submit(_score, model, part.thetas, posterior, [seed, chunk]))
            names = posterior.names
            on_progress(len(part.thetas))
    return names, join([part.result() for part in parts])


def _score(model: Model, truths: np.ndarray, posterior: Posterior, seed: list[int]) -> Scores:
    """Score the truths; several sources are sorted by x, in the truth and in each sample."""
    samples, columns = posterior.samples, source_columns(model.prior)
    if columns is not None:
        truths = sort_sources(truths[:, list(columns.by_source)], posterior.source_columns)
        samples = sort_sources(samples, posterior.source_columns)
    return score(truths, samples, posterior.weights, seed, posterior.position_columns)


def own_surveys(model: Model, name: str, num_cases: int, seed: int) -> Surveys:
    """Simulate the surveys of a calibration with this seed; each field name has sources of its own."""
    key = jax.random.fold_in(jax.random.key(seed), zlib.crc32(name.encode()))
    return simulate_surveys(key, model, num_cases, NUM_READINGS)


def verdict(names: tuple[str, ...], scores: Scores) -> Calibration:
    """Test the ranks of each parameter and count what the intervals hold."""
    tests = [uniformity(column, NUM_DRAWS) for column in scores.ranks.T]
    adjusted = holm(np.array([test.ecdf for test in tests]))
    covered = {probability: scores.covered(probability) for probability in PROBABILITIES}
    reports = [
        ParameterReport(
            name=name,
            tests=tests[at],
            p_value=float(adjusted[at]),
            coverage={probability: _share(inside[:, at]) for probability, inside in covered.items()},
            median_z=float(np.median(np.abs(scores.z_scores[:, at]))),
        )
        for at, name in enumerate(names)
    ]
    contracted = scores.spreads < CONTRACTED_SPREAD_M
    return Calibration(
        scores=scores,
        parameters=tuple(reports),
        contracted=_share(contracted),
        false_contracted=_share(scores.errors[contracted] >= FALSE_ERROR_M),
        mean_error=float(np.mean(scores.errors)),
        mean_error_interval=bootstrap_interval(scores.errors),
        spearman=_spearman(scores.spreads, scores.errors),
    )


def pooled_coverage(reports: Sequence[Calibration]) -> dict[float, Estimate]:
    """Return what the intervals of all parameters of all reports hold, by their probability.

    The parameters of one survey are dependent, so the standard error is that of the means of the surveys.
    """
    pooled = {}
    for probability in PROBABILITIES:
        means = np.concatenate([report.scores.covered(probability).mean(axis=1) for report in reports])
        value, half = float(means.mean()), 1.96 * float(means.std(ddof=1)) / math.sqrt(means.size)
        pooled[probability] = Estimate(value, value - half, value + half, means.size)
    return pooled


def _share(hits: np.ndarray) -> Share:
    return Share(int(np.sum(hits)), int(np.size(hits)))


def _share_dict(share: Share) -> dict:
    return {"share": finite(share.value), "interval": list(share.interval), "of": share.trials}


def _parameter_dict(parameter: ParameterReport) -> dict:
    return {
        "p_value": parameter.p_value,
        "tests": parameter.tests._asdict(),
        "coverage": {f"{at:g}": _share_dict(share) for at, share in parameter.coverage.items()},
        "median_abs_z": finite(parameter.median_z),
    }


def _spearman(spreads: np.ndarray, errors: np.ndarray) -> float:
    from scipy import stats

    if np.ptp(spreads) == 0 or np.ptp(errors) == 0:
        return math.nan
    return float(np.corrcoef(stats.rankdata(spreads), stats.rankdata(errors))[0, 1])
