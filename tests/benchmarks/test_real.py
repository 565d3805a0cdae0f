"""The table of the real sets: what a score is, and that sets are read without their truth."""

import math
from itertools import islice

import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import real, real_sets
from benchmarks.real import Score
from benchmarks.table_files import TABLES

HERE = pytest.mark.skipif(real_sets.missing(real_sets.DATA) is not None, reason="the real sets are not there")


def _score(group: str, error: float, covered: bool = True) -> Score:
    return Score(group, "one", 10, 1.0, error, 2.0, covered, math.nan, math.nan, 0.5)


def test_a_missing_folder_is_said(tmp_path):
    assert real_sets.missing(tmp_path) is None
    assert "--data" in (real_sets.missing(tmp_path / "nowhere") or "")


def test_the_interval_of_a_median_is_that_of_its_resamples():
    """Against the plain bootstrap with the same counts, for an odd and an even number of values."""
    for values in ([5.0, 1.0, 9.0, 2.0, 7.0], [4.0, 1.0, 8.0, 3.0]):
        counts = real.resample_counts(len(values)).astype(int)
        medians = [np.median(np.repeat(np.sort(values), row)) for row in counts]
        assert real.median_interval(values) == pytest.approx(np.quantile(medians, [0.025, 0.975]))
    assert all(math.isnan(end) for end in real.median_interval([]))


def test_the_belief_is_nearest_to_the_heavier_group():
    samples = np.array([[0.0, 0.0, 1.0], [9.0, 0.0, 1.0], [8.0, 1.0, 1.0]])
    groups = {"west": np.array([0.0, 0.0]), "east": np.array([10.0, 0.0])}
    assert real.nearest_group(samples, np.array([0.6, 0.2, 0.2]), groups) == "west"
    assert real.nearest_group(samples, np.array([0.4, 0.3, 0.3]), groups) == "east"


def test_the_table_has_a_row_a_set():
    lines = real.table([_score("napa", 4.0), _score("metec", 1.0), _score("metec", 3.0, False)]).splitlines()
    assert len(lines) == 4
    assert "4.0 km" in lines[2]
    assert "2.0 m" in lines[3]
    assert "0.50 [" in lines[3]


def test_lengths_are_in_the_unit_of_the_set_and_what_is_located_is_counted():
    """Metres of the table-top become centimetres; two of three are located, and one of them is off."""
    rows = [("tabletop", 0.04, 1.0), ("tabletop", 0.16, 1.0), ("tabletop", 0.4, 0.0)]
    scores = [_score(group, error)._replace(radius=0.1, located=found) for group, error, found in rows]
    cells = [cell.strip() for cell in real.table(scores).splitlines()[2].split("|")]
    assert cells[1:3] == ["tabletop", "3"]
    assert cells[3].startswith("16.0 cm [")
    assert (cells[4], cells[6], cells[-2]) == ("20.0", "10.0", "2, 1")


def test_surveys_without_wind_have_a_row_of_their_own():
    scores = [_score("prairie", 4.0)._replace(wind=wind) for wind in ("measured", "unknown", "measured")]
    labels = [line.split("|")[1:3] for line in real.table(scores).splitlines()[2:]]
    assert labels == [
        [" prairie ", " 3 "],
        [" prairie, wind measured ", " 2 "],
        [" prairie, wind unknown ", " 1 "],
    ]


def test_scores_come_back_from_their_file(tmp_path):
    scores = [_score("metec", 1.5), _score("napa", 3.0, False)]
    real.write(scores, tmp_path / "real.csv")
    assert str(real.read(tmp_path / "real.csv")) == str(scores)


def test_the_page_shows_what_was_measured():
    """The table in the docs is that of the numbers beside it."""
    table = (TABLES / "real/surveys.md").read_text(encoding="utf-8")
    assert real.table(real.read(real.OUT)).strip() == table.strip()


@HERE
@pytest.mark.parametrize("group", list(real_sets.SETS))
def test_a_set_is_read_and_scored_in_one_frame(group, monkeypatch):
    """The first cases have a truth inside their prior, finite readings, and read no truth themselves."""
    truths = real_sets.truths(real_sets.DATA, group)

    def forbidden(*_):
        raise AssertionError("a case has read the truth")

    monkeypatch.setattr(real_sets, "_truth", forbidden)
    cases = list(islice(real_sets.SETS[group](real_sets.DATA), 3))
    assert {case.name for case in cases} <= set(truths)
    for case in cases:
        assert np.isfinite(case.values).all()
        assert case.stations.position.shape == (len(case.values), 2)
        place = jnp.asarray(truths[case.name].position - case.origin, jnp.float32)
        assert np.isfinite(case.model.prior.location.log_prob(place)), case.name


@HERE
def test_a_rotated_frame_moves_readings_and_truth_together():
    """Prairie Grass: every sampler is 50 to 800 m from the source, on one of the five arcs."""
    truths = real_sets.truths(real_sets.DATA, "prairie")
    for case in islice(real_sets.prairie(real_sets.DATA), 3):
        offsets = np.asarray(case.stations.position) + case.origin - truths[case.name].position
        distances = np.linalg.norm(offsets, axis=-1)
        nearest = np.abs(distances[:, None] - np.array([50.0, 100, 200, 400, 800])).min(axis=1)
        # Positions are float32 of up to 1,300 m, and written with six digits.
        assert nearest.max() < 0.01
