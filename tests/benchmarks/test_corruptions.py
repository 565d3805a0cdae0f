"""A small share of the corruptions, and that the oracle itself notices what it is there for."""

import numpy as np
import pytest

from benchmarks.corruption_checks import expected_records, num_standing, survivors, torn_prefix
from benchmarks.corruption_files import Entry, entries, requests
from benchmarks.corruption_kinds import CORRUPTIONS, Content
from benchmarks.corruptions import run_cases
from dowsax.journal import Journal

NUM_CASES = 70
"""Five of each kind."""


@pytest.mark.slow
def test_no_corruption_is_unnoticed_or_costs_an_intact_entry(tmp_path):
    report = run_cases(range(NUM_CASES), 1, tmp_path)
    assert report.failures == []
    assert report.total.cases == NUM_CASES
    assert report.total.recovered == report.total.intact > 0


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "a.log"
    made = Journal.create(path, "header", {"n": 0})
    for number in range(1, 12):
        made.append("note", {"n": number, "text": "x" * 40})
    made.close()
    return path.read_bytes()


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_the_map_says_where_every_byte_was(kind, data):
    original = np.frombuffer(data, np.uint8)
    for number in range(40):
        content = CORRUPTIONS[kind](np.random.default_rng(number), Content.intact(data))
        known = content.origin >= 0
        np.testing.assert_array_equal(content.data[known], original[content.origin[known]])
        for entry in entries(data):
            survives = content.survives(entry.start, entry.start + len(entry.line))
            assert not survives or entry.line in content.data.tobytes()


def test_survivors_and_torn_ends(data):
    written = entries(data)
    whole = Content.intact(data)
    assert survivors(whole, written) == torn_prefix(data, data) == written
    last = written[-1]
    assert torn_prefix(data[: last.start + 9], data) == written[:-1]
    assert torn_prefix(data[: last.start].replace(b"xx", b"xy"), data) is None
    assert torn_prefix(b"x" + data[1:], data) is None


def test_expected_records_follow_their_readings():
    """The withdrawal of a lost reading is dropped, its correction stands for it."""
    made = []
    for number, request in enumerate(requests(8), start=1):
        corrects = {"reading 2": 2, "reading 5": 6}.get(request["id"]) if "reason" in request else None
        reading = None if "withdraw" in request else {"id": request["id"]}
        body = {"number": number, "corrects": corrects, "reading": reading, "advice": {"number": number}}
        made.append(Entry(number + 1, "reading" if corrects is None else "correction", body, b"", 0))
    assert num_standing(expected_records(made)) == 7
    left = expected_records([entry for entry in made if entry.body["number"] not in (2, 6)])
    assert [body["number"] for _, body in left] == list(range(1, 8))
    assert [(kind, body["corrects"]) for kind, body in left] == [("reading", None)] * 7
    assert num_standing(left) == 7
