"""The advisor cache: missions at equal sites share models and compiled functions."""


def test_equal_sites_share_what_they_can(site_text):
    """Whatever their names, starts and budgets; and not where the field is another."""
    from dowsax.console.advisor_cache import AdvisorCache

    cache = AdvisorCache()
    _, one, guide = cache.plan_site(site_text(seed=1), "greedy")
    _, other, same = cache.plan_site(site_text(seed=2, readings=7).replace("Simulated", "Other"), "greedy")
    assert guide is same
    assert one.model is other.model
    assert one.start != other.start
    assert other.budget.readings == 7
    _, third, _ = cache.plan_site(site_text().replace('"temperature"', '"gas"'), "greedy")
    assert third.model != one.model
