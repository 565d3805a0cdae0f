"""The file of a rehearsal: it reads back, and is quoted for the very site, policy and filter and no other."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dowsax.mission.advice import FOUND
from dowsax.mission.decision import BudgetUse, StatusInputs, explain_status
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import (
    Rate,
    Rehearsal,
    SimulatedMission,
    find_rehearsal,
    fingerprint,
    read_rehearsal,
    rehearsal_path,
    rehearsal_text,
)
from dowsax.mission.stop_statistics import describe_stops, find_false_stops
from dowsax.report.locate_survey import build_problem, rehearsal_notes
from dowsax.site import read_site
from dowsax.survey.survey import Survey
from dowsax.version import versions

TEXT = """
area = {low = [0, 0], high = [25, 25]}
field = {kind = "gas"}
search = {radius = 1}
"""
QUOTED = (
    "in 160 rehearsals of this site, 4 of 130 stops were wrong: 3.1 % [1.2, 7.6]; "
    "of 40 without a source 1 stopped"
)
HELD = "held the source in 150: 93.8 % [89.0, 97.0]"


@pytest.fixture
def site_file(tmp_path):
    path = tmp_path / "my site.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def plan(site_file):
    return Plan.of(read_site(site_file))


def made(plan, **changes) -> Rehearsal:
    whole = Rehearsal(
        site=fingerprint(TEXT),
        name="site",
        policy="infotaxis",
        preset=plan.filter_name,
        version=versions()["dowsax"],
        seed=0,
        speed=1.0,
        radius=1.0,
        probability=0.95,
        assumed=("Between readings one goes 1 m/s.",),
        stopped=Rate(130, 160, 0.7, 0.9),
        false_stops=Rate(4, 130, 0.012, 0.076),
        covered=Rate(150, 160, 0.89, 0.97),
        cannot_tell=Rate(30, 160, 0.13, 0.26),
        found_nothing=Rate(1, 40, 0.0, 0.13),
        missions=(
            SimulatedMission(FOUND, (1.0, 2.0), (1.5, 2.0), 0.5, 0.6, 7, 12.0, 20.0),
            SimulatedMission("searching", None, None, None, None, 0, 0.0, 0.0),
        ),
    )
    return replace(whole, **changes)


def keep(site_file, rehearsal):
    rehearsal_path(site_file).write_text(rehearsal_text(rehearsal))


def notes_of_a_survey(site_file, **settings) -> list[str]:
    readings = Survey(np.array([[1.0, 2.0]]), np.array([3.0]), np.array([2]))
    return rehearsal_notes(build_problem(readings, read_site(site_file), **settings))


def test_reads_back_what_was_written(site_file, plan):
    keep(site_file, made(plan))
    assert rehearsal_path(site_file).name == "my site.rehearsal.json"
    assert read_rehearsal(rehearsal_path(site_file)) == made(plan)


def test_rehearsals_without_a_stop_do_not_reassure(plan):
    none, nothing = Rate(0, 1, 0.0, 0.8), Rate(0, 0, 0.0, 1.0)
    rehearsal = made(plan, stopped=none, false_stops=nothing, found_nothing=nothing)
    assert rehearsal.sentence() == (
        "in 1 rehearsal of this site, none stopped, so that it is not known how often a stop is wrong"
    )
    numbers = rehearsal.numbers()
    assert numbers["wrong_given_found"] is numbers["wrong_given_found_interval"] is None
    assert numbers["found_interval"] == [0.0, 0.8]


def test_a_stop_is_quoted_by_the_rehearsals_of_the_very_site(site_file, plan):
    """Before what was measured for the field; in the words that come with `found`."""
    row = find_false_stops(plan, "infotaxis")
    assert describe_stops(plan, "infotaxis") == row.sentence()
    keep(site_file, made(plan))
    said = describe_stops(plan, "infotaxis")
    assert said == QUOTED
    gist = StatusInputs(((3.0, 4.0),), 0.8, 0.97, 0.5, 10.0)
    assert explain_status(plan, BudgetUse(5, 10.0, None), gist, FOUND, said).endswith(
        f"of (3, 4) m; {QUOTED}."
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"site": fingerprint(TEXT + "\n")}, "another site file"),
        ({"policy": "greedy"}, "another policy"),
        ({"preset": "default, 64 particles"}, "another filter"),
        ({"version": "0.0.0"}, "another version of dowsax"),
        ({"policy": "greedy", "version": "0.0.0"}, "another policy and version of dowsax"),
    ],
)
def test_rehearsals_of_anything_else_are_not_quoted(site_file, plan, changes, named):
    """Then it is said that nothing was measured, why, and what to do."""
    keep(site_file, made(plan, **changes))
    other = replace(plan, radius=2.0)
    said = describe_stops(other, "infotaxis")
    assert "not measured for this field and rule" in said
    assert f"{rehearsal_path(site_file)} is of {named})" in said
    assert said.endswith(f": `dowsax rehearse '{site_file}' --policy infotaxis` does")


def test_a_survey_takes_the_rehearsals_of_any_policy(site_file, plan):
    keep(site_file, made(plan, policy="greedy"))
    rehearsal, why_not = find_rehearsal(plan.file, plan.text, plan.filter_name)
    assert (rehearsal, why_not) == (made(plan, policy="greedy"), "")
    (note,) = notes_of_a_survey(site_file)
    assert HELD in note
    (note,) = notes_of_a_survey(site_file, preset="plain")
    assert "not measured" in note
    assert f"is of another filter): `dowsax rehearse '{site_file}'` does" in note


def test_a_survey_with_other_sources_has_no_rehearsals(site_file, plan):
    """Rehearsals are of the number of sources that the site file says."""
    keep(site_file, made(plan))
    assert HELD in notes_of_a_survey(site_file, sources=1)[0]
    (note,) = notes_of_a_survey(site_file, sources="1-2")
    assert note.endswith("was not measured: the site file says another number of sources.")


def test_a_survey_takes_the_rehearsals_of_missions_with_more_particles(site_file):
    """Those of a dipole have four times the particles of a survey."""
    site_file.write_text(TEXT.replace('"gas"', '"magnetic-dipole"'))
    site = read_site(site_file)
    plan = Plan.of(site)
    assert plan.filter_name == "survey, 4096 particles"
    keep(site_file, made(plan, site=fingerprint(site.text)))
    assert HELD in notes_of_a_survey(site_file)[0]
    assert HELD in notes_of_a_survey(site_file, particles=4096)[0]
    assert "is of another filter" in notes_of_a_survey(site_file, particles=1024)[0]


def test_a_field_of_ones_own_has_no_rehearsals_of_its_site(site_file, plan):
    """What its file says is not all; nor can a policy of one's own be named on the command line."""
    keep(site_file, made(plan))
    own = Plan.of(read_site(site_file), plan.model)
    assert own.file is None
    assert "rehearsals" not in describe_stops(own, "infotaxis")
    said = describe_stops(replace(own, radius=2.0), "infotaxis")
    assert said == "how often such a stop is wrong was not measured for this field and rule"
    assert "dowsax rehearse" not in describe_stops(replace(plan, radius=2.0), "Mine", by_name=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 1}',
        '{"format": 2}',
        "\udcff",
    ],
    ids=["empty", "list", "object", "keys", "format", "no text"],
)
def test_a_damaged_file_does_not_end_a_mission(site_file, plan, text):
    """It is said that it cannot be read, and nothing is quoted from it."""
    path = rehearsal_path(site_file)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match="holds no rehearsal that this version"):
        read_rehearsal(path)
    assert f"({path} holds no rehearsal that can be read)" in describe_stops(
        replace(plan, radius=2.0), "infotaxis"
    )


def test_impossible_numbers_are_refused(site_file, plan):
    body = json.loads(rehearsal_text(made(plan)))
    body["false_stops"]["count"] = 131
    rehearsal_path(site_file).write_text(json.dumps(body))
    with pytest.raises(ValueError, match="holds no rehearsal"):
        read_rehearsal(rehearsal_path(site_file))
    with pytest.raises(ValueError, match="from 0 to"):
        Rate(1, 2, 0.5, math.nan)
