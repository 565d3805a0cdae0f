"""Texts as cells of a CSV that no spreadsheet takes for a formula, and back.

A spreadsheet computes what begins with =, +, - or @, whoever wrote it: a sensor that is named so could do as
it likes where the file is opened. An apostrophe makes it text. It is put wherever a formula could begin, also
after what separates cells elsewhere in the world, and before apostrophes that stand there already; so where
there is one, exactly one was put, and is taken off again: what is read back is the same text.
"""

import re

_MARKS = r"[=+@\t\r＝＋－＠-]"
"""What a formula may begin with; the wide ones count in spreadsheets of East Asia."""
_BEGINS = r"(^|[,;\t\r\n])"
_FORMULA = re.compile(f"{_BEGINS}(?='*{_MARKS})")
_HIDDEN = re.compile(f"{_BEGINS}'(?='*{_MARKS})")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def plain_cell(text: str) -> str:
    """The text as a cell, with an apostrophe wherever a formula would begin; a number stays as it is."""
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def text_of(cell: str) -> str:
    """The text that was written as this cell: the inverse of `plain_cell`."""
    return _HIDDEN.sub(r"\1", cell)
