"""The fields of the form of a site: what is known of the source and the sensor, both ways with the file."""

import tomllib

import pytest

from dowsax.console.site_fields import DISTRIBUTIONS, LABELS
from dowsax.console.site_form import read_form, start_form, write_form
from dowsax.site.kinds import KINDS

OWN = {
    "gas-plume": {"prior.q", "prior.height", "background.range", "noise.floor", "noise.ratio"},
    "gas-buildings": {"prior.q", "background.range", "noise.floor", "noise.ratio"},
    "radiation": {"prior.q", "prior.height", "noise.ratio", "noise.shielded", "background.variation"},
    "level": {"prior.level", "prior.exponent", "prior.height", "noise.floor"},
    "magnetic-dipole": {"prior.depth", "noise.floor"},
    "gas": {"prior.strength"},
}
"""What the form of a new site has of source, background and noise, besides the mode of the background."""


def fields_of(form):
    return {field["key"]: field for field in form["fields"]}


@pytest.mark.parametrize("kind", OWN)
def test_a_kind_has_the_keys_of_its_source_background_and_noise(kind):
    fields = fields_of(start_form(kind))
    found = {key for key in fields if key.startswith(("prior.", "noise.", "background."))}
    assert found == OWN[kind] | {"background.mode"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_usual_is_said_and_may_be_left_to_the_kind(kind):
    """Each distribution may be "unknown", which is the usual one."""
    form = start_form(kind)
    keys = [key for key in fields_of(form) if key in DISTRIBUTIONS]
    unknown = dict.fromkeys(keys, "unknown")
    assert write_form(form["text"], form["values"] | unknown, form["shapes"])["faults"] == []
    for key in keys:
        field = fields_of(form)[key]
        assert field["default"] == "unknown"
        assert field["usual"].endswith(field["unit"]) or "within a factor" in field["usual"]


def test_numbers_are_in_the_units_of_the_site():
    """A background of counts is per second, and a spread of dBm is in dB."""
    plume = fields_of(start_form("gas-plume"))
    assert {plume[key]["unit"] for key in ("background.range", "noise.floor")} == {"ppm"}
    assert (plume["prior.q"]["unit"], plume["prior.q"]["usual"]) == ("g/s", "0.001 to 1,000 g/s")
    assert (plume["prior.height"]["unit"], plume["prior.height"]["usual"]) == ("m", "0 to 3 m")
    counts = start_form("radiation")
    known = counts["values"] | {"background.mode": "known", "background.value": 12.0}
    written = write_form(counts["text"], known, counts["shapes"])
    assert written["faults"] == []
    assert fields_of(written)["background.value"]["unit"] == "counts/s"
    level = start_form("level")
    fields = fields_of(write_form(level["text"], level["values"] | {"field.unit": "dBm"}, level["shapes"]))
    assert (fields["prior.level"]["unit"], fields["noise.floor"]["unit"]) == ("dBm", "dB")


def test_the_units_to_show_them_in_are_those_of_the_site():
    form = start_form("gas-plume")
    assert [unit["name"] for unit in form["units"]["value"]] == ["ppm", "ppb", "mg/m³"]
    other = read_form(form["text"].replace('gas = "methane"', 'gas = "luck"'))
    assert other["faults"][0]["key"] == "field.gas"
    assert [unit["name"] for unit in other["units"]["value"]] == ["ppm", "ppb"]
    assert read_form("[area\n")["units"] == {}


RANGES = {
    "prior.q": [0.5, 2.0],
    "prior.height": 1.25,
    "background.range": [1.8, 2.1],
    "noise.floor": 0.02,
    "noise.ratio": "unknown",
}


def test_ranges_and_known_numbers_go_both_ways_and_keep_comments():
    start = start_form("gas-plume")
    text = start["text"].replace("q = [0.001, 10.0]", "q = [0.001, 10.0]  # from the last survey")
    form = write_form(text, start["values"] | RANGES, start["shapes"])
    assert form["faults"] == []
    table = tomllib.loads(form["text"])
    assert table["prior"] == {"q": [0.5, 2.0], "height": 1.25}
    assert (table["background"]["range"], table["noise"]["floor"]) == ([1.8, 2.1], 0.02)
    assert "q = [0.5, 2.0]  # from the last survey" in form["text"]
    assert RANGES.items() <= form["values"].items()
    # The text is changed, and the form follows.
    changed = read_form(form["text"].replace("height = 1.25", "height = [0.5, 2]"))
    assert changed["values"]["prior.height"] == [0.5, 2]


def test_a_distribution_that_is_no_range_is_shown_as_it_is_written():
    """And stays when something else changes."""
    start = start_form("gas-plume")
    text = start["text"].replace("q = [0.001, 10.0]", "q = {median = 1.0, factor = 3.0}  # as measured")
    form = read_form(text)
    assert form["faults"] == []
    assert form["values"]["prior.q"] == "{median = 1.0, factor = 3.0}"
    named = write_form(text, form["values"] | {"name": "Ours"}, form["shapes"])
    assert "q = {median = 1.0, factor = 3.0}  # as measured" in named["text"]
    ranged = write_form(text, form["values"] | {"prior.q": [1, 2]}, form["shapes"])
    assert tomllib.loads(ranged["text"])["prior"]["q"] == [1, 2]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("prior.q", [3.0, 1.0], "must be [low, high] with low below high; got [3, 1]."),
        ("prior.q", [-1.0, 1.0], "must be > 0; got -1."),
        ("prior.height", -2.0, "must be >= 0; got -2."),
        ("prior.height", [1.0], "must be two numbers in brackets, [low, high]; got [1.0]."),
        ("noise.floor", 0, "must be > 0; got 0: no sensor is exact."),
        ("noise.ratio", "much", "must be a number"),
        ("background.range", [2.0, "high"], "must be a finite number; got 'high'."),
    ],
)
def test_what_is_wrong_stands_at_its_field(key, value, words):
    form = start_form("gas-plume")
    written = write_form(form["text"], form["values"] | {key: value}, form["shapes"])
    (fault,) = written["faults"]
    assert (fault["key"].startswith(key), fault["text"].startswith(words)) == (True, True), fault
    assert written["values"][key] == value


def test_a_background_has_the_field_of_its_mode():
    """Also where the mode is implied by a value or a range."""
    form = start_form("gas-plume")
    for mode, key in (("known", "background.value"), ("per-sensor", "background.range"), ("none", None)):
        changed = write_form(form["text"], form["values"] | {"background.mode": mode}, form["shapes"])
        shown = {name for name in ("background.value", "background.range") if name in fields_of(changed)}
        assert shown == ({key} if key else set())
    implied = form["text"].replace('mode = "unknown"\n', "")
    assert "background.range" in fields_of(read_form(implied))


def test_a_key_with_one_value_takes_no_list():
    form = start_form("temperature")
    for key in set(LABELS) - set(DISTRIBUTIONS):
        with pytest.raises(ValueError, match="is one value, not a list"):
            write_form(form["text"], form["values"] | {key: [1.0, 2.0]}, form["shapes"])
