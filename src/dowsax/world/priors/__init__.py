"""Priors: distributions of Θ and of the source position."""

from dowsax.world.priors.extended import ExtendedPrior
from dowsax.world.priors.locations import BetaBox, DirichletBox, GaussianBox, UniformBox
from dowsax.world.priors.plume_coordinates import PlumeCoordinates
from dowsax.world.priors.plume_prior import PlumePrior
from dowsax.world.priors.product import ProductPrior
from dowsax.world.priors.several import SeveralSourcesPrior
from dowsax.world.priors.shapes import LOCATIONS, RingSector, Star, full_ring, half_ring, quarter_ring

__all__ = [
    "LOCATIONS",
    "BetaBox",
    "DirichletBox",
    "ExtendedPrior",
    "GaussianBox",
    "PlumeCoordinates",
    "PlumePrior",
    "ProductPrior",
    "RingSector",
    "SeveralSourcesPrior",
    "Star",
    "UniformBox",
    "full_ring",
    "half_ring",
    "quarter_ring",
]
