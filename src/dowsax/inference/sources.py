"""Posteriors of several sources: in one order, by their number, and against the truth."""

from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from dowsax.inference.posterior import Posterior
from dowsax.world import Prior, source_columns
from dowsax.world.several_columns import SourceColumns, single_name
from dowsax.world.source import Parameter

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


class Published(NamedTuple):
    """How Θ of several sources is published: source by source, the strongest first, then what they share.

    Where their number is unknown, without the columns of sources that are not there, and of the number.
    """

    parameters: tuple[Parameter, ...]
    columns: np.ndarray
    """Of Θ, in the order of the parameters."""
    sources: tuple[tuple[int, ...], ...]
    """The columns of each source, as published; empty for one source."""

    @classmethod
    def of(
        cls, parameters: tuple[Parameter, ...], columns: SourceColumns, number: int, mean: np.ndarray
    ) -> "Published":
        """Return the order for a number of sources with this mean of Θ."""
        names = [single_name(parameters[column].name) for column in columns.own]
        at = next((names.index(name) for name in _STRENGTHS if name in names), None)
        blocks = columns.blocks[:number]
        ranks = sorted(blocks, key=lambda own: mean[own[0]] if at is None else -mean[own[at]])
        shared = columns.by_source[columns.number * len(names) :]
        named = [parameters[column] for own in blocks for column in own]
        if number == 1:
            named = [_without_number(parameter) for parameter in named]
        order = np.array([*(column for own in ranks for column in own), *shared])
        firsts = range(0, number * len(names), len(names)) if number > 1 else ()
        sources = tuple(tuple(range(first, first + len(names))) for first in firsts)
        return cls((*named, *(parameters[column] for column in shared)), order, sources)


def publish(posterior: Posterior, prior: Prior) -> Posterior:
    """Return a posterior in Θ of the filter as it is published (`Published`); of one source as it is.

    The labels of its samples agree; those of each survey of a batch by themselves. Where the number of
    sources is unknown, the samples are those of the most probable number, with the probability of each.
    """
    columns = source_columns(prior)
    if columns is None:
        return posterior
    number, chances = columns.number, _number_chances(posterior, columns)
    if chances:
        number = max(chances, key=lambda each: chances[each])
        is_such = posterior.samples[:, columns.number_column] == number
        weights = posterior.weights[is_such]
        posterior = replace(
            posterior,
            samples=posterior.samples[is_such],
            weights=weights / weights.sum(),
            number_probabilities=chances,
        )
    means = posterior.mean if posterior.is_batch else posterior.mean[None]
    orders = [Published.of(posterior.parameters, columns, number, mean) for mean in means]
    taken = np.stack([order.columns for order in orders])
    taken, trace = taken if posterior.is_batch else taken[0], posterior.trace
    return replace(
        posterior,
        parameters=orders[0].parameters,
        samples=np.take_along_axis(posterior.samples, taken[..., None, :], axis=-1),
        trace=replace(
            trace,
            mean=np.take_along_axis(trace.mean, taken[..., None, :], axis=-1),
            std=np.take_along_axis(trace.std, taken[..., None, :], axis=-1),
        ),
        position_columns=tuple(range(len(posterior.position_columns))),
        source_columns=orders[0].sources,
    )


def _number_chances(posterior: Posterior, columns: SourceColumns) -> dict[int, float]:
    """Return the probability of each number of sources in a posterior in Θ; nothing where it is known."""
    if columns.number_column is None:
        return {}
    numbers = posterior.samples[:, columns.number_column]
    return {number: float(posterior.weights[numbers == number].sum()) for number in columns.numbers}


def _without_number(parameter: Parameter) -> Parameter:
    """Return a parameter of the only source by its plain name."""
    return Parameter(
        single_name(parameter.name), parameter.unit, parameter.meaning.removesuffix(", source 1")
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
