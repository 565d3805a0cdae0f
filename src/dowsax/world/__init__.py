"""The world: priors, fields, sensors and the model they make; the benchmark's seven fields as data."""

from dowsax.world.base import (
    Checked,
    Coordinates,
    Field,
    Location,
    LogLinear,
    Mixed,
    Prior,
    Sensor,
    Transition,
)
from dowsax.world.coordinates import Identity, Logarithmic
from dowsax.world.fields import Plume
from dowsax.world.modalities import MODALITIES, Modality, benchmark_model
from dowsax.world.model import Model
from dowsax.world.motion import FOUR_MOVES, Motion
from dowsax.world.paths import approach, wander
from dowsax.world.priors import (
    LOCATIONS,
    BetaBox,
    DirichletBox,
    GaussianBox,
    PlumeCoordinates,
    PlumePrior,
    RingSector,
    Star,
    UniformBox,
)
from dowsax.world.sensors import Censored, Decibel, Gaussian, LogNormal, Poisson, Switched
from dowsax.world.source import PARAMETERS, Parameter, Source, pack, unpack
from dowsax.world.transitions import Drift, Jump

__all__ = [
    "FOUR_MOVES",
    "LOCATIONS",
    "MODALITIES",
    "PARAMETERS",
    "BetaBox",
    "Censored",
    "Checked",
    "Coordinates",
    "Decibel",
    "DirichletBox",
    "Drift",
    "Field",
    "Gaussian",
    "GaussianBox",
    "Identity",
    "Jump",
    "Location",
    "LogLinear",
    "LogNormal",
    "Logarithmic",
    "Mixed",
    "Modality",
    "Model",
    "Motion",
    "Parameter",
    "Plume",
    "PlumeCoordinates",
    "PlumePrior",
    "Poisson",
    "Prior",
    "RingSector",
    "Sensor",
    "Source",
    "Star",
    "Switched",
    "Transition",
    "UniformBox",
    "approach",
    "benchmark_model",
    "pack",
    "unpack",
    "wander",
]
