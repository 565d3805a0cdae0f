"""`sources` of a site file: a number or a range, read, described, and refused where it makes no sense."""

import pytest
from made_sites import site

from dowsax.site import NEW_SITE, parse_site
from dowsax.site.describe import describe_site, describe_unknowns
from dowsax.site.site import build_model


def with_sources(sources):
    return parse_site(f"sources = {sources}\n{NEW_SITE}")


@pytest.mark.parametrize(
    ("given", "numbers"), [("2", (2,)), ('"1-3"', (1, 2, 3)), ('" 1 - 3 "', (1, 2, 3)), ('"2"', (2,))]
)
def test_sources_are_read_and_described(given, numbers):
    made = with_sources(given)
    assert made.sources == numbers
    words = dict(describe_site(made))["sources"]
    assert all(str(number) in words for number in (numbers[0], numbers[-1]))


def test_without_the_key_there_is_one_source():
    made = site("")
    assert made.sources == (1,)
    assert "sources" not in dict(describe_site(made))


def test_each_source_has_its_own_place_and_strength():
    names = [parameter.name for parameter in build_model(with_sources("2")).prior.parameters]
    assert {"x1", "y1", "q1", "height1", "x2", "y2", "q2", "height2"} <= set(names)
    assert names.count("background") == 1
    model = build_model(with_sources('"1-2"'))
    assert [len(each.prior.parameters) for each in model.by_number] == [len(names) - 4, len(names)]


def test_what_is_unknown_is_listed_once():
    assert [row[0] for row in describe_unknowns(with_sources("2"))] == [
        row[0] for row in describe_unknowns(with_sources("1"))
    ]


def test_a_wide_range_of_strengths_is_questioned_where_the_number_is_unknown():
    """A source too weak to be seen counts as one."""
    questions = [text for heading, text in describe_site(with_sources('"1-2"')) if heading == "to check"]
    assert any("weak" in question for question in questions)
    assert not any("weak" in text for _, text in describe_site(with_sources("2")))


@pytest.mark.parametrize("given", ["0", '"3-1"', '"1-9"', '"many"', "1.5"])
def test_other_numbers_are_refused_with_the_key(given):
    with pytest.raises(ValueError, match="sources"):
        with_sources(given)


@pytest.mark.parametrize(
    "given", ["true", "[1, 3]", "1.5", '"many"', '"1 to 3"', "{from = 1}", str(list(range(99)))]
)
def test_the_error_mentions_the_range(given):
    with pytest.raises(ValueError, match='must be a whole number, or a range like "1-3"; got ') as refused:
        with_sources(given)
    assert str(refused.value).startswith("site.toml, line 1, sources: ")
    assert len(str(refused.value)) < 200


def test_several_sources_cannot_jump():
    with pytest.raises(ValueError, match="may_jump"):
        parse_site(f"sources = 2\n{NEW_SITE}".replace("may_jump = false", "may_jump = true"))
