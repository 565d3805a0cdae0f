"""A survey in words, for `dowsax site check`: its notes."""

import pytest
from made_surveys import COUNTS, reader

from dowsax.site import parse_site
from dowsax.survey.describe import describe_survey
from dowsax.survey.lint import lint_times

LEVELS = COUNTS.replace("radiation", "level")
FIXED = [f"{10 * place},{20 * place},{5 + turn}" for turn in range(8) for place in (1, 2, 3)]


def notes(survey, site):
    return [words for heading, words in describe_survey(survey, site) if heading == "note"]


@pytest.mark.parametrize(
    ("header", "suffixes", "sensor", "is_noted"),
    [
        ("x,y,level", [""] * 24, "", True),
        ("x,y,level", [""] * 24, "[sensor]\nredundancy = 2\n", False),
        ("x,y,level,time", [f",{60 * number}" for number in range(24)], "", False),
    ],
)
def test_readings_of_one_place_without_times_are_noted(tmp_path, header, suffixes, sensor, is_noted):
    """With the sentence of `dowsax locate`; not where times or the site tell how many count as one."""
    rows = [row + suffix for row, suffix in zip(FIXED, suffixes, strict=True)]
    site = parse_site(LEVELS + sensor)
    survey = reader(tmp_path)("\n".join([header, *rows]) + "\n", site)
    found = [note for note in notes(survey, site) if "no times" in note]
    assert found == (lint_times(site, survey.positions, None) if is_noted else [])
    assert len(found) == is_noted


def test_counts_that_are_added_up_are_noted(tmp_path):
    """They need no times then."""
    site = parse_site(COUNTS)
    found = notes(reader(tmp_path)("\n".join(["x,y,counts", *FIXED]), site), site)
    assert any(note.startswith("24 counts at 3 places were added up to 3 readings") for note in found)
    assert not any("no times" in note for note in found)
