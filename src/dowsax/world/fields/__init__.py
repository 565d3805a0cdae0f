"""Fields: the noiseless reading a source produces at a station."""

from dowsax.world.fields.plume import Plume

__all__ = ["Plume"]
