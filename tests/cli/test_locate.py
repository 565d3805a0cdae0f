"""`dowsax locate`: the answer for people and for programs, and every kind of bad input in one line."""

import json

import pytest

import dowsax
from dowsax.survey import read_survey

# The same field and number of particles as in the library's tests: one compilation serves both.
SETTINGS = ("--field", "temperature", "--particles", "64")


@pytest.fixture
def no_work(monkeypatch):
    """Fail if any computation starts."""

    def started(*_, **__):
        raise AssertionError("the computation started before the input was checked")

    monkeypatch.setattr("dowsax.cli.locate.solve", started)


def test_prints_the_table_and_the_verdict(dowsax_command, survey_file):
    code, stdout, stderr = dowsax_command("locate", survey_file(), *SETTINGS)
    assert (code, stderr) == (0, "")
    lines = stdout.splitlines()
    assert "6 readings" in lines[0]
    assert "95 % from" in stdout
    assert all(any(line.split()[:1] == [name] for line in lines) for name in ("x", "y", "q", "lambda"))
    assert lines[-1].endswith(".")
    assert "ocated" in lines[-1]


def test_json_is_one_object_that_agrees_with_the_library(dowsax_command, survey_file, tmp_path):
    path = survey_file()
    code, stdout, stderr = dowsax_command("locate", path, *SETTINGS, "--seed", "3", "--json")
    assert (code, stderr) == (0, "")
    answer = json.loads(stdout)
    survey = read_survey(path)
    posterior = dowsax.locate(survey.positions, survey.values, field="temperature", particles=64, seed=3)
    assert answer["names"] == list(posterior.names)
    assert answer["mean"] == pytest.approx(posterior.mean.tolist())
    assert answer["std"] == pytest.approx(posterior.std.tolist())
    low, high = posterior.interval(0.95)
    assert answer["quantiles"]["0.025"] == pytest.approx(low.tolist())
    assert answer["quantiles"]["0.975"] == pytest.approx(high.tolist())
    assert answer["quantiles"]["0.95"] == pytest.approx(posterior.quantile(0.95).tolist())
    assert set(answer["quantiles"]) == {"0.025", "0.05", "0.5", "0.95", "0.975"}
    assert answer["credible_radius"]["0.9"] == pytest.approx(float(posterior.credible_radius(0.9)))
    assert set(answer["credible_radius"]) == {"0.5", "0.9", "0.95"}
    assert answer["found"] is bool(posterior.found)
    assert answer["contracted"] is bool(posterior.contracted)
    assert answer["log_evidence"] == pytest.approx(float(posterior.log_evidence))
    expected = {"seed": 3, "preset": "default", "particles": 64, "readings": 6, "field": "temperature"}
    assert expected.items() <= answer.items()
    assert answer["version"] == dowsax.__version__


def test_readings_outside_of_the_square_are_noted(dowsax_command, survey_file):
    text = "x,y,value\n" + "".join(f"{2 * number},120,0.3\n" for number in range(6))
    code, stdout, _ = dowsax_command("locate", survey_file(text), *SETTINGS)
    assert code == 0
    assert "6 of 6 readings lie outside of the benchmark's square of 25 m" in " ".join(stdout.split())


def test_degrees_without_a_site_are_refused_with_what_to_do(complaint, survey_file):
    said = complaint("locate", survey_file("latitude,longitude,value\n48.2,16.3,2\n"), *SETTINGS)
    assert "places in degrees need a site file (`dowsax site new`, then --site)" in said


def test_plot_writes_the_picture_and_says_where(dowsax_command, survey_file, tmp_path):
    picture = tmp_path / "map.png"
    code, stdout, _ = dowsax_command("locate", survey_file(), *SETTINGS, "--plot", picture)
    assert code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert stdout.splitlines()[-1] == f"The picture is in {picture}"


@pytest.mark.usefixtures("no_work")
def test_pictures_that_cannot_be_written_fail_before_the_work(complaint, survey_file, tmp_path):
    path = survey_file()
    plots = {
        tmp_path / "map.xyz": "Unknown picture format '.xyz'",
        tmp_path / "map": "No picture format",
        tmp_path / "missing" / "map.png": "does not exist",
        path / "map.png": "does not exist",
    }
    for plot, reason in plots.items():
        assert reason in complaint("locate", path, *SETTINGS, "--plot", plot)
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert "is a folder" in complaint("locate", path, *SETTINGS, "--plot", folder)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder.png", "readings.csv"]


@pytest.mark.usefixtures("no_work")
def test_settings_that_make_no_sense(complaint, survey_file):
    """An unknown field lists the known ones; a seed is a whole number that JAX can hold."""
    path = survey_file()
    message = complaint("locate", path, "--field", "radio")
    assert all(name in message for name in dowsax.world.MODALITIES)
    assert "seed" in complaint("locate", path, *SETTINGS, "--seed", "-1")
    assert "seed" in complaint("locate", path, *SETTINGS, "--seed", str(2**70))


def test_settings_the_library_refuses(complaint, survey_file):
    path = survey_file()
    assert "at least 16" in complaint("locate", path, "--field", "gas", "--particles", "15")
    message = complaint("locate", path, "--field", "gas", "--preset", "fastest")
    assert "default" in message
    assert "paper" in message


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("x,y,value\n", "no readings"),
        ("x,y\n1,2\n", "no column 'value'"),
        ("x,y,value\n1,2,nan\n", "no reading is left"),
        ("x,y,value\n1,inf,2\n", "not a finite number"),
        ("x,y,value\n1,2,1e31\n", "ot a usable number"),
    ],
)
def test_files_that_are_no_survey(complaint, survey_file, text, reason):
    path = survey_file(text)
    message = complaint("locate", path, *SETTINGS)
    assert reason in message
    assert str(path) in message


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("energy", "-1", "whole number"),
        ("energy", "2.5", "whole number"),
        ("concentration", "0", "above zero"),
        ("concentration", "-1", "above zero"),
        ("gas", "-1", "below zero"),
    ],
)
def test_readings_the_sensor_never_gives(complaint, survey_file, field, value, reason):
    path = survey_file(f"x,y,value\n1,1,1\n2,1,{value}\n")
    message = complaint("locate", path, "--field", field)
    assert reason in message
    assert str(path) in message


def test_a_reading_that_nothing_explains(complaint, survey_file):
    path = survey_file("x,y,value\n1,2,1\n2,2,1e25\n3,2,1\n")
    assert "1e+25 at (2, 2)" in complaint("locate", path, *SETTINGS)


def test_paths_of_a_benchmark_field_are_refused(dowsax_command, tmp_path, no_work):
    path = tmp_path / "paths.csv"
    path.write_text("x1,y1,x2,y2,value\n1,2,3,4,5\n")
    code, stdout, stderr = dowsax_command("locate", path, *SETTINGS)
    assert code != 0
    assert stdout == ""
    assert "has open paths, along which only a gas-plume is read: give its site by --site" in stderr
