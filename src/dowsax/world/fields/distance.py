"""Distance from the source to a sensor."""

from dowsax.types import Number, Scalar, Station, Theta


def squared_distance(
    theta: Theta, height: Scalar, station: Station, altitude: Number, standoff: Number
) -> Scalar:
    r"""$|p - (x, y)|^2 + (z - h)^2 + s^2$ [m²]; `altitude` is the default of stations without one."""
    require_point(station)
    east, north = station.position[0] - theta[0], station.position[1] - theta[1]
    rise = (altitude if station.altitude is None else station.altitude) - height
    return east * east + north * north + rise * rise + standoff**2


def require_point(station: Station) -> None:
    """Raise a ValueError for a reading along a path."""
    if station.far_end is not None:
        raise ValueError("Only gas plumes are read along a path: give the readings of this field at points.")
