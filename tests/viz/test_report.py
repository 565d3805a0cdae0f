"""The report: one file that needs nothing else, complete, and safe whatever the site is called."""

import base64
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from made_findings import made_findings

from dowsax.report.summary import verdict
from dowsax.viz.report import html_report

SITE = '# a comment\nname = "<script>alert(1)</script>"\n\n[area]\nlow = [0.0, 0.0]\n'


class Page(HTMLParser):
    """The text of a page, its tags with their attributes, and whether they are closed in order."""

    VOID = ("meta", "img", "link", "br", "hr")

    def __init__(self, text):
        super().__init__()
        self.words, self.tags, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


@pytest.fixture(scope="module")
def report():
    findings = made_findings(seed=5, name="Farm <b>&</b> wood")
    return findings, html_report(findings, site_text=SITE, created=datetime(2026, 5, 1, 9, 30, tzinfo=UTC))


def test_is_well_formed_and_for_phones(report):
    page = Page(report[1])
    assert page.open == []
    names = [attributes.get("name") for tag, attributes in page.tags if tag == "meta"]
    assert "viewport" in names
    assert "@media print" in report[1]


def test_needs_nothing_from_elsewhere(report):
    """No script, no link, no address: every picture is inside."""
    page = Page(report[1])
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert re.search(r"https?://|@import|url\(", report[1]) is None
    pictures = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(pictures) == 3
    for picture in pictures:
        kind, data = picture["src"].split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data).startswith(b"\x89PNG")
        assert picture["alt"]


def test_tells_everything(report):
    findings, text = report
    told = Page(text).text
    for part in (
        verdict(findings),
        "Where",
        "What is not known",
        "Method",
        "Settings",
        "release rate",
        "g/s",
    ):
        assert part in told
    assert "seed" in told
    assert "2026-05-01 09:30 UTC" in told
    assert all(f"{name} {version}" in told for name, version in findings.versions.items())


def test_names_are_text_and_not_markup(report):
    told = Page(report[1]).text
    assert "Farm <b>&</b> wood" in told
    assert 'name = "<script>alert(1)</script>"' in told
    assert "a comment" not in told


def test_a_position_alone_has_no_panels_of_others():
    findings = made_findings()
    alone = made_findings(samples=findings.posterior.samples[:, :2], prior_interval=None, time=None)
    pictures = [tag for tag, _ in Page(html_report(alone)).tags if tag == "img"]
    assert len(pictures) == 2


def test_what_belongs_to_a_sentence_is_set_in():
    """What was not learnt is a list of its own below its sentence, without the dash of the plain text."""
    report = html_report(made_findings())
    assert '<li class="item">background</li>' in report
    assert "<li>- " not in report
