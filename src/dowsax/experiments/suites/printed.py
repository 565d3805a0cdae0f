"""What the paper prints, number by number."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("paper.csv")


class Printed(NamedTuple):
    """One number of the paper."""

    value: float
    spread: float | None
    """What follows ±; the paper does not say what it is."""
    bound: str
    """"<" or ">" where only that is printed."""
    text: str
    """As printed."""


Place = tuple[str, str, str]
"""Row, column and measure."""


@lru_cache(maxsize=1)
def _everything() -> dict[str, dict[Place, Printed]]:
    found: dict[str, dict[Place, Printed]] = {}
    with _FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            spread = float(line["spread"]) if line["spread"] else None
            text = " ".join(
                filter(None, [line["bound"], line["value"], line["spread"] and f"± {line['spread']}"])
            )
            place = line["row"], line["column"], line["measure"]
            number = Printed(float(line["value"]), spread, line["bound"], text)
            if found.setdefault(line["suite"], {}).setdefault(place, number) is not number:
                raise ValueError(f"{_FILE.name} has {', '.join(place)} of {line['suite']} twice.")
    return found


def printed(suite: str) -> dict[Place, Printed]:
    """The numbers of a table by row, column and measure; none for a figure."""
    return _everything().get(suite, {})
