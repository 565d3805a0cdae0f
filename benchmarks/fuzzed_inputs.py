"""Hostile inputs: readings and requests with something wrong in them, and bytes of any kind.

All are drawn by a `numpy` generator, so that a seed gives the same ones again. JSON is made as text, as much
of it is such that no encoder writes it: the same key twice, numbers of 5,000 digits, halves of characters.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dowsax.mission.messages import MAX_BYTES

T = TypeVar("T")
Pairs = list[tuple[bytes, bytes]]
"""Keys, without their quotes, and values, both as they are written in JSON."""
ORIGIN = (52.1, 5.1)
"""Latitude and longitude of a site's (0, 0), where it has any."""
DIGITS = b"9" * 5000

NUMBERS = (
    *b"0 -0 -0.0 1 -1 7.25 1e-400 1e15 -1e15 1e29 1e30 4e6 1e308 -1e308 1e309 1e400 -1e400 5e-324".split(),
    *b"1e999999999 1e-999999999 NaN Infinity -Infinity nan inf -NaN +1 01 1. .5 0x10 1_000".split(),
    *b"-99 -999 -9999 -99999 9007199254740993 18446744073709551616 2147483648".split(),
    *(DIGITS, b"-" + DIGITS, b"0." + DIGITS, DIGITS + b"e9999", b"1e" + DIGITS, b"9" * 30, b"9" * 31),
    *b'"7" "7,5" "1e400" "nan" "Infinity" "1_0" "0x10" "n/a" "--" "-" "wet"'.split(),
    *'"٣" "７" "²"'.encode().split(),
    *(b'" 7 "', b'"%s"' % DIGITS),
)
_MARKS = (
    *(b"\xed\xa0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xff", b"\xc0\x80", b"\xc3", b"\xe9", b"';--"),
    *(b" ", b"\x00", b"\x01", b"\x1b[31m", b"\x7f", b"\r", b"\t"),
)
"""Halves of characters in bytes, other bytes that are no text, and such as cannot be shown."""
TEXTS = (
    *rb'"" "a" "\ud800" "\udfff" "a\ud83d" "\ude00\ud83d" "\ud83d\ude00" "\u0000" "\u2028" "\r\n"'.split(),
    *rb'"\x41" "\u12" "\" "{}{0}{msg}" "%s%n" "../../x" "NaN" "null" "-" "__proto__" "<script>"'.split(),
    *(b'"%s"' % mark for mark in _MARKS),
    *(f'"{mark}"'.encode() for mark in "\u2028\u0085\u202e\ufeff\u0301ß\U0001f600"),
    *(b'"%s"' % (b"x" * 81), b'"%s"' % (b"x" * 20_000), b"'a'", "\u2028".encode()),
)
TIMES = (
    *b'"2026-05-04T12:30:00Z" "0001-01-01T00:00:00+14:00" "9999-12-31T23:59:59.999999-14:00"'.split(),
    *b'"9999-12-31T24:00" "2026-02-30T00:00" "2026-05-04T12:30:00+99:99" "0000-00-00" "T" "now"'.split(),
    *b'"24:00" "23:59:60" "12:30" "-1:-1" "1:2:3:4" "2026-W01-1" "20260504" "::" "12:nan"'.split(),
    *b'"12:30:inf" "1e400" "2026-05-04T12:30:00.123456789Z" "2026/05/04" 1e11 1e14 -1e11'.split(),
    *'"²:³" "١٢:٣٠" 253402300800000 -62135596801'.encode().split(),
)
DEGREES = (
    *b"90 -90 90.0000001 91 -91 180 -180 180.0000001 360 354.9 52.1 5.1 -5.1 521 5206.0 1e-300".split(),
    *(b'"52.1N"', b'"52 06 00"', '"52°6\'"'.encode()),
)
WINDS = tuple(b'150 150.0001 -150 151 1e20 360 -360 361 -361 720 1e-30 -999 "NNW" "calm" "-"'.split())
TARGETS = (*b'1 2 3 1 0 -1 1.0 1.5 1e0 99 true "1" null [] {} NaN 1e400 -0'.split(), b"9" * 29, DIGITS)
OTHERS = (*b'true false null [] {} [1] [1,2] [[1,2]] {"a":1} [null]'.split(), b"")
KEYS = (
    *b"x y value id time unit sensor altitude dwell wind_u wind_v wind_speed wind_from latitude".split(),
    *b"longitude number withdraw correct confirm reason date lat lon ch4_ppb wind_sped X Value note".split(),
    *(rb"\ud800", rb"\u0000", b"\xed\xa0\x80", b"\x00", b"\xff", b"__proto__", b"x" * 5000, b"", b" x "),
)
_BY_KEY = {
    b"time": TIMES,
    b"latitude": DEGREES,
    b"longitude": DEGREES,
    **dict.fromkeys((b"wind_u", b"wind_v", b"wind_speed", b"wind_from", b"wind"), WINDS),
    **dict.fromkeys((b"id", b"sensor", b"unit", b"reason"), TEXTS),
    **dict.fromkeys((b"withdraw", b"correct", b"confirm"), OTHERS),
    b"number": TARGETS,
}


def pick(rng: np.random.Generator, items: Sequence[T]) -> T:
    """One of them, each as likely as the others."""
    return items[int(rng.integers(len(items)))]


def weighted(rng: np.random.Generator, weights: dict[T, float]) -> T:
    """One of the keys, as likely as its weight says."""
    shares = np.fromiter(weights.values(), float)
    return list(weights)[int(rng.choice(len(shares), p=shares / shares.sum()))]


def written(pairs: Pairs) -> bytes:
    """A JSON object, as far as its parts allow."""
    return b"{" + b", ".join(b'"%s": %s' % pair for pair in pairs) + b"}"


def good_reading(rng: np.random.Generator) -> Pairs:
    """A reading that any of the sites takes, most often without an id."""
    x, y = (b"%.3f" % part for part in rng.uniform(1, 19, 2))
    place = [(b"x", x), (b"y", y)]
    if rng.random() < 0.2:
        near = np.array(ORIGIN) + rng.uniform(2e-5, 2e-4, 2)
        place = [(b"latitude", b"%.7f" % near[0]), (b"longitude", b"%.7f" % near[1])]
    wind = [(b"wind_u", b"3"), (b"wind_v", b"1")]
    if rng.random() < 0.3:
        wind = [(b"wind_speed", b"3"), (b"wind_from", b"%d" % rng.integers(360))]
    made = [*place, (b"value", b"%d" % rng.integers(1, 6)), *wind]
    extras = ((b"id", b'"r%d"' % rng.integers(30)), (b"time", b"%d" % rng.integers(1e9)), (b"dwell", b"2"))
    return made + [extra for extra in extras if rng.random() < 0.4]


def odd_value(rng: np.random.Generator, key: bytes = b"") -> bytes:
    """A value that hardly any key should have."""
    if rng.random() < 0.02:
        return nested(rng)
    own = _BY_KEY.get(key, NUMBERS)
    return pick(rng, own if rng.random() < 0.5 else pick(rng, (NUMBERS, TEXTS, OTHERS)))


def spoiled(rng: np.random.Generator, pairs: Pairs) -> Pairs:
    """The pairs with some of them wrong, missing, twice or by another name, and others added."""
    pairs = list(pairs)
    for _ in range(1 + int(rng.integers(4))):
        at = int(rng.integers(len(pairs))) if pairs else 0
        way = rng.random()
        if not pairs or way < 0.15:
            key = pick(rng, KEYS)
            pairs.insert(at, (key, odd_value(rng, key)))
        elif way < 0.75:
            pairs[at] = (pairs[at][0], odd_value(rng, pairs[at][0]))
        elif way < 0.85:
            del pairs[at]
        elif way < 0.92:
            pairs.append(pairs[at])
        else:
            pairs[at] = (pick(rng, KEYS), pairs[at][1])
    return pairs


def odd_reading(rng: np.random.Generator) -> bytes:
    return written(spoiled(rng, good_reading(rng)))


def request(rng: np.random.Generator) -> Pairs:
    """To withdraw, correct or confirm; what it is about is seldom there."""
    target = (b"number", pick(rng, TARGETS)) if rng.random() < 0.6 else (b"id", b'"r%d"' % rng.integers(40))
    word = pick(rng, (b"withdraw", b"correct", b"confirm"))
    if word == b"confirm":
        return [*good_reading(rng), (word, b"true")]
    changes = good_reading(rng)[: int(rng.integers(3))] if word == b"correct" else []
    return [(word, b"true"), target, *changes, (b"reason", pick(rng, TEXTS))]


def odd_request(rng: np.random.Generator) -> bytes:
    made = request(rng)
    return written(made if rng.random() < 0.2 else spoiled(rng, made))


def damaged(rng: np.random.Generator) -> bytes:
    """A good reading with some of its bytes changed, lost or repeated."""
    data = bytearray(written(good_reading(rng)))
    for _ in range(1 + int(rng.integers(4))):
        at = int(rng.integers(len(data) + 1))
        marks = (*rb"{ } [ ] , : \ 9".split(), b'"', b"\x00", b"\xff", b"\r", b"\n", rng.bytes(3))
        piece = pick(rng, marks)
        end = at + int(rng.integers(1, 4)) if rng.random() < 0.6 else at
        data[at:end] = piece
    return bytes(data[: int(rng.integers(len(data) + 1))] if rng.random() < 0.2 else data)


def any_bytes(rng: np.random.Generator) -> bytes:
    return rng.bytes(int(rng.integers(1, 300)))


def encoded(rng: np.random.Generator) -> bytes:
    """A good reading in another encoding, or with what does not belong before or after it."""
    data = written(good_reading(rng))
    if rng.random() < 0.6:
        names = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037")
        return data.decode().encode(pick(rng, names))
    wrong = pick(rng, (b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\x1e", b"data: ", b",", b"\xc2\xa0", b"//"))
    return wrong + data if rng.random() < 0.5 else data + wrong


def nested(rng: np.random.Generator) -> bytes:
    """Lists or objects in each other, often about as deep as Python can read."""
    depth = int(rng.integers(850, 1010) if rng.random() < 0.8 else rng.integers(1, 20_000))
    opening, closing = pick(rng, ((b"[", b"]"), (b'{"a":', b"}")))
    middle = pick(rng, (b"1", b'"\\ud800"', b"NaN", b""))
    return opening * depth + middle + (closing * depth if rng.random() < 0.8 else b"")


def deep(rng: np.random.Generator) -> bytes:
    """Nested by itself, or as the value of some key."""
    if rng.random() < 0.3:
        return nested(rng)
    key = pick(rng, KEYS)
    return written([pair for pair in good_reading(rng) if pair[0] != key] + [(key, nested(rng))])


def long(rng: np.random.Generator) -> bytes:
    """About as long as a request may be, or longer."""
    size = int(pick(rng, (MAX_BYTES - 200, MAX_BYTES, MAX_BYTES + 1, 2 * MAX_BYTES, 3 * MAX_BYTES + 7)))
    filling = pick(rng, (b"x", b" ", b"[", b"9", b"\x00", b"\xff", b"\\u0041", '"é'.encode()))
    start = pick(rng, (b"", b'{"note": "', b'{"value": ', written(good_reading(rng))))
    end = pick(rng, (b"", b'"}', b"}"))
    return start + filling * (size // len(filling)) + end


def many_keys(rng: np.random.Generator) -> bytes:
    """A reading with hundreds of keys that nobody knows."""
    number = int(rng.integers(150, 900))
    return written(good_reading(rng) + [(b"k%d" % count, odd_value(rng)[:40]) for count in range(number)])


def lone_value(rng: np.random.Generator) -> bytes:
    return odd_value(rng, pick(rng, KEYS))


def blank(rng: np.random.Generator) -> bytes:
    """Nothing, or hardly anything."""
    marks = " \r\t\x0b\x0c\x1c\u2028\u00a0\0"
    return "".join(pick(rng, marks) for _ in range(int(rng.integers(4)))).encode()


def broken_lines(rng: np.random.Generator) -> bytes:
    """Two readings with another end between them than a line has."""
    end = pick(rng, (b"\r", b"\r\r", "\u2028".encode(), "\u0085".encode(), b"\x0c", b"\x1e", b""))
    return written(good_reading(rng)) + end + written(good_reading(rng))


_PAYLOADS: dict[Callable[[np.random.Generator], bytes], float] = {
    odd_reading: 40,
    odd_request: 14,
    damaged: 14,
    any_bytes: 8,
    encoded: 4,
    deep: 4,
    lone_value: 6,
    many_keys: 1,
    long: 1,
    blank: 2,
    broken_lines: 2,
    lambda rng: written(good_reading(rng)): 1,
}


def payload(rng: np.random.Generator) -> bytes:
    """One hostile message for a mission, without an end of line in it."""
    return weighted(rng, _PAYLOADS)(rng).replace(b"\n", b"\r")
