"""Tables in their places, between `<!-- name -->` and `<!-- /name -->` of a page, and numbers and levels."""

import re
from collections.abc import Mapping, Sequence

from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.search_tables import number


def placed(pages: Sequence[str], found: Mapping[str, str]) -> list[str]:
    """The pages with each table in its places; a ValueError where one has none."""
    filled = list(pages)
    for name, text in found.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not any(pattern.search(page) for page in pages):
            raise ValueError(f"No page has a place <!-- {name} -->.")
        filled = [
            pattern.sub(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page) for page in filled
        ]
    return filled


def judged(found: Estimate, level: float, digits: int = 3, *, least: bool) -> str:
    """A number with the level from which up (`least`), or to which, it is good, and whether it got there."""
    if found.value is None:
        return "not measured"
    return f"{number(found, digits)}, {'≥' if least else '≤'} {level:g} {_mark(found, level, least)}"


def _mark(found: Estimate, level: float, least: bool) -> str:
    if found.value >= level if least else found.value <= level:
        return "reached"
    return "missed, within the interval" if found.low <= level <= found.high else "missed"
