"""The picture of a table has every number of it, in the panel of its measure and beside its row."""

import numpy as np
import pytest

from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import draw_table
from dowsax.viz.table_figure import table_figure


def shown(axes):
    """{name: (values, places)} of the marks in a panel."""
    return {
        container.get_label(): np.asarray(container.lines[0].get_data(), float)
        for container in axes.containers
    }


def test_a_mark_for_each_number_near_its_row():
    marks = [(0, Estimate(0.2, 0.1, 0.3, 9)), (2, Estimate(0.6, 0.5, 0.7, 9))]
    panels = {"rate": {"theirs": [], "ours": marks}, "path": {"theirs": [(1, Estimate(20.0, None, None, 0))]}}
    figure = table_figure("A table", ["a", "b", "c"], panels)
    rate, path = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["rate", "path"]
    assert [label.get_text() for label in rate.get_yticklabels()] == ["a", "b", "c"]
    values, places = shown(rate)["ours"]
    np.testing.assert_allclose(values, [0.2, 0.6])
    np.testing.assert_array_equal(np.round(places), [0, 2])
    assert list(shown(path)) == ["theirs"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["theirs", "ours"]


@pytest.mark.parametrize(
    ("values", "scale"), [((0.01, 0.9), "linear"), ((10.0, 40.0), "linear"), ((10.0, 4000.0), "log")]
)
def test_only_numbers_that_lie_far_apart_are_drawn_by_factors(values, scale):
    marks = [(at, Estimate(value, None, None, 0)) for at, value in enumerate(values)]
    (axes,) = table_figure("A table", ["a", "b"], {"measure": {"ours": marks}}).axes
    assert axes.get_xscale() == scale


def test_the_papers_numbers_stand_beside_ours():
    suite, zero = all_suites()["threshold-robustness"], Estimate(0.5, 0.4, 0.6, 100)
    lines = [
        Line(row, "temperature", filter_, rule, {"OCE": zero, "false stops": NOTHING})
        for row in ("ID", "OOD")
        for filter_, rule in (("paper", "contraction-0.5"), ("default", "credible-0.95"))
    ]
    figure = draw_table(suite, lines)
    rate, false = figure.axes[:2]
    assert set(shown(rate)) == {"the paper", "ours, Algorithm 1, contraction", "ours, default, credible"}
    theirs = [printed(suite.name)[row, "temperature", "OCE"].value for row in ("ID", "OOD")]
    np.testing.assert_allclose(shown(rate)["the paper"][0], theirs)
    # Ours have none here; the paper's are drawn all the same.
    assert set(shown(false)) == {"the paper"}


def test_a_rule_that_the_row_names_is_not_repeated():
    lines = [Line("entropy", "temperature", "default", "entropy-2", {"OCE": Estimate(0.5, 0.4, 0.6, 9)})]
    lines += [Line("fixed-25", "temperature", "paper", "fixed-25", {"OCE": Estimate(1.0, 0.9, 1.0, 9)})]
    figure = draw_table(all_suites()["criteria"], lines)
    assert set(shown(figure.axes[0])) == {"ours, default", "ours, Algorithm 1"}
