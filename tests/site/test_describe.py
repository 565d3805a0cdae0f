"""A site in words."""

from made_sites import site

from dowsax.site.describe import describe_site


def test_a_site_check_says_how_counts_err_beyond_poissons_law():
    """With the prior on the size of it; what is set to zero is not there."""

    def noise(text=""):
        return dict(describe_site(site(text, "radiation")))["noise"]

    assert noise() == (
        "Poisson's; what the source adds is off by an unknown share: about 15 %, between 7.5 and 30 % with "
        "probability 2/3, another error at each reading; 10 % of the readings have something dense in the "
        "way, and see about a third; the background varies by 5 % from place to place"
    )
    assert noise("[noise]\nratio = 0\nshielded = 0\n[background]\nvariation = 0\n") == "Poisson's"
    assert "off by 20 %, another" in noise("[noise]\nratio = 0.2\n")
    assert "an unknown share from 10 to 30 %" in noise("[noise]\nratio = [0.1, 0.3]\n")
    assert "about 10 %, between 5 and 20 % with probability 2/3" in noise(
        "[noise]\nratio = {median = 0.1, factor = 2}\n"
    )


def test_a_site_check_says_which_policies_go_step_by_step():
    said = dict(describe_site(site("[step]\nlength = 7\ndirections = 6\nlongest = 50\n")))["step"]
    assert said == (
        "policies that go step by step go 7 m in one of 6 directions; others, such as location-gain, go near "
        "and far; at 1 m/s, at most 50 m"
    )
    said = dict(describe_site(site("[step]\npoints = [[1, 2], [3, 4]]\n")))["step"]
    assert said == "to one of 2 places; at 1 m/s"
    said = dict(describe_site(site("[step]\nspeed = 2.5\nreading_time = 6\n")))["step"]
    assert said.endswith("at 2.5 m/s, 6 s for a reading")


def test_a_site_check_asks_about_places_without_a_way_there():
    """A wall across the middle, a fifth of the area, cuts off what is east of it from a start in the west."""
    area = "[area]\nlow = [0, 0]\nhigh = [100, 100]\n"
    wall = "[[no_go]]\ncorners = [[40, -1], [60, -1], [60, 101], [40, 101]]\n[start]\nposition = [0, 50]\n"
    words = dict(describe_site(site(wall, area=area)))
    assert words["allowed"] == "about 80 % of the area"
    assert words["to check"].startswith("From the start there is no way to 40 % of the area")
    passable = dict(describe_site(site(wall.replace("101", "99"), area=area)))
    assert "to check" not in passable
