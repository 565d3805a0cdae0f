"""The world: priors, fields, sensors and the model they make; the benchmark's seven fields as data."""

from dowsax.world.absence import PerhapsAbsent, without_source
from dowsax.world.actions import ActionSpace, Budget, Candidates, NearAndFar, OpenPaths, ring_lengths
from dowsax.world.base import (
    Checked,
    Coordinates,
    Distribution,
    Field,
    Location,
    LogLinear,
    Mixed,
    NeedsTheta,
    Positioned,
    Prior,
    Sensor,
    SeveralSources,
    Transition,
)
from dowsax.world.compose import compose
from dowsax.world.coordinates import Identity, Logarithmic
from dowsax.world.fence import Fence
from dowsax.world.fields import Beam, Dipole, GaussianPlume, InverseSquare, LogDistance, Plume
from dowsax.world.heights import FencesByHeight, PlacesAtHeights
from dowsax.world.kinds import KINDS, Kind, kind_of
from dowsax.world.modalities import MODALITIES, Modality, benchmark_model
from dowsax.world.model import Model
from dowsax.world.motion import FOUR_MOVES, FencedMoves, Motion, PolicyMismatch, moves_of
from dowsax.world.obstacles import Obstacle, Obstacles
from dowsax.world.paths import approach, wander
from dowsax.world.positions import (
    POSITION_COLUMNS,
    position_columns,
    put_position,
    source_columns,
    take_position,
)
from dowsax.world.priors import (
    LOCATIONS,
    BetaBox,
    DirichletBox,
    ExtendedPrior,
    GaussianBox,
    PlumeCoordinates,
    PlumePrior,
    ProductPrior,
    RingSector,
    Star,
    UniformBox,
)
from dowsax.world.sensors import (
    Censored,
    Counting,
    Decibel,
    Gaussian,
    LogNormal,
    Poisson,
    StudentT,
    Switched,
    UncertainCounting,
    UnknownNoise,
)
from dowsax.world.source import PARAMETERS, Parameter, Source, pack, unpack
from dowsax.world.trails import with_trail
from dowsax.world.transitions import Drift, Jump
from dowsax.world.way_readings import WayReadings

__all__ = [
    "FOUR_MOVES",
    "KINDS",
    "LOCATIONS",
    "MODALITIES",
    "PARAMETERS",
    "POSITION_COLUMNS",
    "ActionSpace",
    "Beam",
    "BetaBox",
    "Budget",
    "Candidates",
    "Censored",
    "Checked",
    "Coordinates",
    "Counting",
    "Decibel",
    "Dipole",
    "DirichletBox",
    "Distribution",
    "Drift",
    "ExtendedPrior",
    "Fence",
    "FencedMoves",
    "FencesByHeight",
    "Field",
    "Gaussian",
    "GaussianBox",
    "GaussianPlume",
    "Identity",
    "InverseSquare",
    "Jump",
    "Kind",
    "Location",
    "LogDistance",
    "LogLinear",
    "LogNormal",
    "Logarithmic",
    "Mixed",
    "Modality",
    "Model",
    "Motion",
    "NearAndFar",
    "NeedsTheta",
    "Obstacle",
    "Obstacles",
    "OpenPaths",
    "Parameter",
    "PerhapsAbsent",
    "PlacesAtHeights",
    "Plume",
    "PlumeCoordinates",
    "PlumePrior",
    "Poisson",
    "PolicyMismatch",
    "Positioned",
    "Prior",
    "ProductPrior",
    "RingSector",
    "Sensor",
    "SeveralSources",
    "Source",
    "Star",
    "StudentT",
    "Switched",
    "Transition",
    "UncertainCounting",
    "UniformBox",
    "UnknownNoise",
    "WayReadings",
    "approach",
    "benchmark_model",
    "compose",
    "kind_of",
    "moves_of",
    "pack",
    "position_columns",
    "put_position",
    "ring_lengths",
    "source_columns",
    "take_position",
    "unpack",
    "wander",
    "with_trail",
    "without_source",
]
