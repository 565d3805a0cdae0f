"""The pages hang together: links, pictures and tables exist, and lists of names are those of the code."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from dowsax.envs import OBSERVATIONS, REWARDS, SCENARIOS, Measures
from dowsax.envs.task import STOPS, assemble
from dowsax.inference import PRESETS
from tools import reference_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GYMNASIUM = (DOCS / "how-to" / "gymnasium.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)")
INCLUDED = re.compile(r'--8<-- "([^"]+)"')
MADE = "build/"
"""Written when the site is built."""


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=named)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in LINK.findall(text):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_included_files_exist(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("--8") == len(INCLUDED.findall(text)), "a formatter has changed an include"
    for path in INCLUDED.findall(text):
        assert path.startswith(MADE) or (ROOT / path).is_file(), path


def test_every_table_is_on_a_page():
    included = {path for page in PAGES for path in INCLUDED.findall(page.read_text(encoding="utf-8"))}
    tables = {str(path.relative_to(ROOT)) for path in (ROOT / "results/tables").rglob("*.md")}
    assert tables <= included


def test_every_page_can_be_reached():
    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        parts = entry.values() if isinstance(entry, dict) else entry
        return [page for part in parts for page in pages(part)]

    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    assert sorted(pages(nav)) == sorted(str(page.relative_to(DOCS)) for page in PAGES)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_the_environment_is_described_whole():
    """Keywords with their choices, and the keys of `info`; families of names by their beginning."""
    for keyword in inspect.signature(assemble).parameters:
        assert f"| `{keyword}` |" in GYMNASIUM, keyword
    for key in (*Measures._fields, *REWARDS):
        assert f"| `{key}` |" in GYMNASIUM, key
    for name in (*OBSERVATIONS, *PRESETS, *STOPS, *SCENARIOS):
        assert ("prior-…" if name.startswith("prior-") else name) in GYMNASIUM, name


def test_the_reference_is_made_from_the_code(tmp_path):
    reference_pages.main(["--out", str(tmp_path)])
    written = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert written.keys() == reference_pages.PAGES.keys()
    assert "\n## dowsax serve\n" in written["cli"]
    assert "tools.reference_pages" not in written["cli"]
    assert "## `POST /api/missions/{id}/readings`" in written["http-api"]
    assert "[area]" in written["site-keys"]
