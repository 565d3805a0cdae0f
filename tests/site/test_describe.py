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
