"""How a drone flies at a site: the table `[flight]`."""

from pydantic import model_validator

from dowsax.site.section import Number, Section, key
from dowsax.site.text import Fault

_DEFAULT_HEIGHT_M = 20.0
"""Above most trees and below most limits."""
_MIN_SENSOR_HEIGHT_M = 5.0
"""The height of a sensor in the hand is not one to fly at."""


class FlightSetting(Section):
    """How `dowsax fly` and plans for QGroundControl fly (`dowsax export --to qgc`)."""

    height: Number | None = key(example=20.0, unit="m", gt=0, le=10_000)
    """Height above the place of take-off. Default: that of the readings where these are 5 m up or more, else
    20: the height of a sensor in the hand is not one to fly at."""
    speed: Number = key(5.0, example=5.0, unit="m/s", gt=0, le=100)
    """How fast to fly."""
    hold: Number | None = key(example=10.0, unit="s", ge=0)
    """How long to stay at each place. Default: as long as a reading counts, or not at all."""
    clearance: Number = key(2.0, example=2.0, unit="m", ge=0, le=100)
    """How far `dowsax fly` stays from the geofence, from no-go areas and from obstacles."""
    lowest: Number = key(2.0, example=2.0, unit="m", gt=0, le=10_000)
    """Below this height `dowsax fly` sends no waypoint."""
    highest: Number = key(120.0, example=120.0, unit="m", gt=0, le=10_000)
    """Above this height it sends none either."""
    range: Number | None = key(example=500.0, unit="m", gt=0)
    """Farther than this from the place of take-off it sends none, and it does not begin where the geofence
    reaches farther. Default: no limit but the geofence."""
    reserve: Number = key(30.0, example=30.0, unit="%", ge=0, le=95)
    """The charge of the battery at which `dowsax fly` returns."""

    @model_validator(mode="after")
    def _require_some_height(self) -> "FlightSetting":
        if self.lowest > self.highest:
            raise Fault(f"must be <= highest = {self.highest:g}; got {self.lowest:g}.", "lowest")
        return self

    def height_for(self, sensor: float | None) -> float:
        """Return the height [m] of flights where advice has none, with a sensor so high above ground."""
        if self.height is not None:
            return self.height
        return _DEFAULT_HEIGHT_M if sensor is None or sensor < _MIN_SENSOR_HEIGHT_M else sensor
