"""What is left of a field where there is no source."""

from dowsax.world.base import Field, Removable
from dowsax.world.fields.nothing import Nothing


def absent(field: Field) -> Field:
    """The field as it says itself, or nothing."""
    return field.without_source() if isinstance(field, Removable) else Nothing()
