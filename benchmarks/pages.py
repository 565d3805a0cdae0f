"""Tables in their places: between `<!-- name -->` and `<!-- /name -->` of a page."""

import re
from collections.abc import Mapping, Sequence


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
