"""Rehearsals for tests that only need what they say."""

from dowsax.mission.rehearsal import Rate, Rehearsal, filter_name, fingerprint
from dowsax.version import versions


def rehearsal_of(site: str, mission: dict) -> Rehearsal:
    """A rehearsal that fits a mission at a site, as the console tells of it: 4 of 130 stops were wrong."""
    return Rehearsal(
        site=fingerprint(site),
        name="site",
        policy=mission["policy"],
        preset=filter_name("default", mission["particles"]),
        version=versions()["dowsax"],
        seed=0,
        speed=1.0,
        radius=mission.get("radius", 1.0),
        probability=mission.get("probability", 0.95),
        assumed=(),
        stopped=Rate(130, 160, 0.7, 0.9),
        false_stops=Rate(4, 130, 0.012, 0.076),
        covered=Rate(150, 160, 0.89, 0.97),
        cannot_tell=Rate(30, 160, 0.13, 0.26),
        found_nothing=Rate(1, 40, 0.0, 0.13),
        missions=(),
    )
