"""A radiation survey: counts per second along a walk, in degrees, in; where the lost source lies, out."""

import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from dowsax import Station
from dowsax.cli import run
from dowsax.site import build_model, read_site

SITE = """
name = "Scrapyard"
area = {low = [0, 0], high = [60, 40], origin = [48.2, 16.4]}
field = {kind = "radiation", unit = "counts"}
prior = {q = [100, 100000]}
search = {particles = 512, radius = 3}
"""


def walk(path: Path, truth: jax.Array) -> None:
    """Stands for the person with the counter, who stays 5 s at each of 30 places."""
    site = read_site(path.parent / "site.toml")
    places = np.stack(np.meshgrid(np.linspace(5, 55, 6), np.linspace(5, 35, 5)), axis=-1).reshape(-1, 2)
    dwell = np.full(30, 5.0)
    stations = Station(jnp.asarray(places, jnp.float32), dwell=jnp.asarray(dwell, jnp.float32))
    counts = build_model(site).simulate(jax.random.key(1), truth, stations)
    rows = np.column_stack([site.coordinates.to_degrees(places), counts / dwell, dwell])
    np.savetxt(path, rows, "%.7f", ",", header="latitude,longitude,cps,dwell", comments="")


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "site.toml").write_text(SITE)
    # x, y, q, attenuation, height, background, and the error of what the source adds.
    truth = jnp.array([43.0, 27.0, 2000.0, 0.0093, 0.5, 10.0, 0.15])
    walk(folder / "survey.csv", truth)
    run(["locate", f"{folder}/survey.csv", "--site", f"{folder}/site.toml", "--out", f"{folder}/result"])
    found = json.loads((folder / "result" / "summary.json").read_text())["position"]
    print(f"It is {np.hypot(found['x'] - truth[0], found['y'] - truth[1]):.2f} m off.")


if __name__ == "__main__":
    main()
