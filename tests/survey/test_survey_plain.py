"""Surveys in files: what is understood, and what is refused with the line and column named."""

import numpy as np
import pytest
from made_surveys import reader

from dowsax.cli.simulate import write_survey
from dowsax.survey import read_survey

UNDERSTOOD = {
    "plain": "x,y,value\n1,2,3\n4,5,6.5\n",
    "no newline at the end": "x,y,value\n1,2,3\n4,5,6.5",
    "other order, extra columns": "time,value,y,x,note\n0,3,2,1,a\n1,6.5,5,4,b\n",
    "other case and blanks": " X , Y ,Value\n 1, 2 ,3\n4,5, 6.5\n",
    "byte order mark": "\ufeffx,y,value\n1,2,3\n4,5,6.5\n",
    "blank lines": "\nx,y,value\n\n1,2,3\n,,\n4,5,6.5\n\n",
    "windows": "x,y,value\r\n1,2,3\r\n4,5,6.5\r\n",
    "semicolons and decimal commas": "x;y;value\n1;2;3\n4;5;6,5\n",
    "tabs": "x\ty\tvalue\n1\t2\t3\n4\t5\t6.5\n",
    "quotes": '"x","y","value"\n"1","2","3"\n"4","5","6.5"\n',
    "exponents": "x,y,value\n1e0,2,3\n4,5,65e-1\n",
}


@pytest.mark.parametrize("text", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_understood(tmp_path, text):
    survey = reader(tmp_path)(text)
    assert survey.positions.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert survey.values.tolist() == [3.0, 6.5]


REFUSED = {
    "empty": ("", "is empty"),
    "blank": ("\n  \n\n", "is empty"),
    "only a header": ("x,y,value\n", "no readings"),
    "too few columns": ("x,value\n1,2\n", "line 1: no column 'y'; found 'x', 'value'"),
    "no header": ("1,2,3\n4,5,6\n", "no column 'x' or 'y'; found '1', '2', '3'"),
    "a column twice": ("x,y,value,X\n1,2,3,4\n", "'x' occurs twice"),
    "a short line": ("x,y,value\n1,2,3\n4,5\n", "line 3: 2 cells where the header has 3"),
    "a long line": ("x,y,value\n1,2,3,4\n", "line 2: 4 cells where the header has 3"),
    "a word": ("x,y,value\n1,2,3\n1,two,3\n", "line 3, column 'y': 'two' is not a number"),
    "a decimal comma in quotes": ('x,y,value\n1,2,"3,5"\n', "column 'value': '3,5' is not a number"),
    "a hole": ("x,y,value\n1,,3\n", "line 2, column 'y': the cell is empty"),
    "not a number": (
        "x,y,value\n1,2,nan\n",
        "no reading is left. 1 row has no value in 'value', left out (on line 2)",
    ),
    "infinite": ("x,y,value\ninf,2,3\n", "line 2, column 'x': 'inf' is not a finite number"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, text, reason):
    """One line with the file, the place and the reason."""
    with pytest.raises(ValueError, match=r"readings\.csv") as caught:
        reader(tmp_path)(text)
    message = str(caught.value)
    assert reason in message
    assert str(tmp_path) in message
    assert "\n" not in message


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match=r"missing\.csv does not exist"):
        read_survey(tmp_path / "missing.csv")
    with pytest.raises(ValueError, match="is a folder"):
        read_survey(tmp_path)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(ValueError, match="not a text file"):
        read_survey(binary)


def test_what_is_written_is_read_back(tmp_path):
    """To the last bit of float32."""
    numbers = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32) * 1e3
    path = tmp_path / "survey.csv"
    write_survey(path, numbers[:, :2].tolist(), numbers[:, 2].tolist())
    survey = read_survey(path)
    np.testing.assert_array_equal(np.asarray(survey.positions, np.float32), numbers[:, :2])
    np.testing.assert_array_equal(np.asarray(survey.values, np.float32), numbers[:, 2])
    assert survey.lines.tolist() == list(range(2, 52))
