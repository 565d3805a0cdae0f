"""`dowsax site`: a file to start from, and what is understood of it, in words."""

import pytest

from dowsax.mission import NEW_SITE

SURVEY = "x,y,ppm,wind_speed,wind_from\n10,20,2.1,3,270\n20,20,,3,270\n30,20,2.4,3,270\n"


@pytest.fixture
def site_file(dowsax_command, tmp_path):
    """A new site file."""
    path = tmp_path / "site.toml"
    assert dowsax_command("site", "new", path).code == 0
    return path


def test_new_writes_the_template(site_file):
    assert site_file.read_text(encoding="utf-8") == NEW_SITE
    assert [entry.name for entry in site_file.parent.iterdir()] == ["site.toml"]


def test_new_of_another_kind(complaint, dowsax_command, tmp_path):
    """What it writes is understood."""
    path = tmp_path / "counts.toml"
    assert dowsax_command("site", "new", path, "--kind", "radiation").code == 0
    code, stdout, _ = dowsax_command("site", "check", path)
    assert code == 0
    assert "radiation: counts around a radioactive source" in stdout
    assert "known are gas-plume, radiation" in complaint("site", "new", tmp_path / "x.toml", "--kind", "luck")
    assert not (tmp_path / "x.toml").exists()


def test_new_overwrites_only_when_told(complaint, dowsax_command, site_file):
    site_file.write_text("mine")
    assert "exists already" in complaint("site", "new", site_file)
    assert site_file.read_text() == "mine"
    assert dowsax_command("site", "new", site_file, "--overwrite").code == 0
    assert site_file.read_text(encoding="utf-8") == NEW_SITE
    assert "does not exist" in complaint("site", "new", site_file.parent / "missing" / "site.toml")


def test_check_says_what_was_understood(dowsax_command, site_file):
    code, stdout, stderr = dowsax_command("site", "check", site_file)
    assert (code, stderr) == (0, "")
    assert "200 m from west to east" in stdout
    assert "gas carried by the wind" in stdout
    assert "2000 m, 100 readings, 1800 s" in stdout
    assert "release rate [g/s]; LogUniform: low 0.001, high 10" in stdout
    assert "within 5 m with a probability of 95 %" in stdout


def test_check_says_what_was_understood_of_a_survey(dowsax_command, site_file, survey_file):
    path = survey_file(SURVEY)
    code, stdout, _ = dowsax_command("site", "check", site_file, path)
    assert code == 0
    assert "2, 1 left out" in stdout
    assert "3 m/s from 270° (u 3.00, v 0.00)" in stdout
    assert "1 row has no value in 'ppm', left out (on line 3)." in stdout


def test_check_says_which_reading_the_sensor_cannot_give(complaint, dowsax_command, survey_file, tmp_path):
    site = tmp_path / "counts.toml"
    dowsax_command("site", "new", site, "--kind", "radiation")
    path = survey_file("x,y,counts\n10,20,3\n20,20,3.5\n")
    said = complaint("site", "check", site, path)
    assert f"{path}, line 3: This reading is 3.5: a count is a whole number, 0 or more." in said


def test_columns_on_the_command_line(complaint, dowsax_command, site_file, survey_file):
    path = survey_file(SURVEY.replace("ppm", "sniff"))
    assert "no column 'value'" in complaint("site", "check", site_file, path)
    assert dowsax_command("site", "check", site_file, path, "--column", "value=sniff").code == 0
    assert (
        dowsax_command("site", "check", site_file, path, "--column", "value=sniff", "--row", "x=10").code == 0
    )
    assert "no column 'snuff'" in complaint("site", "check", site_file, path, "--column", "value=snuff")


def test_bad_sites_in_one_line(complaint, site_file):
    site_file.write_text(NEW_SITE.replace("distance = 2000.0", 'distance = "far"'), encoding="utf-8")
    message = complaint("site", "check", site_file)
    line = NEW_SITE.splitlines().index("distance = 2000.0") + 1
    assert message == f"{site_file}, line {line}, budget.distance: must be a finite number; got 'far'."
    assert "does not exist" in complaint("site", "check", site_file.parent / "missing.toml")
