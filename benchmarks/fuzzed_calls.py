"""Hostile calls of the console's API: odd bodies, files and addresses, drawn as `fuzzed_inputs` are."""

import json
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from benchmarks import fuzzed_inputs as inputs
from benchmarks.fuzzed_inputs import Pairs, odd_value, payload, pick, spoiled, weighted, written

JSON = "application/json"
_TYPES = (
    *(JSON, "application/json; charset=utf-16", "text/plain", "text/csv", "", "json", "\u00ff/"),
    *("application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary="),
    "multipart/form-data; boundary=x",
)
_NUMBERS = (
    *("1", "2", "3", "1", "2", "3", "0", "-1", "1.5", "1e3", "10000000", "10000001", "NaN", "a", "%00"),
    *("%ff", "%ed%a0%80", "1%0a", "..", "..%2f1", "true", "+1", "", "%D9%A3", "%201", "1;2"),
    *("9" * 30, "9" * 5000),
)
_WORDS = (
    *("none", "gas-plume", "csv", "geojson", "html", "level", "..", ".", "%00", "%ff", "%ed%a0%80"),
    *("a%2fb", "%", "%zz", "a%0d%0ab", "{id}", "null", "%E2%80%A8", "*", "%3Cscript%3E"),
    *("0" * 12, "f" * 12, "F" * 12, "x" * 3000),
)
_COLUMNS = ("x", "y", "value", "latitude", "longitude", "time", "wind_u", "wind_v", "dwell", "altitude")
_SURVEY = "x,y,value,time\n2.0,3.0,1.5,10\n3.0,3.0,1.0,11\n"
_SITE_KEYS = ("low", "high", "kind", "unit", "length", "directions", "readings", "particles", "radius")
_SITE_TABLES = ("", "[x]", "[[area]]", "[prior]", "[wind]", "[sensor]", "[noise]", "[columns]")
_SITE_VALUES = (
    *("inf", "nan", "-inf", "1e400", "-1", "0", '"a"', "[]", "[[]]", "{}", "true", "1979-05-27", "07:32:00"),
    *(r'"\ud800"', r'"\u0000"', "[0.0, 0.0]", "[1e308, -1e308]", "[nan, nan]", '"gas-plume"', '"noise"'),
    *("9" * 30, "9" * 5000, f'"{"x" * 200}"', "\u2028", "{a = " * 500 + "1" + "}" * 500),
    *("[" * depth + "]" * depth for depth in (200, 900, 5000)),
)
_MARKS = (*'\0\ufeff\u2028[]="\n\r#,;\t-é', "'''", "1e9")
_FEEDS = (b"mqtt://127.0.0.1:1", b"mqtt://[", b"mqtt://a:99999", b"http://a", b"mqtt://\\u0000", b"\x00")


class Call(NamedTuple):
    """One request for a path of the API."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = JSON


class Targets(NamedTuple):
    """What calls are about."""

    real: str
    """The id of a real mission."""
    simulated: str
    site: str
    """The text of a site, of which missions are begun without any compilation."""


def shaped(rng: np.random.Generator) -> Pairs:
    """A good reading by the keys of the API."""
    place, value = b"[%.3f, %.3f]" % tuple(rng.uniform(1, 19, 2)), b"%d" % rng.integers(1, 6)
    id_, time = b'"r%d"' % rng.integers(30), b"%d" % rng.integers(1e9)
    extras = ((b"id", id_), (b"time", time), (b"wind", b"[3, 1]"))
    made = [(b"position", place), (b"value", value)]
    return made + [extra for extra in extras if rng.random() < 0.4]


def odd_body(rng: np.random.Generator, pairs: Pairs) -> bytes:
    """The pairs with something wrong in them, or something else altogether."""
    if rng.random() < 0.3:
        return payload(rng)
    pair = b"[%s, %s]" % (odd_value(rng), odd_value(rng))
    keys = [key for key, _ in pairs if key in (b"position", b"wind")]
    if keys and rng.random() < 0.2:
        return written([(key, pair if key == keys[0] else value) for key, value in pairs])
    return written(spoiled(rng, pairs))


def reading(rng: np.random.Generator, targets: Targets) -> Call:
    confirmed = [(b"confirm", b"true")] if rng.random() < 0.1 else []
    kind = JSON if rng.random() < 0.9 else pick(rng, _TYPES)
    body = written(shaped(rng)) if rng.random() < 0.04 else odd_body(rng, shaped(rng) + confirmed)
    return Call("POST", f"/missions/{_mission(rng, targets)}/readings", body, kind)


def correction(rng: np.random.Generator, targets: Targets) -> Call:
    changes = [*shaped(rng)[: int(rng.integers(1, 4))], (b"reason", b'"a slip"')]
    path = f"/missions/{_mission(rng, targets)}/readings/{pick(rng, _NUMBERS)}"
    return Call("PATCH", path, odd_body(rng, changes))


def withdrawal(rng: np.random.Generator, targets: Targets) -> Call:
    path = f"/missions/{_mission(rng, targets)}/readings/{pick(rng, _NUMBERS)}"
    reason = f"?reason={pick(rng, _WORDS)}" if rng.random() < 0.7 else ""
    return Call("DELETE", path + reason)


def survey(rng: np.random.Generator, targets: Targets) -> Call:
    """A CSV file with cells, columns or bytes that are wrong, by itself or in a form."""
    lines = [line.split(",") for line in _SURVEY.splitlines()]
    for _ in range(1 + int(rng.integers(3))):
        line = pick(rng, lines)
        cell = odd_value(rng).decode("utf-8", "replace").strip('"')[:200]
        line[int(rng.integers(len(line)))] = pick(rng, _COLUMNS) if line is lines[0] else cell
    data = "\n".join(map(pick(rng, (",", ";", "\t", ",,")).join, lines)).encode("utf-8", "replace")
    if rng.random() < 0.3:
        data = pick(rng, (inputs.any_bytes, inputs.blank, inputs.damaged, inputs.long))(rng)
    kind = "text/csv" if rng.random() < 0.6 else pick(rng, _TYPES)
    if "boundary=x" in kind:
        names = (b'name="file"; filename="a.csv"', b'name="file"', b'name="f"; filename="\xff"', b"")
        head, end = pick(rng, names), pick(rng, (b"--x--\r\n", b"--x", b""))
        data = b"--x\r\ncontent-disposition: form-data; %s\r\n\r\n%s\r\n%s" % (head, data, end)
    asked = pick(rng, ("", "?confirm=true", "?confirm=maybe", "?confirm=%00"))
    return Call("POST", f"/missions/{_mission(rng, targets)}/survey{asked}", data, kind)


def odd_site(rng: np.random.Generator, site: str) -> str:
    """A site file with a value, a line or a letter of it changed."""
    lines = site.splitlines()
    for _ in range(1 + int(rng.integers(2))):
        at = int(rng.integers(len(lines)))
        way = rng.random()
        if way < 0.6:
            key = lines[at].partition("=")[0].strip() if "=" in lines[at] else pick(rng, _SITE_KEYS)
            lines[at] = f"{key} = {pick(rng, _SITE_VALUES)}"
        elif way < 0.8:
            cut = int(rng.integers(len(lines[at]) + 1))
            lines[at] = lines[at][:cut] + pick(rng, _MARKS) + lines[at][cut + int(rng.integers(2)) :]
        elif way < 0.9:
            lines.insert(at, pick(rng, lines))
        else:
            lines[at] = pick(rng, _SITE_TABLES)
    return "\n".join(lines)


def site_check(rng: np.random.Generator, targets: Targets) -> Call:
    odd = payload(rng) if rng.random() < 0.2 else odd_site(rng, targets.site).encode("utf-8", "replace")
    return Call("POST", "/site/check", odd, pick(rng, ("text/plain", *_TYPES)))


def mission(rng: np.random.Generator, targets: Targets) -> Call:
    """A mission to begin, which most often cannot be; where it can, nothing has to be compiled for it."""
    site = json.dumps(targets.site if rng.random() < 0.3 else "[area]\nlow = 1").encode()
    feed = b'{"url": "%s"}' % pick(rng, _FEEDS)
    pairs = [(b"type", b'"real"'), (b"site", site), (b"policy", b'"greedy"'), (b"mqtt", feed)]
    if rng.random() < 0.5:
        pairs = [(b"type", b'"simulated"'), (b"field", b'"none"'), (b"particles", b"64"), (b"speed", b"2")]
    return Call("POST", "/missions", odd_body(rng, pairs))


def mission_at_odd_site(rng: np.random.Generator, targets: Targets) -> Call:
    """A mission that is compiled, where its site is a good one after all."""
    site = json.dumps(odd_site(rng, targets.site)).encode()
    pairs = [(b"type", b'"real"'), (b"site", site), (b"policy", b'"greedy"')]
    return Call("POST", "/missions", written(pairs))


def control(rng: np.random.Generator, targets: Targets) -> Call:
    action = pick(rng, (b'"run"', b'"pause"', b'"step"', b'"speed"', b'"fly"'))
    what = pick(rng, ("control", "reveal"))
    pairs = [(b"action", action), (b"speed", pick(rng, (b"2", b"50", b"51", b"0.01", b"NaN")))]
    return Call("POST", f"/missions/{pick(rng, targets[:2])}/{what}", odd_body(rng, pairs))


def address(rng: np.random.Generator, targets: Targets) -> Call:
    """Odd ids, numbers and words in an address, asked for in any way."""
    word, number, id_ = pick(rng, _WORDS), pick(rng, _NUMBERS), pick(rng, targets[:2])
    paths = (
        f"/missions/{word}",
        f"/missions/{word}/snapshots/{number}",
        f"/missions/{id_}/snapshots/{number}",
        f"/missions/{id_}/snapshots?first={number}&last={pick(rng, _NUMBERS)}&full={pick(rng, _WORDS)}",
        f"/missions/{id_}/export?to={word}",
        f"/missions/{id_}/field?number={number}",
        f"/site/new?kind={word}",
        f"/{word}/{number}",
        f"/missions/{word}/readings/{number}",
    )
    return Call(pick(rng, ("GET", "DELETE", "PUT", "HEAD", "POST", "OPTIONS")), pick(rng, paths))


def _mission(rng: np.random.Generator, targets: Targets) -> str:
    """The real mission, or now and then another or none."""
    if rng.random() < 0.92:
        return targets.real
    return pick(rng, (targets.simulated, "0" * 12, quote(targets.real.upper()), pick(rng, _WORDS)))


_CALLS: dict[Callable[[np.random.Generator, Targets], Call], float] = {
    reading: 42,
    correction: 14,
    withdrawal: 5,
    survey: 13,
    site_check: 12,
    mission: 6,
    mission_at_odd_site: 0.05,
    control: 2,
    address: 6,
}


def call(rng: np.random.Generator, targets: Targets) -> Call:
    """One hostile call; it deletes neither of the targets."""
    return weighted(rng, _CALLS)(rng, targets)
