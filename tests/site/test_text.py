"""Site files of hostile shapes are refused in one line before they are parsed, at a cost in proportion."""

import tomllib
import tracemalloc

import numpy as np
import pytest
from made_sites import complaint

from dowsax.geo.ways import FreeSpace
from dowsax.site import parse_site, read_site
from dowsax.site.text import MAX_DEPTH, MAX_KEY_PARTS, MAX_LENGTH, MAX_VALUES, MAX_WORD_LENGTH, scan

AREA = '[area]\nlow = [0, 0]\nhigh = [200, 150]\n[field]\nkind = "gas-plume"\n'
SIZE = 40_000
MEMORY_RATIO, MEMORY_FLOOR = 150, 300_000
"""Peak memory [bytes] that a site may take: so many times its text, and what the parts of any site take."""

REFUSED_UNPARSED = {
    "a long dotted key": (AREA + "a." * (SIZE // 2) + "a = 1\n", "line 6: a key has more than 8 parts"),
    "blanks about the dots": (AREA + "a . " * (SIZE // 4) + "!\n", "line 6: a key has more than 8 parts"),
    "quoted parts": (AREA + "'a'." * (SIZE // 4) + "a = 1\n", "line 6: a key has more than 8 parts"),
    "a long dotted header": (AREA + "[" + "a." * (SIZE // 2) + "a]\n", "line 6: a key has more than 8 parts"),
    "dots in an inline table": (AREA + "a = {" + "a." * SIZE + "a = 1}", "line 6: a key has more than 8"),
    "nested lists": (AREA + "a = " + "[" * SIZE, "line 6: brackets are nested more than 16 deep"),
    "nested lists over lines": (AREA + "a = " + "[\n" * SIZE, "line 22: brackets are nested more than"),
    "nested tables": (AREA + "a = " + "{a=" * SIZE, "line 6: brackets are nested more than 16 deep"),
    "a long key": (AREA + "a" * SIZE + " = 1\n", "line 6: a key or number has more than 200 characters"),
    "a long quoted key": (AREA + f'"{"a" * SIZE}" = 1\n', "line 6: a key or number has more than 200"),
    "a long number": (AREA + "a = " + "1" * SIZE, "line 6: a key or number has more than 200 characters"),
    "a long fraction": (AREA + "a = 1." + "1" * SIZE, "line 6: a key or number has more than 200"),
    "a long hexadecimal": (AREA + "a = 0x" + "f" * SIZE, "line 6: a key or number has more than 200"),
    "many keys": (AREA + "".join(f"k{i}=1\n" for i in range(10_001)), "more than 10,000 keys and entries"),
    "many headers": (AREA + "".join(f"[k{i}]\n" for i in range(10_001)), "more than 10,000 keys and entries"),
    "many numbers": (AREA + "a = [" + "1," * 10_001 + "]", "line 6: more than 10,000 keys and entries"),
    "many tables": (AREA + "a = [" + "{}," * 10_001 + "]", "line 6: more than 10,000 keys and entries"),
}
REFUSED = {
    "a number that no float holds": (AREA.replace("0, 0", "0, 0x" + "f" * MAX_WORD_LENGTH), "more than 200"),
    "an open text": (AREA + 'a = """' + "a\n" * SIZE, "not a TOML file"),
    "an open bracket": (AREA + "[" + " " * SIZE, "not a TOML file"),
    "zeros": (AREA + "\0" * 99, "not a TOML file"),
    "returns": (AREA + "\r" * SIZE, "not a TOML file"),
    "as many keys as may be": (
        AREA + "".join(f"k{i}=1\n" for i in range(MAX_VALUES - 50)),
        "field.k0: unknown key",
    ),
    "as many tables as may be": (
        AREA + "".join(f"[k{i}]\n" for i in range(MAX_VALUES - 50)),
        "k0: unknown key",
    ),
    "a declared key twice": (AREA + f"{'a' * 200} = 1\n" * 2, "not a TOML file: Cannot overwrite a value"),
    "many corners": (
        AREA + f"[[geofence]]\ncorners = {[[i % 200, i % 150] for i in range(2001)]}\n",
        "geofence.1.corners: all polygons of [[geofence]] must have at most 2,000 corners; got 2,001",
    ),
    "many polygons": (
        AREA + "[[no_go]]\ncorners = [[0, 0], [9, 0], [9, 9]]\n" * 201,
        "no_go: must have at most 200 entries; got 201",
    ),
    "many parameters": (
        AREA + "[prior]\n" + "".join(f"k{i} = []\n" for i in range(MAX_VALUES - 50)),
        "prior: must have at most 100 keys; got 9,950",
    ),
    "many names": (AREA + "[sensor]\nnames = [" + "1," * (MAX_VALUES - 50) + "]", "must be text in quotes"),
    "many points": (
        AREA + f"[step]\npoints = {[[1, 1]] * 2001}\n",
        "step.points: must have 1 to 2,000 places; got 2,001",
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _imported():
    """What is imported with the first site counts for none of them."""
    parse_site(AREA)


def refusal(text):
    """The error and the peak of memory [bytes] while it was found."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"^site\.toml") as caught:
            parse_site(text)
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def require_small(text, words, message, peak):
    assert words in message
    assert "\n" not in message
    assert len(message) < 600
    assert peak < MEMORY_RATIO * len(text) + MEMORY_FLOOR


@pytest.mark.parametrize(("text", "words"), REFUSED_UNPARSED.values(), ids=REFUSED_UNPARSED)
def test_shapes_that_cost_too_much_are_refused_before_they_are_parsed(monkeypatch, text, words):
    def parser(_):
        raise AssertionError("this text must not reach the parser")

    monkeypatch.setattr(tomllib, "loads", parser)
    require_small(text, words, *refusal(text))


@pytest.mark.slow_after(4)
@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_other_shapes_are_refused_at_a_cost_in_proportion(text, words):
    require_small(text, words, *refusal(text))


UNDERSTOOD = {
    "a long comment": "#" + "[" * SIZE,
    "blank lines": "\n" * SIZE,
    "a text of brackets": "[columns]\nvalue = '" + "[{" * SIZE + "'\n",
    "a text of dots": '[columns]\nvalue = "' + "a." * SIZE + '"\n',
    "a text over lines that looks like a header": '[sensor]\nnames = ["""\n[' + " " * SIZE + '\n"""]\n',
    "a text over lines that looks like a key": "[sensor]\nnames = ['''\n" + "a." * SIZE + "\n''']\n",
    "quotes in texts": '[columns]\nvalue = """ "" \\""" \' [[[ """""\ntime = \'\'\' " \'\' \'\'\'\'\n',
    "brackets as deep as may be": "[rows]\na = '" + "[" * MAX_DEPTH + "'\n",
    "windows": "\r\n" * 1000 + "[rows]\r\na = 'b'\r\n",
}


@pytest.mark.parametrize("text", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_long_texts_and_comments_are_understood(text):
    """Their brackets and dots count for nothing, and they are read once."""
    assert parse_site(AREA + text).kind == "gas-plume"


def test_a_real_site_with_long_lists_is_read():
    """500 corners, 1,000 places to go and 100 sensors."""
    angles = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    corners = (np.stack([np.cos(angles), np.sin(angles)], 1) * 70 + [100, 75]).tolist()
    points = np.random.default_rng(0).uniform((60, 30), (140, 110), (1000, 2)).tolist()
    names = [f"sensor {number}" for number in range(100)]
    text = f"[[geofence]]\ncorners = {corners}\n[step]\npoints = {points}\n[sensor]\nnames = {names}\n"
    site = parse_site(AREA + text)
    assert site.geofence[0].shape == (500, 2)
    assert site.step.points.shape == (1000, 2)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    """A sparse gigabyte is refused for what of it was read."""
    path = tmp_path / "site.toml"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"site\.toml has more than 1,000,000 characters: a site"):
        read_site(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * MAX_LENGTH
    path.write_text(AREA + "#" * (MAX_LENGTH - len(AREA)))
    assert read_site(path).kind == "gas-plume"


def made(random):
    """A document of random keys and texts, and the line of every key by its parts."""
    lines, found, table = [], {}, ()
    counts = {}
    for number in range(60):
        indent = " " * int(random.integers(0, 3))
        name = f"k{number}"
        kind = int(random.integers(0, 8))
        written = {0: f'"{name}"', 1: f"'{name}'"}.get(int(random.integers(0, 4)), name)
        if kind == 0:
            table = (f"t{number}", "u") if random.integers(0, 2) else (f"t{number}",)
            found[table] = len(lines) + 1
            lines.append(f"{indent}[ {' . '.join(table)} ] # [[x.y]] = '")
            continue
        if kind == 1:
            counts["many"] = counts.get("many", 0) + 1
            found.setdefault(("many",), len(lines) + 1)
            table = ("many", str(counts["many"]))
            found[table] = len(lines) + 1
            lines.append(f"{indent}[[many]]")
            continue
        found[(*table, name)] = len(lines) + 1
        value = {
            2: ["1.5 # = '''"],
            3: ['"""', "[no.header]", "no = 'key'", 'x""', '"""'],
            4: ["'''", "[[no]]", '"no" = """', "'''"],
            5: ["[ # [", "  {a.b = 1, c = ']'},", "  [[2.5], []],", "]"],
            6: ['{a = "}", b.c = [1, 2]}'],
            7: ['"\\" = #"'],
        }[kind]
        lines.append(f"{indent}{written} = {value[0]}")
        lines.extend(value[1:])
    return "\n".join(lines) + "\n", found


@pytest.mark.parametrize("seed", range(20))
def test_the_line_of_every_key_is_found(seed):
    """As it was written, with texts and comments that look like keys between."""
    text, expected = made(np.random.default_rng(seed))
    tomllib.loads(text)
    found = scan("site.toml", text)
    assert {name: line for name, line in found.items() if name in expected} == expected
    # Besides these only the tables above those that are written.
    above = {name[:size] for name in expected for size in range(1, len(name))}
    assert set(found) - set(expected) <= above
    assert scan("site.toml", text.replace("\n", "\r\n")) == found


def test_limits_are_met_exactly():
    """The last that is allowed is, and the first that is not is not."""
    scan("site.toml", ".".join("a" * MAX_KEY_PARTS) + " = 1")
    scan("site.toml", "a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH)
    scan("site.toml", "a" * MAX_WORD_LENGTH + " = " + "1" * MAX_WORD_LENGTH)
    scan("site.toml", "a = [" + ",".join("1" * MAX_VALUES)[:-4] + "]")
    for text in (
        ".".join("a" * (MAX_KEY_PARTS + 1)) + " = 1",
        "a = " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "a" * (MAX_WORD_LENGTH + 1) + " = 1",
        "a = " + "1" * (MAX_WORD_LENGTH + 1),
    ):
        with pytest.raises(ValueError, match=r"^site\.toml, line 1: "):
            scan("site.toml", text)


def test_memory_does_not_grow_with_corners_times_places():
    """1,990 corners, looked at from a grid of 2,500 places: 5 million pairs would take 80 MB each time."""
    angles = np.linspace(0, 2 * np.pi, 1990, endpoint=False)
    corners = (np.stack([np.cos(angles), np.sin(angles)], 1) * 70 + [100, 75]).tolist()
    text = AREA + f"[[geofence]]\ncorners = {corners}\n"
    tracemalloc.start()
    parse_site(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize("key", ["no_go", "geofence"])
def test_borders_are_prepared_once_for_all_places(monkeypatch, key):
    """200 areas and 2,000 places to go, or none at all: one geometry, or two, and not one for each place."""
    built = []
    plain = FreeSpace.__init__
    monkeypatch.setattr(FreeSpace, "__init__", lambda *given: (built.append(1), plain(*given))[1])
    areas = "".join(f"[[{key}]]\ncorners = [[0, {i}], [1, {i}], [1, {i}.5]]\n" for i in range(149))
    points = [[2 + i % 198, 1 + i % 148] for i in range(2000)]
    message = complaint(AREA + areas + f"[step]\npoints = {points}\n")
    assert ("outside the geofence" in message) == (key == "geofence")
    assert len(built) <= 2
