"""A hill to find by two searchers, anna and ben, who start in two corners."""

from made_missions import MODEL, TRUTH, hill_site, read

from dowsax.mission.advisor import Advisor
from dowsax.site.searcher import Searcher

STARTS = {"anna": (2.0, 2.0), "ben": (18.0, 2.0)}
SECONDS = 10.0
"""Between two readings."""


def team_site(*, searchers=None, **changes):
    """The site with two searchers; `changes` are fields of `Site`."""
    team = tuple(Searcher(name, start) for name, start in STARTS.items()) if searchers is None else searchers
    return hill_site(searchers=team, **changes)


def team_advisor(**changes):
    log, policy = changes.pop("log", None), changes.pop("policy", "location-gain")
    ahead = changes.pop("ahead", 1)
    return Advisor(team_site(**changes), policy, seed=4, log=log, model=MODEL, ahead=ahead, warm_up=False)


def walk_in_turn(one, number, *, names=("anna", "ben"), first=0, places=None, truth=TRUTH):
    """Let searchers read in turn where each was sent, and return all advice."""
    places, given = dict(STARTS) if places is None else places, []
    for count in range(first, first + number):
        name = names[count % len(names)]
        value = read(count, places[name], truth)
        given.append(one.observe(places[name], value, time=SECONDS * count, id=count, searcher=name))
        if given[-1].next_position is None:
            break
        places[name] = given[-1].next_position
    return given
