"""A Markdown extension: formulas as MathML, and intervals that stay on one line.

`$…$` becomes MathML, which browsers draw without a script; `$$…$$` is set as a block. The spaces of
`0.974 [0.962, 0.982]` become spaces at which no line breaks, so that tables of numbers stay readable.
"""

import re
import xml.etree.ElementTree as etree
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor

BLOCK = r"(?<!\\)\$\$(.+?)\$\$"
INLINE = r"(?<![\\$])\$(?!\s|\$)((?:\\.|[^$\\])+?)(?<!\s)\$(?![\d$])"
NUMBER = r"[+\-−]?\d[\d.,]*"
INTERVAL = re.compile(rf"({NUMBER}(?: k?m)?) \[({NUMBER}), ({NUMBER})\]")
NO_BREAK = "\u00a0"


class Mathematics(InlineProcessor):
    """Formulas between dollars."""

    def __init__(self, pattern: str, markdown: Markdown, display: str) -> None:
        super().__init__(pattern, markdown)
        self.compiled_re = re.compile(pattern, re.DOTALL)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Any, int, int]:
        del data
        formula = convert(m.group(1), display=self.display)
        place = etree.Element("span", {"class": "formula"})
        place.text = self.md.htmlStash.store(formula)
        return place, m.start(0), m.end(0)


class Intervals(Postprocessor):
    """A number with its interval has no place to break."""

    def run(self, text: str) -> str:
        return INTERVAL.sub(rf"\1{NO_BREAK}[\2,{NO_BREAK}\3]", text)


class Parts(Extension):
    """Formulas are read after code, before backslashes and emphasis."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(Mathematics(BLOCK, md, "block"), "math-block", 186)
        md.inlinePatterns.register(Mathematics(INLINE, md, "inline"), "math-inline", 185)
        md.postprocessors.register(Intervals(md), "intervals", 5)


def makeExtension(**settings: Any) -> Parts:
    return Parts(**settings)
