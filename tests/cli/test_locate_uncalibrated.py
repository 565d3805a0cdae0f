"""`dowsax locate` with a sensor that only ranks."""

import json

import numpy as np
import pytest

SITE = """
area = {low = [0, 0], high = [60, 60]}
field = {kind = "gas-plume", gas = "methane"}
wind = {velocity = [2, 1]}
sensor = {reading = "rank"}
[prior]
q = [0.1, 100]
height = 1
stability = 2
lateral = 1
vertical = 1
meander = 0.5
turn = 0
speed = 1
"""
# The filter that compiles fastest; what is tested here is not the belief.
FILTER = ("--preset", "plain", "--particles", "512", "--json")
SOURCE = np.array([18.0, 24.0])


def survey() -> tuple[np.ndarray, np.ndarray]:
    """Places, and amounts that are high downwind of the source and fall with the distance."""
    places = np.random.default_rng(0).uniform(2, 58, (30, 2))
    # By the directions of the wind and of its normal.
    along, across = np.array([[2.0, 1.0], [-1.0, 2.0]]) @ (places - SOURCE).T / np.sqrt(5)
    width = 0.2 * np.maximum(along, 1.0)
    amounts = np.where(along > 0, np.exp(-0.5 * (across / width) ** 2) / width**2, 0.0)
    return places, 400.0 * amounts + np.random.default_rng(1).uniform(0.0, 0.5, 30)


@pytest.fixture
def locate(dowsax_command, tmp_path):
    """(values) -> the answer, from files of their own."""

    def run(values):
        site, file = tmp_path / "site.toml", tmp_path / "survey.csv"
        site.write_text(SITE)
        places, _ = survey()
        rows = [f"{x:.3f},{y:.3f},{value}" for (x, y), value in zip(places, values, strict=True)]
        file.write_text("\n".join(["x,y,value", *rows]))
        code, stdout, stderr = dowsax_command("locate", file, "--site", site, *FILTER)
        assert (code, stderr) == (0, "")
        return json.loads(stdout)

    return run


@pytest.mark.slow
def test_any_increasing_function_of_ranks_gives_the_same_answer(locate):
    """In ohms of a metal-oxide sensor or in volts: number for number."""
    _, amounts = survey()
    first, second = (locate(values) for values in (amounts, -5e4 / (1.0 + amounts)))
    for name in ("position", "parameters", "regions", "log_evidence", "log_evidence_for_a_source", "fit"):
        assert first[name] == second[name]
    assert any("relative to that" in note for note in first["notes"])
