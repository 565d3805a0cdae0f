"""What is released: one version, its entry in the changelog, and pins that any mirror serves."""

import re
import tomllib
from pathlib import Path

import pytest

from dowsax.version import VERSION

ROOT = Path(__file__).parents[1]


def test_the_version_is_in_one_place():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["hatch"]["version"]["path"] == "src/dowsax/version.py"
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_the_changelog_has_what_is_released_and_what_is_not():
    """Keep a Changelog: the newest first, with its own headings."""
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[:2] == ["Unreleased", VERSION]
    headings = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert headings <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_pins_name_no_host_and_no_path(path):
    pin = re.compile(r"[a-z0-9][a-z0-9._-]*==[a-z0-9.+]+( ; .+)?")
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not pin.fullmatch(line)] == []
