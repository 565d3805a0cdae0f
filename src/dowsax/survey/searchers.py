"""The column of a survey that says whose reading it is, at a site with several searchers."""

from collections.abc import Mapping

import numpy as np

from dowsax.site.site import Site
from dowsax.site.text import meant_words
from dowsax.survey.columns import Column, split_header
from dowsax.survey.csv_file import Table
from dowsax.survey.quantities import Sheet

SEARCHER = "searcher"
"""The name of the column."""


def find_searchers(table: Table, site: Site | None, found: Mapping[str, Column]) -> dict[str, Column]:
    """Return the column `searcher`, as `dowsax export` writes it, where the site has several searchers."""
    if site is None or not site.searchers:
        return {}
    used = [column.index for column in found.values()]
    for index, header in enumerate(table.headers):
        if split_header(header)[0] == SEARCHER and index not in used:
            return {SEARCHER: Column(header.strip(), index, None)}
    return {}


def note_searchers(sheet: Sheet) -> None:
    """Note a column `searcher` at a site without searchers, and how to name them."""
    if sheet.site is None or sheet.site.searchers:
        return
    for header in sheet.unused:
        if split_header(header)[0] == SEARCHER:
            sheet.notes.append(
                f"The column {header!r} was not used: name each searcher in the site file, "
                '[[searcher]] with name = "…".'
            )


def read_searchers(sheet: Sheet) -> np.ndarray | None:
    """Return the index (k,) of the searcher of each reading, in the site's order; `None` without any."""
    if sheet.site is None or SEARCHER not in sheet.columns:
        return None
    index = {one.name: number for number, one in enumerate(sheet.site.searchers)}
    cells = [cell.strip() for cell in sheet.cells(SEARCHER)]
    for row, cell in enumerate(cells):
        if cell not in index:
            raise ValueError(
                f"{sheet.where(SEARCHER, row)}: {cell!r} is none of the site's searchers, "
                f"{', '.join(index)}; correct it, or list it as [[searcher]] of the site file."
                f"{meant_words(cell, index)}"
            )
    return np.array([index[cell] for cell in cells], np.int32)
