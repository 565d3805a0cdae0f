"""The reference page of the site file, from the schema: `python -m dowsax.site.reference` prints it."""

import json
from collections.abc import Iterable, Iterator

from dowsax.site.explain import Key, Table, tables
from dowsax.site.kinds import KINDS, why_unused
from dowsax.site.priors import prior_parameters, range_words

_INTRODUCTION = """\
# The site file

A site file is a TOML text. It says where the search is, what is measured there, what is known beforehand and
what may be spent. `dowsax site new site.toml` writes one with every key explained, and `dowsax site check
site.toml` prints what was understood. Only `[area]` and `kind` in `[field]` must be given.
"""
_DISTRIBUTIONS = """\
## Distributions

What is believed of a number beforehand is written in one of these forms.

| form | meaning |
|---|---|
| `1.5` | known |
| `"unknown"` | the usual distribution of the kind |
| `[1, 9]` | a range, on the scale (linear or logarithmic) of the usual distribution |
| `{low = 1, high = 9, scale = "log"}` | a range with its scale, `"linear"` or `"log"` |
| `{mean = 1, std = 0.1}` | normal |
| `{median = 1, factor = 2}` | log-normal: within the factor with a probability of 68 % |
"""


def reference_page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_INTRODUCTION, *map(_section, tables()), _kinds(), _DISTRIBUTIONS])


def _section(table: Table) -> str:
    title = f"## `{table.header or table.name}`\n\n{table.text}\n"
    if table.name == "prior":
        return f"{title}\n{_table(('kind', 'key', 'unit', 'range', 'meaning'), _parameters())}"
    if not table.keys:
        lines = "\n".join(f'{name} = "{value}"' for name, value in table.example.items())
        return f"{title}\n```toml\n{table.header}\n{lines}\n```\n"
    rows = [_row(table, key) for key in table.keys]
    # The last column, the kinds, is of no use where all have all keys.
    size = 5 if all(row[-1] == "all" for row in rows) else 6
    head = ("key", "value", "unit", "default", "meaning", "kinds")
    return f"{title}\n{_table(head[:size], (row[:size] for row in rows))}"


def _row(table: Table, key: Key) -> tuple[str, ...]:
    is_explained = key.default in (None, "", ()) or "Default: " in key.text
    default = "" if is_explained else f"`{json.dumps(key.default)}`"
    used = [kind for kind in KINDS if why_unused(kind, table.name, key.name) is None]
    return f"`{key.name}`", key.form, key.unit, default, key.text, _kind_words(used)


def _kind_words(used: list[str]) -> str:
    if len(used) == len(KINDS):
        return "all"
    if set(used) == {name for name, kind in KINDS.items() if not kind.is_benchmark}:
        return "all but benchmark fields"
    return ", ".join(used)


def _parameters() -> Iterator[tuple[str, ...]]:
    kinds = [kind for kind in KINDS if not KINDS[kind].is_benchmark] + ["gas"]
    for kind in kinds:
        label = "benchmark fields" if KINDS[kind].is_benchmark else kind
        parameters = prior_parameters(kind, KINDS[kind].unit, KINDS[kind].gas, KINDS[kind].uses_wind)
        for name, parameter in parameters.items():
            yield label, f"`{name}`", parameter.unit, range_words(name), f"{parameter.meaning}."


def _kinds() -> str:
    rows = ((f"`{name}`", kind.meaning, ", ".join(kind.units)) for name, kind in KINDS.items())
    return f"## Kinds\n\n{_table(('kind', 'meaning', 'units'), rows)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(reference_page(), end="")
