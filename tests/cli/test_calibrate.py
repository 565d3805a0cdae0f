"""`dowsax calibrate`: what it refuses, and what it writes."""

import json

import pytest

from dowsax.cli import run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--field temperature --cases 19", "at least 20 cases"),
        ("--field heat", "Unknown field 'heat'; known are temperature"),
        ("--field gas --preset best", "Unknown preset 'best'; known are default, paper"),
        ("--field gas --particles 3", "at least 16"),
        ("--field gas --seed -1", "seed"),
        ("--cases 20", "field"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys, tmp_path):
    assert run(["calibrate", *arguments.split(), "--out", str(tmp_path / "out")]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_writes_report_table_and_picture(capsys, tmp_path):
    arguments = [
        "--field",
        "temperature",
        "--cases",
        "20",
        "--particles",
        "64",
        "--out",
        str(tmp_path),
        "--json",
    ]
    assert run(["calibrate", *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8"))
    assert printed["fields"]["temperature"]["default"]["cases"] == 20
    assert "| lambda " in (tmp_path / "calibration.md").read_text(encoding="utf-8")
    assert (tmp_path / "ranks.png").read_bytes().startswith(b"\x89PNG")
