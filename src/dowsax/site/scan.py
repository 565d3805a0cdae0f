"""One pass over the text of a site file before it is parsed: limits on its shape, and the line of each key.

A TOML parser takes time and memory with the square of the length of a dotted key, and fails in its own words
on nested brackets and long numbers. Tokens are told apart as TOML does, so that what stands in texts and
comments counts for nothing.
"""

import re

MAX_LENGTH = 1_000_000
"""Characters of a site file."""
MAX_KEY_PARTS = 8
"""Of a dotted key or header."""
MAX_DEPTH = 16
"""Of brackets in brackets."""
MAX_WORD = 200
"""Characters of a key or number."""
MAX_VALUES = 10_000
"""Keys, headers, and entries of lists, in all."""
_DOTTED = f"a key has more than {MAX_KEY_PARTS} parts; no site has such a key: take it out."
_NESTED = f"brackets are nested more than {MAX_DEPTH} deep; close them, or take some out."
_LONG_WORD = f"a key or number has more than {MAX_WORD} characters; shorten it, or put a text in quotes."
_MANY = f"more than {MAX_VALUES:,} keys and entries of lists up to here; leave some out."

_TOKEN = re.compile(
    r'''
      (?P<text>
          """ (?: [^"\\]++ | \\[\s\S]? | "(?!"") )*+ (?: "{3,5} | \Z )
        | \'\'\' (?: [^']++ | '(?!\'\') )*+ (?: '{3,5} | \Z )
        | " (?: [^"\\\n]++ | \\[^\n]? )*+ "?
        | ' [^'\n]*+ '?
      )
    | (?P<comment> \#[^\n]*+ )
    | (?P<newline> \n )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<equals> = )
    | (?P<comma> , )
    | (?P<dot> \. )
    | (?P<word> [^\s"'\#\[\]{}=,.]++ )
    ''',
    re.VERBOSE,
)

Lines = dict[tuple[str, ...], int]
"""The line on which each key or table stands, by its parts; the tables of a list are numbered from 1."""


def scan(name: str, text: str) -> Lines:
    """Return the line of each key and table, or raise a ValueError for a text that is not worth parsing.

    Time and memory are in proportion to the text. `name` is what errors call the file.
    """
    lines: Lines = {}
    counts: dict[tuple[str, ...], int] = {}
    table, parts = (), []
    line, num_values, depth, num_dots, num_brackets, in_value = 1, 0, 0, 0, 0, False
    for token in _TOKEN.finditer(text):
        kind, word, named = token.lastgroup, token[0], ()
        line += word.count("\n")
        num_dots = num_dots + (kind == "dot") if kind in ("dot", "word", "text") else 0
        if kind == "newline" and depth == 0:
            parts, num_brackets, in_value = [], 0, False
        elif kind == "open":
            depth += 1
            num_brackets += not in_value
        elif kind == "close":
            depth = max(depth - 1, 0)
            if depth == 0 and not in_value:
                table = named = _numbered(tuple(parts), counts) if num_brackets > 1 else tuple(parts)
        elif kind == "equals" and not in_value:
            named = (*table, *parts)
        elif kind == "word" or (kind == "text" and not in_value):
            word = word[1:-1] if kind == "text" else word
            parts += [word] if not in_value and len(parts) < MAX_KEY_PARTS else []
            if len(word) > MAX_WORD:
                raise ValueError(f"{name}, line {line}: {_LONG_WORD}")
        in_value = in_value or bool(named)
        num_values += kind in ("equals", "comma") or bool(named)
        for size in range(1, len(named) + 1):
            lines.setdefault(named[:size], line)
        if num_dots >= MAX_KEY_PARTS or depth > MAX_DEPTH or num_values > MAX_VALUES:
            words = _DOTTED if num_dots >= MAX_KEY_PARTS else _NESTED if depth > MAX_DEPTH else _MANY
            raise ValueError(f"{name}, line {line}: {words}")
    return lines


def _numbered(parts: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """The name of the next table of a list, `[[parts]]`."""
    counts[parts] = counts.get(parts, 0) + 1
    return (*parts, str(counts[parts]))
