"""A leak survey: a drone's CSV in degrees, with the wind as it comes FROM, in; where the leak is, out."""

import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from dowsax import Station
from dowsax.cli import run
from dowsax.geo.wind import wind_from
from dowsax.site import build_model, read_site

SITE = """
name = "Pasture"
area = {low = [0, 0], high = [120, 80], origin = [52.1, 5.1]}
field = {kind = "gas-plume", unit = "ppm", gas = "methane"}
prior = {q = [0.01, 10], height = [0, 3], stability = 4, meander = 0.3, turn = 0, speed = 1}
background = {mode = "unknown", range = [1.7, 2.5]}
noise = {ratio = 0.1, floor = 0.05}
search = {particles = 512, radius = 10}
"""
TRUTH = jnp.array([38.0, 47.0, 0.8, 1.0, 1.0, 1.0, 2.0])  # x, y, q, height, lateral, vertical, background


def fly(path: Path) -> None:
    """Stands for the drone: eight times across a wind of 3 m/s from about the west, 2 m above ground."""
    site, random = read_site(path.parent / "site.toml"), np.random.default_rng(0)
    lines = np.meshgrid(np.linspace(5, 115, 8), np.linspace(5, 75, 8), indexing="ij")
    places = np.stack(lines, axis=-1).reshape(-1, 2)
    height, speed, direction = np.full(64, 2.0), random.normal(3, 0.2, 64), random.normal(265, 8, 64)
    columns = places, wind_from(speed, direction), height
    position, wind, altitude = (jnp.asarray(column, jnp.float32) for column in columns)
    stations = Station(position, wind=wind, altitude=altitude)
    ppm = build_model(site).simulate(jax.random.key(1), TRUTH, stations)
    rows = np.column_stack([site.coordinates.to_degrees(places), height, speed, direction, ppm])
    header = "latitude,longitude,altitude_ato,windspeed,winddir,ch4"
    np.savetxt(path, rows, "%.7f", ",", header=header, comments="")


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "site.toml").write_text(SITE)
    fly(folder / "survey.csv")
    run(["locate", f"{folder}/survey.csv", "--site", f"{folder}/site.toml", "--out", f"{folder}/result"])
    found = json.loads((folder / "result" / "summary.json").read_text())["position"]
    print(f"It is {np.hypot(found['x'] - TRUTH[0], found['y'] - TRUTH[1]):.2f} m off.")


if __name__ == "__main__":
    main()
