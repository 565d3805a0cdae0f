"""Surveys of sensors that only click or only rank."""

import pytest
from made_surveys import gas_site, reader

HEADER = "x,y,wind_u,wind_v,value\n"


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


def rows(*values) -> str:
    return HEADER + "".join(f"{5 * row},20,3,0,{value}\n" for row, value in enumerate(values))


def test_hits_are_numbers_or_words(read):
    """Twenty silent readings are nothing to ask about; how long they lasted is."""
    survey = read(rows("1", "0", "Yes", "no", "TRUE", "false", "hit", "1.0", *["0"] * 20), BINARY)
    assert survey.values[:8].tolist() == [1, 0, 1, 0, 1, 0, 1, 1]
    assert survey.dwell.tolist() == [1.0] * 28
    assert [note for note in survey.notes if "1 s is taken" in note] == list(survey.notes)


@pytest.mark.parametrize("value", ["0.4", "-1", "2", "maybe"])
def test_anything_else_is_refused_with_its_place(read, value):
    with pytest.raises(ValueError, match=r"line 3.*is neither a hit \(1, yes, true\) nor none"):
        read(rows("1", value), BINARY)


def test_ranks_are_any_numbers_in_any_unit(read):
    text = rows("-999", "0", "812.4").replace("value", "value (kOhm)")
    assert read(text, gas_site('[sensor]\nreading = "rank"\n')).values.tolist() == [-999.0, 0.0, 812.4]


def test_columns_that_only_values_have_are_not_used(read):
    text = rows("1", "0").replace("value", "value,background").replace(",1\n", ",1,2\n")
    survey = read(text.replace(",0\n", ",0,2\n"), BINARY)
    assert not survey.quantities
    assert any('readings of the site are "binary"' in note for note in survey.notes)


BINARY = gas_site('[sensor]\nreading = "binary"\n')


def test_a_column_of_hits_is_the_reading_of_a_binary_sensor(read):
    """Where there is no other; of a sensor with values it is none."""
    hits = "x,y,hit,ws,wd\n1,2,yes,3,270\n5,6,0,3,270\n"
    assert read(hits, BINARY).values.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="no column 'value'"):
        read(hits, gas_site(""))
    both = "x,y,value,hit,ws,wd\n1,2,0,1,3,270\n5,6,1,0,3,270\n"
    assert read(both, BINARY).values.tolist() == [0.0, 1.0]
