"""Posteriors of several sources: in one order, by their number, and against the truth."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from dowsax.inference.posterior import Posterior
from dowsax.world.several_columns import SourceColumns, single_name

_STRENGTHS = ("q", "level")
"""Names of the parameter by which sources are sorted, the strongest first; without one by x."""


class SourceEstimate(NamedTuple):
    """One source of a posterior."""

    position: np.ndarray
    """(2,) [m]"""
    std: np.ndarray
    """(2,) [m], east and north."""
    radius: float
    """[m], of the disc around the position that holds this source with 95 %, if there is one."""
    columns: tuple[int, ...]
    """Of Θ: all that is its own, the position first."""


def estimate_sources(posterior: Posterior) -> tuple[SourceEstimate, ...]:
    """Return each source of the posterior of one survey, the strongest first."""
    columns = posterior.source_columns or (posterior.position_columns,)
    found = []
    for own in columns:
        single = replace(
            posterior, position_columns=own[: len(posterior.position_columns)], source_columns=()
        )
        position, std = single.position(single.mean), single.position(single.std)
        found.append(SourceEstimate(position, std, float(single.credible_radius(0.95)), own))
    return tuple(found)


def by_source(posterior: Posterior, columns: SourceColumns) -> Posterior:
    """Return a posterior in Θ of the filter with its columns source by source, the strongest first.

    The labels of its samples agree; those of each survey of a batch by themselves.
    """
    size = len(columns.own)
    order = np.array(columns.by_source)
    samples = posterior.samples[..., order]
    parameters = tuple(posterior.parameters[column] for column in order)
    names = [single_name(parameter.name) for parameter in parameters[:size]]
    at = next((names.index(name) for name in _STRENGTHS if name in names), None)
    means = np.einsum("...n,...nd->...d", posterior.weights, samples)
    firsts = np.arange(columns.number) * size
    keys = means[..., firsts] if at is None else -means[..., firsts + at]
    ranks = np.argsort(keys, axis=-1)
    chosen = (ranks[..., :, None] * size + np.arange(size)).reshape(*ranks.shape[:-1], -1)
    own = np.take_along_axis(samples, chosen[..., None, :], axis=-1)
    trace = posterior.trace
    return replace(
        posterior,
        parameters=parameters,
        samples=np.concatenate([own, samples[..., columns.number * size :]], axis=-1),
        trace=replace(trace, mean=trace.mean[..., order], std=trace.std[..., order]),
        position_columns=(0, 1),
        source_columns=tuple(tuple(range(first, first + size)) for first in firsts.tolist()),
    )


def combine(by_number: Mapping[int, Posterior]) -> Posterior:
    """Return the posterior of the most probable number of sources, with the probability of each.

    Numbers are equally probable before the survey.
    """
    numbers = sorted(by_number)
    evidences = np.array([float(by_number[number].log_evidence) for number in numbers])
    chances = np.exp(evidences - logsumexp(evidences))
    best = numbers[int(np.argmax(chances))]
    return replace(
        by_number[best],
        log_evidence=np.asarray(logsumexp(evidences) - np.log(len(numbers))),
        number_probabilities=dict(zip(numbers, chances.tolist(), strict=True)),
        by_number=dict(by_number),
    )


def ospa(estimates: np.ndarray, truths: np.ndarray, cutoff: float) -> float:
    """Return the distance between two sets of places, (k, 2) and (m, 2), at most the cutoff.

    Optimal sub-pattern assignment of order 1 (Schuhmacher et al. 2008): the mean distance of matched places,
    each at most the cutoff, which those without a match count in full.
    """
    few, many = sorted((np.asarray(estimates, float), np.asarray(truths, float)), key=len)
    gaps = np.minimum(np.linalg.norm(few[:, None] - many[None], axis=2), cutoff)
    rows = np.arange(len(few))
    matched = min(gaps[rows, list(order)].sum() for order in permutations(range(len(many)), len(few)))
    return float(matched + cutoff * (len(many) - len(few))) / max(len(many), 1)
