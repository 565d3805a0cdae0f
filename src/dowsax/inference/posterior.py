"""The posterior of a survey: the answer of `locate`, for people and programs."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module

import numpy as np

from dowsax.extras import require_extra
from dowsax.geo.formatting import count_digits
from dowsax.inference.excess_noise import UsualNoise, describe_excess
from dowsax.world import POSITION_COLUMNS, Parameter, take_position

_TYPICAL_REDUNDANCY = 4.0


@dataclass(frozen=True)
class Trace:
    """Summaries of the belief after each reading: (k, …), or (b, k, …) for a batch."""

    mean: np.ndarray
    std: np.ndarray
    credible_radius: np.ndarray
    """[m], at 95 %."""
    ess: np.ndarray
    stages: np.ndarray
    acceptance_rate: np.ndarray
    evaluations: np.ndarray


@dataclass(frozen=True, repr=False)
class Posterior:
    """Weighted samples of Θ given a survey, and their summaries.

    All arrays have a leading batch axis (b, …) for a batch of surveys.

    Parameters
    ----------
    parameters
        Name, unit and meaning of each column of Θ.
    samples
        (n, d), in the units of the parameters.
    weights
        (n,), of the samples; they sum to one.
    places
        (k, 2) [m], of the readings, and of paths their middles; (k, 3) in three dimensions.
    readings
        (k,), in the unit of the field.
    log_evidence
        log p(readings): compares models of the same readings.
    fit
        Probability, at most, that a right model fits so badly (`inference.fit`); near 0 it does not fit.
    trace
        Summaries after each reading.
    redundancy
        Number of readings that were counted as one.
    redundancy_estimate
        Its estimate from the errors, if it was estimated: at least as large.
    position_columns
        Columns of Θ that are the position of the source [m], the first one where there are several.
    source_columns
        Of several sources: the columns of each, its position first. Samples have them in one order, so that
        the sources of one number are the same one, as far as that can be told. Empty for one source.
    number_probabilities
        The probability of each number of sources, where it was not known; these are then the samples of the
        most probable number.
    usual_noise
        What the prior says of each inferred noise: far more of it is a sign of a wrong model.
    """

    parameters: tuple[Parameter, ...]
    samples: np.ndarray
    weights: np.ndarray
    places: np.ndarray
    readings: np.ndarray
    log_evidence: np.ndarray
    fit: np.ndarray
    trace: Trace
    redundancy: float = 1.0
    redundancy_estimate: float | None = None
    position_columns: tuple[int, ...] = POSITION_COLUMNS
    source_columns: tuple[tuple[int, ...], ...] = ()
    number_probabilities: Mapping[int, float] = field(default_factory=dict)
    usual_noise: tuple[UsualNoise, ...] = ()

    @property
    def num_sources(self) -> int:
        return max(len(self.source_columns), 1)

    @property
    def number_probability(self) -> float:
        """The probability that the number of sources is `num_sources`: 1 where it is known."""
        return self.number_probabilities.get(self.num_sources, 1.0)

    @property
    def more_probability(self) -> float:
        """The probability that there are more sources."""
        return sum(
            chance for number, chance in self.number_probabilities.items() if number > self.num_sources
        )

    @property
    def has_systematic_errors(self) -> bool:
        """Whether the whole survey errs together, far more than neighbours do: the model is wrong.

        The estimated redundancy is more than twice the one used, and more than twice the typical one.
        """
        asked = self.redundancy_estimate
        return asked is not None and asked > 2 * max(self.redundancy, _TYPICAL_REDUNDANCY)

    @property
    def has_excess_noise(self) -> np.ndarray:
        """Whether the readings scatter far more than the prior calls usual (`inference.excess_noise`)."""
        none = np.zeros(self.samples.shape[:-2], bool)
        excessive = [none, *(self._is_excessive(usual) for usual in self.usual_noise)]
        return np.asarray(np.any(excessive, axis=0))

    def describe_excess_noise(self) -> str:
        """Return a sentence on it, for one survey; empty where the noise is usual."""
        excessive = [usual for usual in self.usual_noise if self._is_excessive(usual)]
        if not excessive:
            return ""
        column = self.names.index(excessive[0].parameter.name)
        return describe_excess(excessive[0], float(self.quantile(0.5)[column]))

    def _is_excessive(self, usual: UsualNoise) -> np.ndarray:
        column = self.names.index(usual.parameter.name)
        return np.asarray(self.quantile(0.5)[..., column] > usual.limit)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def is_batch(self) -> bool:
        return self.samples.ndim == 3

    @cached_property
    def mean(self) -> np.ndarray:
        return np.einsum("...n,...nd->...d", self.weights, self.samples)

    @cached_property
    def covariance(self) -> np.ndarray:
        centred = self.samples - self.mean[..., None, :]
        return np.einsum("...n,...nd,...ne->...de", self.weights, centred, centred)

    @cached_property
    def std(self) -> np.ndarray:
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))

    def position(self, values: np.ndarray) -> np.ndarray:
        """Return the position [m] of the source in samples, means or standard deviations of Θ (…, d).

        Of several sources, of the first.
        """
        return take_position(values, self.position_columns)

    def source_positions(self, values: np.ndarray) -> np.ndarray:
        """Return the positions (…, sources, axes) [m] in samples, means or deviations of Θ (…, d)."""
        axes = len(self.position_columns)
        columns = [each[:axes] for each in self.source_columns] or [self.position_columns]
        return np.stack([take_position(values, each) for each in columns], axis=-2)

    def quantile(self, probability: float) -> np.ndarray:
        """Return the weighted quantile of each parameter, always one of the samples."""
        _require_probability(probability)
        return _quantile(self.samples, self.weights[..., None], probability, axis=-2)

    def interval(self, probability: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the central interval of each parameter with this probability."""
        _require_probability(probability)
        return self.quantile((1 - probability) / 2), self.quantile((1 + probability) / 2)

    def credible_radius(self, probability: float = 0.95) -> np.ndarray:
        """Return the smallest r [m] with P(|(x, y) − mean| ≤ r) at least this probability.

        Of several sources: that each is within r of its mean, if their number is `num_sources`.
        """
        _require_probability(probability)
        return _quantile(self._distances, self.weights, probability, axis=-1)

    def probability_within(self, radius: float) -> np.ndarray:
        """Return P(|(x, y) − mean| ≤ radius), the radius in m.

        Of several sources: that their number is right, and each is within the radius of its mean.
        """
        inside = np.sum(self.weights * (self._distances <= radius), axis=-1)
        return np.asarray(self.number_probability * inside)

    @property
    def _distances(self) -> np.ndarray:
        """[m], from each sample of the source to its mean position; of several, the largest."""
        offsets = self.source_positions(self.samples) - self.source_positions(self.mean)[..., None, :, :]
        return np.linalg.norm(offsets, axis=-1).max(axis=-1)

    @property
    def contracted(self) -> np.ndarray:
        """Whether all location coordinates have a standard deviation below 0.5 m."""
        return np.asarray(self.source_positions(self.std).max(axis=(-2, -1)) < 0.5)

    @property
    def found(self) -> np.ndarray:
        """Whether the model fits and the source is within 1 m of the mean with at least 95 % probability.

        Of several sources: each of them, and their number is right. Never with excess noise.
        """
        return np.asarray((self.probability_within(1.0) >= 0.95) & self.fits & ~self.has_excess_noise)

    @property
    def fits(self) -> np.ndarray:
        """Whether the model explains the readings; if not, the posterior is not to be trusted."""
        return np.asarray(self.fit >= MIN_FIT)

    def verdict(self) -> str:
        """Return in a sentence or two: located or not, and how far off the source may be."""
        if self.is_batch:
            count, total = int(np.sum(self.found)), self.samples.shape[0]
            misfits = int(np.sum(~self.fits))
            warning = f" {misfits} do not fit the model." if misfits else ""
            claim = "Located" if self.num_sources == 1 else f"Located all {self.num_sources} sources"
            return f"{claim} within 1 m at 95 % in {count} of {total} surveys.{warning}"
        if not self.fits:
            return (
                "Not to be trusted: no source fits these readings well, so check the units, the field, the "
                "positions and the prior (a right model would fit so badly with a probability of "
                f"{float(self.fit):.2g})."
            )
        radius, spread = float(self.credible_radius(0.95)), float(self.source_positions(self.std).max())
        if self.has_excess_noise:
            return f"{self.describe_excess_noise()} As it stands, its 95 % credible radius is {radius:.2f} m."
        if self.found:
            places = (
                "(" + ", ".join(f"{coordinate:.2f}" for coordinate in place) + ")"
                for place in self.source_positions(self.mean)
            )
            who = "the source is" if self.num_sources == 1 else f"the {self.num_sources} sources are"
            where = f"within {radius:.2f} m of {' and '.join(places)}"
            return f"Located: {who} {where} with 95 % probability.{self._number_sentence()}"
        middle = "Contracted, but not located to 1 m" if self.contracted else "Not located yet"
        if self.contracted and radius <= 1.0:
            middle = "Located to 1 m if there are no other sources, which is not settled"
        whose = "" if self.num_sources == 1 else f" of the least certain of {self.num_sources} sources"
        measures = f"standard deviation{whose} {spread:.2f} m, 95 % credible radius {radius:.2f} m"
        return f"{middle}: {measures}.{self._number_sentence()}"

    def _number_sentence(self) -> str:
        """Return how many sources there are, with which probability, where that was not known."""
        if not self.number_probabilities:
            return ""
        are = "is 1 source" if self.num_sources == 1 else f"are {self.num_sources} sources"
        more = f"; there may be one more, with {self.more_probability:.2g}" if self.more_probability else ""
        return f" There {are} with probability {self.number_probability:.2g}{more}."

    def to_arviz(self, seed: int = 0):
        """Return an ArviZ InferenceData of equally weighted draws, one chain for each survey."""
        require_extra("arviz", "`to_arviz`")
        with warnings.catch_warnings():
            # ArviZ announces its future versions on import.
            warnings.simplefilter("ignore", FutureWarning)
            arviz = import_module("arviz")
        samples = self.samples if self.is_batch else self.samples[None]
        weights = self.weights if self.is_batch else self.weights[None]
        number = samples.shape[1]
        points = (np.arange(number) + np.random.default_rng(seed).uniform()) / number
        chosen = [np.searchsorted(np.cumsum(row)[:-1], points) for row in weights]
        draws = np.stack([row[index] for row, index in zip(samples, chosen, strict=True)])
        return arviz.from_dict({name: draws[..., column] for column, name in enumerate(self.names)})

    def rows(self) -> list[tuple[str, ...]]:
        """Return name, unit, mean, standard deviation and 95 % interval of each parameter, as text."""
        low, high = self.interval(INTERVAL_PROBABILITY)
        columns = zip(self.mean, self.std, low, high, strict=True)
        rows = []
        for parameter, numbers in zip(self.parameters, columns, strict=True):
            digits = count_digits(*numbers[2:], fewest=4)
            rows.append((parameter.name, parameter.unit, *(f"{number:.{digits}g}" for number in numbers)))
        return rows

    def __repr__(self) -> str:
        if self.is_batch:
            surveys, draws, _ = self.samples.shape
            size = f"{surveys} surveys, {self.readings.shape[1]} readings each, {draws} samples"
            return f"Posterior of {size}.\n{self.verdict()}"
        table = [TABLE_HEADINGS, *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(len(TABLE_HEADINGS))]
        lines = [
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in table
        ]
        number = len(self.readings)
        title = f"Posterior given {number} reading{'s' * (number > 1)}, {len(self.weights)} samples."
        return "\n".join([title, *lines, self.verdict()])

    def _repr_html_(self) -> str:
        if self.is_batch:
            return f"<pre>{self!r}</pre>"
        head = "".join(f"<th>{cell}</th>" for cell in TABLE_HEADINGS)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in self.rows())
        caption = f"Posterior given {len(self.readings)} readings"
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table><p>{self.verdict()}</p>"


MIN_FIT = 0.01
"""Below this the readings do not fit: by chance, a right model in at most one survey of a hundred."""
INTERVAL_PROBABILITY = 0.95
"""The probability of the intervals that are reported for a parameter."""
INTERVAL_HEADINGS = ("95 % from", "to")
TABLE_HEADINGS = ("name", "unit", "mean", "std", *INTERVAL_HEADINGS)


def _require_probability(probability: float) -> None:
    if np.ndim(probability) != 0 or not 0 <= probability <= 1:
        raise ValueError(f"A probability must be one number from 0 to 1; got {probability}.")


def _quantile(values: np.ndarray, weights: np.ndarray, probability: float, axis: int) -> np.ndarray:
    """min{v : Σ weights of values ≤ v is at least the probability}, along one axis."""
    values, weights = np.broadcast_arrays(values, weights)
    order = np.argsort(np.where(weights > 0, values, np.inf), axis=axis)
    running = np.cumsum(np.take_along_axis(weights, order, axis), axis=axis)
    total = np.take(running, [-1], axis=axis)
    first = np.sum(running < probability * total * (1 - 1e-12), axis=axis, keepdims=True)
    greatest = np.sum(weights > 0, axis=axis, keepdims=True) - 1
    ranked = np.take_along_axis(values, order, axis)
    return np.squeeze(np.take_along_axis(ranked, np.minimum(first, greatest), axis), axis)
