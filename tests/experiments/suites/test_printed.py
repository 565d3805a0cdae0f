"""The numbers of the paper, held against its source where that is at hand."""

import re
from collections import Counter
from pathlib import Path

import pytest

from dowsax.experiments.suites import printed
from dowsax.experiments.suites.registry import all_suites

SOURCE = Path(__file__).parents[4] / "shared/paper/att-pfrl.tex"
FIELDS = ("temperature", "concentration", "magnetic", "electric", "gas", "energy", "noise")
NUMBERS = {
    "id": 4 * 8 * 7,
    "ood": 4 * 7,
    "mixing": 6 * 4,
    "priors": 8 * 3,
    "shift": 7 * 6,
    "fixed": 4 * 4,
    "threshold": 8 * 5,
    "threshold-robustness": 3 * 5,
    "calibration": 7 * 4,
    "criteria": 4 * 4 - 1,
    "rewards": 3 * 5,
}
"""Rows by columns of each table; fixed steps have no correlation."""


def test_every_number_of_every_table_is_there():
    assert {suite: len(printed.printed(suite)) for suite in all_suites()} == NUMBERS | {
        "attention": 0,
        "trajectories": 0,
    }


def test_bounds_and_spreads_are_kept():
    numbers = printed.printed("id")
    assert numbers["random", "gas", "OCE"] == (0.05, None, "<", "< 0.05")
    assert numbers["att-pfrl-paper", "energy", "OCE"] == (0.63, 0.03, "", "0.63 ± 0.03")


@pytest.fixture(scope="module")
def tex():
    """(label) -> the rows of a table of the paper, as the numbers in them."""
    if not SOURCE.exists():
        pytest.skip(f"the source of the paper is not at {SOURCE}")
    text = SOURCE.read_text(encoding="utf-8")

    def rows(label):
        end = text.index(f"\\label{{{label}}}")
        body = text[text.rindex("\\begin{table}", 0, end) : end]
        return [line for line in body.split("\\\\") if "&" in line]

    return rows


def numbers_in(row):
    """The values of a row, without what follows ±."""
    found = [re.search(r"-?\d+(\.\d+)?", cell) for cell in row.split("&")[1:]]
    return [float(one[0]) for one in found if one is not None]


@pytest.mark.parametrize("method", ["ATT-PFRL", "AGDC-EE", "Infotaxis", "Random"])
def test_rows_of_the_main_comparison(tex, method):
    """Each method has four rows: one for each measure, in this order."""
    rows = [
        row for row in tex("tab:fundamental_experiments_") if re.search(rf"^{method}\s", row.strip(), re.M)
    ]
    theirs = printed.printed("id")
    for measure, row in zip(("OCE", "ADE", "REV", "LPS"), rows, strict=True):
        name = "att-pfrl-paper" if method == "ATT-PFRL" else method.lower()
        assert numbers_in(row) == [theirs[name, field, measure].value for field in FIELDS]


@pytest.mark.parametrize(
    ("suite", "label", "row", "name", "column", "measures"),
    [
        ("mixing", "tab:uniform_mixing_comparison_", "0.3", "0.3", "OOD", (None, None, "ADE", "OCE")),
        ("threshold", "tab:threshold_sensitivity_basic_", "0.7", "0.7", "temperature", "OCE GT-success"),
        ("threshold-robustness", "tab:threshold_robustness_", "Nonstationary", "shift", "temperature", "OCE"),
        ("calibration", "tab:calibration_metrics_", "Energy", "energy", "", "Spearman,false stops,precision"),
        ("fixed", "tab:fixed_trajectory_inference_", "PF-baseline", "PF", "temperature", "RMSE@20 ESS@20"),
        (
            "criteria",
            "tab:termination_criteria_comparison_",
            "Entropy",
            "entropy",
            "temperature",
            "GT-success",
        ),
        ("rewards", "tab:reward_design_ablation_", "R3", "R3", "temperature", "OCE GT-success ADE"),
        ("priors", "tab:complex_distribution_", "Gaussian", "gaussian", "temperature", "OCE ADE LPS"),
        ("shift", "tab:nonstationary_conditions_", "Electric", "att-pfrl-paper", "electric", ("OCE",)),
        ("ood", "tab:ood_compact", "AGDC-ENT", "agdc-ent", "temperature", ("OCE",)),
    ],
)
def test_some_rows_of_the_other_tables(tex, suite, label, row, name, column, measures):
    (found,) = (one for one in tex(label) if re.search(rf"^(\\textbf{{)?{re.escape(row)}", one.strip(), re.M))
    if isinstance(measures, str):
        measures = measures.split(",") if "," in measures else measures.split(" ")
    theirs = printed.printed(suite)
    for value, measure in zip(numbers_in(found), measures, strict=False):
        if measure is not None:
            assert theirs[name, column, measure].value == value


def test_no_number_is_there_twice():
    lines = printed._FILE.read_text(encoding="utf-8").splitlines()[1:]
    places = Counter(tuple(line.split(",")[:4]) for line in lines)
    assert max(places.values()) == 1
