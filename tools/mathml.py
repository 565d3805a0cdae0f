"""A Markdown extension: `$…$` becomes MathML, which browsers draw without a script.

`$$…$$` on lines of its own is set as a block.
"""

import re
import xml.etree.ElementTree as etree
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

BLOCK = r"(?<!\\)\$\$(.+?)\$\$"
INLINE = r"(?<![\\$])\$(?!\s|\$)((?:\\.|[^$\\])+?)(?<!\s)\$(?![\d$])"


class Mathematics(InlineProcessor):
    """Formulas between dollars."""

    def __init__(self, pattern: str, markdown: Markdown, display: str) -> None:
        super().__init__(pattern, markdown)
        self.compiled_re = re.compile(pattern, re.DOTALL)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Any, int, int]:  # noqa: N802
        del data
        formula = convert(m.group(1), display=self.display)
        place = etree.Element("span", {"class": "formula"})
        place.text = self.md.htmlStash.store(formula)
        return place, m.start(0), m.end(0)


class MathMLExtension(Extension):
    """Before backslashes and emphasis are read, after code."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        md.inlinePatterns.register(Mathematics(BLOCK, md, "block"), "math-block", 186)
        md.inlinePatterns.register(Mathematics(INLINE, md, "inline"), "math-inline", 185)


def makeExtension(**settings: Any) -> MathMLExtension:  # noqa: N802
    return MathMLExtension(**settings)
