"""The seven fields of the benchmark: one sensor each, on the same plume."""

from collections.abc import Sequence
from dataclasses import dataclass

from dowsax.world.base import Prior, Sensor
from dowsax.world.fields import Plume
from dowsax.world.fields.sum_of_sources import SumOfSources
from dowsax.world.model import Model
from dowsax.world.priors import PlumePrior, SeveralSourcesPrior
from dowsax.world.sensors import Censored, Decibel, Gaussian, LogNormal, Poisson
from dowsax.world.several_columns import SourceColumns, as_numbers
from dowsax.world.source import PARAMETERS


@dataclass(frozen=True)
class Modality:
    """One field of the benchmark: what is measured, by which sensor."""

    name: str
    sensor: Sensor
    unit: str
    """Unit of the reading; empty where the benchmark leaves it open."""
    description: str


MODALITIES: dict[str, Modality] = {
    modality.name: modality
    for modality in (
        Modality("temperature", Gaussian(0.10, 0.01), "K", "excess temperature, 10 % noise"),
        Modality("concentration", LogNormal(0.25, 0.001), "", "concentration, error of a factor e^0.25"),
        Modality("magnetic", Gaussian(0.05, 0.001), "", "magnetic anomaly, 5 % noise"),
        Modality("electric", Gaussian(0.10, 0.10), "", "electric field, 10 % noise over a floor of 0.1"),
        Modality("gas", Censored(), "", "gas, silent below 0.005 and in one reading of ten"),
        Modality("energy", Poisson(1.0), "counts", "counts over a background of 1 per second"),
        Modality("noise", Decibel(1.0, 0.001), "dB", "sound level, 1 dB noise"),
    )
}


def benchmark_model(name: str, prior: Prior | None = None, sources: int | str | Sequence[int] = 1) -> Model:
    """Return the model of a benchmark field.

    Parameters
    ----------
    name
        temperature [K], concentration, magnetic, electric, gas, energy [counts] or noise [dB].
    prior
        Prior over x, y [m], strength q, wind ux, uy [m/s] (where the air goes), diffusivity [m²/s] and decay
        length [m]; default: the benchmark's `PlumePrior`, with the source in [5, 20]² m.
    sources
        Their number, or the numbers that are equally probable. Each source has its own x, y and q; they share
        wind, diffusivity and decay length.
    """
    if name not in MODALITIES:
        raise ValueError(f"unknown field {name!r}; known are {', '.join(MODALITIES)}.")
    prior, sensor = PlumePrior() if prior is None else prior, MODALITIES[name].sensor
    numbers = as_numbers(sources)
    if numbers == (1,):
        return Model(prior, Plume(), sensor)
    fewest = min(numbers) if len(numbers) > 1 else None
    columns = SourceColumns(len(PARAMETERS), (0, 1, 2), max(numbers), fewest)
    each = () if fewest is None else tuple(benchmark_model(name, prior, number) for number in numbers)
    return Model(SeveralSourcesPrior(prior, columns), SumOfSources(Plume(), columns), sensor, each)
