"""The new site file: it reads back, and explains every key that has a use for the kind."""

import re

import pytest
from made_sites import AREA, complaint

from dowsax.site import NEW_SITE, new_site, parse_site
from dowsax.site.kinds import KINDS, prior_parameters
from dowsax.site.reference import tables
from dowsax.site.section import RangeSetting


def test_the_new_site_reads_back():
    """And says what it means to say."""
    new = parse_site(NEW_SITE)
    assert (new.low, new.high) == ((0.0, 0.0), (200.0, 150.0))
    assert (new.kind, new.unit, new.gas) == ("gas-plume", "ppm", "methane")
    assert new.prior["q"] == RangeSetting(low=0.001, high=10.0)
    assert (new.budget.distance, new.budget.readings, new.budget.time) == (2000.0, 100, 1800.0)
    assert new.text == NEW_SITE
    # What is only an example keeps nobody out.
    assert (new.geofence, new.no_go, new.obstacles) == ((), (), ())


def refused_when_used(text):
    """Whether each key behind a # is refused when the # is taken away, for this one alone."""
    lines, complaints = text.splitlines(), {}
    for index, line in enumerate(lines):
        if re.match(r"# [A-Za-z_]\w* = \S+( *\S)*$", line):
            changed = [*lines[:index], line.removeprefix("# "), *lines[index + 1 :]]
            complaints.setdefault(line.split()[1], complaint("\n".join(changed)))
    return {name: bool(words) for name, words in complaints.items()}


OTHER_MODE = {
    *("south", "west", "north", "east", "corners", "corners_degrees", "position_degrees"),
    *("points", "points_degrees"),
    *("value", "range", "speed", "from", "velocity", "front_to_back", "range_limit"),
}
"""Keys that exclude another one of the file, or need another mode."""


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("kind", ["gas-plume", "radiation", "level", "magnetic-dipole", "gas", "energy"])
def test_every_commented_key_may_be_used(kind):
    """But for those that another key excludes."""
    refused = refused_when_used(new_site(kind))
    assert {name for name, is_refused in refused.items() if is_refused} <= OTHER_MODE
    assert {"origin", "names", "lag", "particles", "time", "event", "redundancy", "hold", "source_low"} <= {
        name for name, is_refused in refused.items() if not is_refused
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_site_of_every_kind(kind):
    """It is of that kind, also with all that is behind a # in use, but for what another key excludes."""
    text = new_site(kind)
    assert parse_site(text).kind == kind
    assert max(map(len, text.splitlines())) <= 110
    used = re.sub(
        rf"^# (?!(?:{'|'.join(OTHER_MODE)}) )([A-Za-z_]\w* = \S+(?: *\S)*)$", r"\1", text, flags=re.MULTILINE
    )
    assert parse_site(used).kind == kind
    columns = next(table for table in tables() if table.name == "columns")
    assert set(parse_site(used).columns) == shown(text, columns) - OTHER_MODE


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("gas-plume", ("dwell", "threshold", "false_alarms", "fluctuation", "correlation_time", "heading")),
        ("gas-buildings", ("dwell", "wind_speed", "altitude")),
        ("radiation", ("wind_from", "x2", "heading")),
        ("level", ("wind_u", "dwell")),
        ("temperature", ("wind_v", "altitude", "efficiency")),
    ],
)
def test_a_new_site_has_no_keys_of_other_kinds_and_readings(kind, others):
    """Neither as keys nor as columns of a survey."""
    assert not [key for key in others if re.search(rf"^# *{key} = |^{key} = ", new_site(kind), re.MULTILINE)]


def test_the_kind_of_a_new_site_is_known():
    with pytest.raises(
        ValueError, match="Unknown kind 'neutrinos'; known are gas-plume, gas-buildings, radiation"
    ):
        new_site("neutrinos")


def shown(text, table):
    """The keys that a new site has in a table, whether behind a # or not."""
    # The header of a list without entries is behind a #, too.
    text = re.sub(r"^# (?=\[\[)", "", text, flags=re.MULTILINE)
    _, _, rest = text.partition(f"\n{table.header}\n") if table.header else ("", "", text)
    return set(
        re.findall(r"^(?:# +)?([a-z_]\w*) = ", re.split(r"^\[", rest, flags=re.MULTILINE)[0], re.MULTILINE)
    )


def test_the_new_sites_show_every_key():
    """Each in that of some kind but those of sensors without calibration, and all but a few in the first."""
    texts = [new_site(kind) for kind in KINDS]
    uncalibrated = {"threshold", "false_alarms", "fluctuation", "correlation_time"}
    for table in tables():
        known = {key.name for key in table.keys} - uncalibrated
        assert known <= set().union(*(shown(text, table) for text in texts)), table.name
        missing = known - shown(NEW_SITE, table)
        others = {
            "depth",
            "standoff",
            "inclination",
            "declination",
            "dead_time",
            "dwell",
            "variation",
            "shielded",
        }
        others |= {"beam", "front_to_back", "heading", "correlation", "correlation_length", "attenuation"}
        assert missing <= others, table.name


@pytest.mark.parametrize("kind", KINDS)
def test_the_new_site_shows_every_parameter(kind):
    prior = next(table for table in tables() if table.name == "prior")
    assert shown(new_site(kind), prior) == set(prior_parameters(kind, KINDS[kind].unit))


def test_every_key_is_explained():
    """By a sentence; and the section knows it."""
    for table in tables():
        assert table.text.endswith("."), table.name
        for key in table.keys:
            assert key.text.endswith("."), (table.name, key.name)
            assert key.form, (table.name, key.name)


@pytest.mark.parametrize("table", [table for table in tables() if table.keys], ids=lambda table: table.name)
def test_an_unknown_key_is_answered_with_the_known_ones(table):
    """Those of the schema, which are those of the new site."""
    if not table.header:
        return
    text = f'{AREA}[field]\nkind = "level"\n'
    if table.header in text:
        text = text.replace(f"{table.header}\n", f"{table.header}\nqqqqqqq = 1\n")
    else:
        text += f"{table.header}\nqqqqqqq = 1\n"
    with pytest.raises(ValueError, match="unknown key; known are") as caught:
        parse_site(text)
    assert re.findall(r"\w+", str(caught.value).split("known are ")[1]) == [key.name for key in table.keys]
