"""`dowsax site`: a file to start from, and what is understood of it, in words."""

import pytest

from dowsax.site import NEW_SITE

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
    assert "known are gas-plume, gas-buildings, radiation" in complaint(
        "site", "new", tmp_path / "x.toml", "--kind", "luck"
    )
    assert not (tmp_path / "x.toml").exists()


def test_new_overwrites_only_when_asked(complaint, dowsax_command, site_file):
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


def test_check_names_the_picture_behind_the_map(dowsax_command, site_file):
    """And says where it is missing."""
    site_file.write_text(
        NEW_SITE.replace("[map]\n", "[map]\nimage = 'plan.png'\ncorners = [[0, 0], [9, 9]]\n")
    )
    missing = "plan.png in [map] does not exist"
    stdout = dowsax_command("site", "check", site_file).stdout
    assert "  map         plan.png, placed by its corners\n" in stdout
    assert missing in stdout
    (site_file.parent / "plan.png").write_bytes(b"")
    assert missing not in dowsax_command("site", "check", site_file).stdout


def test_check_says_what_is_known(complaint, dowsax_command, site_file):
    """A number in [prior] is told, and not one that no plume has."""
    assert "\n  known " not in dowsax_command("site", "check", site_file).stdout
    site_file.write_text(NEW_SITE.replace("[prior]\n", "[prior]\nstability = 4\nwiden = -0.1\n"))
    assert (
        "\n  known       stability is 4, widen is -0.1\n" in dowsax_command("site", "check", site_file).stdout
    )
    site_file.write_text(NEW_SITE.replace("[prior]\n", "[prior]\nwiden = 40\n"))
    assert "prior.widen: must be <= 1; got 40." in complaint("site", "check", site_file)


def test_check_says_what_was_understood_of_a_survey(dowsax_command, site_file, survey_file):
    path = survey_file(SURVEY)
    code, stdout, _ = dowsax_command("site", "check", site_file, path)
    assert code == 0
    assert "2, 1 left out" in stdout
    assert "3 m/s from 270° (u 3.00, v 0.00)" in stdout
    assert "1 row has no value in 'ppm', left out (on line 3)." in stdout


def test_check_says_which_quantities_of_a_survey_are_used(dowsax_command, tmp_path, survey_file):
    """A background that each reading has is no unknown; what the site has no use for is named."""
    site = tmp_path / "counts.toml"
    site.write_text('[area]\nlow = [0, 0]\nhigh = [9, 9]\n[field]\nkind = "radiation"\n')
    table = "x,y,counts,bg_cps,sigma\n1,2,640,11.5,25\n"
    code, stdout, _ = dowsax_command("site", "check", site, survey_file(table))
    assert code == 0
    unknown = stdout.split("Unknown beforehand")[1].split("Survey")[0]
    assert "background" not in unknown
    assert "known, from the column 'bg_cps': 11.5 cps." in stdout
    assert "The column 'sigma' was not used: counts have a noise of their own, Poisson's." in stdout
    assert "reading where there is no source [counts/s]" in dowsax_command("site", "check", site).stdout


LOGGED = (
    "Time,lat,lng,alt (ft),ws (km/h),wd,CH4 (ppb),battery\n"
    "0,52.1001,5.1001,40,10.8,270,2000,7\n1,52.1002,5.1002,40,10.8,270,2100,6\n"
)


def test_check_says_which_column_is_read_as_what(dowsax_command, site_file, survey_file):
    """Unit and conversion of each, the wind's convention, and what is not used."""
    site_file.write_text(NEW_SITE.replace("# origin = [52.1, 5.1]", "origin = [52.1, 5.1]"))
    code, stdout, _ = dowsax_command("site", "check", site_file, survey_file(LOGGED))
    assert code == 0
    lines = [" ".join(line.split()) for line in stdout.splitlines()]
    assert "latitude 'lat', degrees north" in lines
    assert "altitude 'alt (ft)', from ft to m, times 0.3048, above ground" in lines
    assert any(line.startswith("wind_speed 'ws (km/h)', from km/h to m/s, times 0.277778") for line in lines)
    assert any(
        line.startswith("wind_from 'wd'") and "comes FROM, degrees clockwise" in line for line in lines
    )
    assert "value 'CH4 (ppb)', from ppb to ppm, times 0.001" in lines
    assert "time 'Time'" in lines
    assert "not used 'battery'" in lines
    assert "from 52.100000° N, 5.100000° E to 52.101348° N, 5.102919° E" in lines


def test_check_asks_about_what_may_not_be_meant(dowsax_command, site_file, survey_file):
    text = SURVEY.replace("x,y,ppm", "x,y,altitude,ppm").replace(",20,", ",20,351,")
    stdout = dowsax_command("site", "check", site_file, survey_file(text)).stdout
    assert "above the sea, give the height of the ground there as `ground`" in stdout
    site_file.write_text(f"{NEW_SITE}[[geofence]]\ncorners = [[0, 0], [20, 0], [20, 150], [0, 150]]\n")
    assert "to check    The sensor may be in " in dowsax_command("site", "check", site_file).stdout


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


def test_check_notes_more_readings_on_the_way_than_can_be_rehearsed(complaint, dowsax_command, site_file):
    """A real mission may take them: the check accepts the site, and a rehearsal does not."""
    site_file.write_text(NEW_SITE.replace("# reading_interval = 2.0", "reading_interval = 0.5"))
    words = "A mission may take 3,600 readings on the way, and at most 2,000 can be simulated"
    code, stdout, _ = dowsax_command("site", "check", site_file)
    assert code == 0
    assert f"  to check    {words}" in stdout
    assert words in complaint("rehearse", site_file)


def test_bad_sites_in_one_line(complaint, site_file):
    site_file.write_text(NEW_SITE.replace("distance = 2000.0", 'distance = "far"'), encoding="utf-8")
    message = complaint("site", "check", site_file)
    line = NEW_SITE.splitlines().index("distance = 2000.0") + 1
    assert message == f"{site_file}, line {line}, budget.distance: must be a finite number; got 'far'."
    assert "does not exist" in complaint("site", "check", site_file.parent / "missing.toml")
