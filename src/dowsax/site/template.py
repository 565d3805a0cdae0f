"""The site file to start from: every key that has a use for the kind, with its explanation."""

import json
import textwrap
from typing import Any

from dowsax.site.explain import Key, Table, tables
from dowsax.site.kinds import KINDS, why_unused, world_unit
from dowsax.site.priors import prior_parameters
from dowsax.world.kinds import kind_of

_WIDTH = 110
_HEAD = (
    "A site for dowsax: where the search is, what is measured there, what is known, what may be spent. "
    "Lengths are in metres, times in seconds. Only the area and the kind must be given. Check the file with "
    "`dowsax site check FILE`."
)

_BENCHMARK_PRIOR = (
    "What is believed of the source beforehand: [low, high], or a number. Default: the benchmark's."
)


def new_site(kind: str = "gas-plume") -> str:
    """Return the text of a site file of this kind with every key that has a use there, explained."""
    if kind not in KINDS:
        raise ValueError(f"Unknown kind {kind!r}; known are {', '.join(KINDS)}.")
    return "\n".join([_comment(_HEAD), *filter(None, (_section(kind, table) for table in tables()))])


def _section(kind: str, table: Table) -> str:
    """Return the lines of one table, empty where it has no use for the kind."""
    # The noise of a benchmark field is its own, unless a file has numbers for it.
    if table.name == "noise" and KINDS[kind].is_benchmark:
        return ""
    if table.name == "prior":
        lines = _prior_lines(kind)
    elif table.keys:
        lines = [_key_lines(kind, table, key) for key in table.keys]
    else:
        lines = [_line(name, value, active=False) for name, value in table.example.items()]
    if not table.header or not any(lines):
        return "".join(lines)
    text = _BENCHMARK_PRIOR if table.name == "prior" and KINDS[kind].is_benchmark else table.text
    return f"{_comment(text)}{table.header}\n{''.join(lines)}"


def _key_lines(kind: str, table: Table, key: Key) -> str:
    facts, text, example, active = KINDS[kind], key.text, key.example, key.active
    if why_unused(kind, table.name, key.name) is not None:
        return ""
    if table.example and key.name in table.example:
        example = table.example[key.name]
    if f"{table.name}.{key.name}" in facts.examples:
        example, active = facts.examples[f"{table.name}.{key.name}"], True
    if table.name == "field" and key.name == "kind":
        example, text = kind, _sentence(facts.meaning)
    if table.name == "field" and key.name == "unit":
        if not facts.unit:
            return ""
        choices = f" One of {', '.join(facts.units)}." if len(facts.units) > 1 else ""
        example, text = facts.unit, f"{text}{choices}"
    # The unit stands at the end of the first sentence.
    head, full_stop, rest = f"{text} ".partition(". ")
    unit = f" [{key.unit}]" if key.unit else ""
    return _comment(f"{head}{unit}{full_stop}{rest}") + _line(key.name, example, active)


def _prior_lines(kind: str) -> list[str]:
    """Return the lines of each parameter: its meaning, and what holds without the key."""
    facts = KINDS[kind]
    known = {} if facts.is_benchmark else kind_of(kind, world_unit(facts.unit)).known
    lines = []
    for name, parameter in prior_parameters(kind, facts.unit, facts.gas).items():
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        example = facts.examples.get(f"prior.{name}", known.get(name, "unknown"))
        active = f"prior.{name}" in facts.examples and not facts.is_benchmark
        lines.append(_comment(_sentence(f"{parameter.meaning}{unit}")) + _line(name, example, active))
    return lines


def _line(name: str, value: Any, active: bool) -> str:
    # TOML writes texts, numbers, flags and lists as JSON does.
    return f"{'' if active else '# '}{name} = {json.dumps(value, ensure_ascii=False)}\n"


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _WIDTH - 2, break_on_hyphens=False))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


NEW_SITE = new_site()
"""Of gas in the wind, where most keys have a use."""
