"""A survey simulated in metres and written as a drone writes it is the same survey when it is read."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from mission.made_findings import made_findings

from dowsax.geo.wind import speed_and_direction
from dowsax.report.export import geojson
from dowsax.site import build_model, parse_site
from dowsax.survey import read_survey
from dowsax.types import Station

SITE = """
area = {low = [0, 0], high = [200, 150], origin = [-35.2, 149.1]}
field = {kind = "gas-plume", unit = "ppm", gas = "methane"}
background = {mode = "unknown", range = [1.7, 2.5]}
"""
HEADER = "timestamp,latitude,longitude,altitude_ato,windspeed,winddir,temperature,pressure,ch4"
DEGREE = 111_000.0
"""[m], of latitude; one of longitude is shorter."""


def test_comes_back_in_the_same_place_and_wind(tmp_path, key):
    """Positions to the last digit of a degree, wind to that of its columns.

    Half a unit of the last digit: 5e-8 of a degree, and speeds and angles of half 1e-4.
    """
    site = parse_site(SITE)
    model = build_model(site)
    truth_key, place_key, wind_key, noise_key = jax.random.split(key, 4)
    truth = model.prior.sample(truth_key)
    positions = jax.random.uniform(place_key, (60, 2), minval=0.0, maxval=jnp.array([200.0, 150.0]))
    wind = 3.0 * jax.random.normal(wind_key, (60, 2))
    stations = Station(positions, wind=wind, altitude=jnp.linspace(1.0, 12.0, 60))
    readings = np.asarray(jax.jit(model.simulate)(noise_key, truth, stations))

    degrees = site.coordinates.to_degrees(np.asarray(positions, np.float64))
    speeds, directions = speed_and_direction(wind)
    path = tmp_path / "flight.csv"
    rows = [
        f"2024-05-01T10:00:{second:02d}Z,{latitude:.7f},{longitude:.7f},{altitude:.4f},{speed:.4f},"
        f"{direction:.4f},12.5,1013,{reading:.6f}"
        for second, ((latitude, longitude), altitude, speed, direction, reading) in enumerate(
            zip(degrees, stations.altitude, speeds, directions, readings, strict=True)
        )
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    survey = read_survey(path, site)

    np.testing.assert_allclose(survey.positions, positions, atol=5e-8 * DEGREE + 1e-4)
    # Turned by half a digit of the angle, and longer by half a digit of the speed.
    rounding = 5e-5 * (1 + np.radians(speeds.max())) + 1e-6
    np.testing.assert_allclose(survey.wind, wind, atol=rounding)
    np.testing.assert_allclose(survey.values, readings, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(survey.time, np.arange(60))
    assert (survey.left_out, survey.notes) == (0, ())

    # On the map, every reading lies where the file says.
    taken = {
        name: getattr(survey, name)
        for name in ("positions", "values", "lines", "time", "wind", "coordinates")
    }
    features = json.loads(geojson(made_findings(altitude=survey.altitude, **taken)))["features"]
    shown = [each["geometry"]["coordinates"] for each in features if each["properties"]["what"] == "reading"]
    np.testing.assert_allclose(np.array(shown)[:, 1::-1], degrees, atol=1.5e-7)
