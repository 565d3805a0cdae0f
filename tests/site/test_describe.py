"""A site in words."""

from made_sites import site

from dowsax.site.describe import describe_site


def test_a_site_check_says_that_the_fit_is_not_checked_where_the_source_may_move():
    said = {
        jumps: dict(describe_site(site(f"[search]\nmay_jump = {jumps}\n")))["found"]
        for jumps in ("true", "false")
    }
    assert "not checked whether the readings fit" in said["true"]
    assert "not checked" not in said["false"]


def test_a_site_check_says_which_policies_go_step_by_step():
    said = dict(describe_site(site("[step]\nlength = 7\ndirections = 6\nlongest = 50\n")))["step"]
    assert said == (
        "policies that go step by step go 7 m in one of 6 directions; others, such as location-gain, go near "
        "and far; at most 50 m"
    )
    said = dict(describe_site(site("[step]\npoints = [[1, 2], [3, 4]]\n")))["step"]
    assert said == "to one of 2 places"
