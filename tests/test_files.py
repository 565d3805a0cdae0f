"""A file is the old one or the new one, and nothing else is left."""

import pytest

from dowsax.files import replace_file, write_through


def test_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replace_file(path) as partial:
        write_through(partial, b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_half_way(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def fail_half_way(path):
    with replace_file(path) as partial:
        partial.write_text("half")
        raise RuntimeError
