"""Simulated missions: the site file is the benchmark's own model."""


def test_a_simulated_site_says_all_that_the_benchmark_does():
    """Whoever reads the log of a simulation has its model, field by field."""
    import equinox as eqx

    from dowsax.console.simulation import site_text
    from dowsax.site import build_model, parse_site
    from dowsax.world import MODALITIES, benchmark_model

    for field in MODALITIES:
        assert eqx.tree_equal(build_model(parse_site(site_text(field, "id", 3))), benchmark_model(field))
