"""The searchers of a site file: what is their own, and what is refused in one line."""

import re

import pytest

from dowsax.site.parse import parse_site

SITE = """
area = {low = [0, 0], high = [100, 80]}
field = {kind = "radiation", unit = "counts"}
start = {position = [10, 10]}
[[obstacle]]
name = "tank"
corners = [[40, 40], [50, 40], [50, 50], [40, 50]]
height = 5.0
"""


def test_reads_what_each_has_of_its_own():
    anna, ben = parse_site(
        f'{SITE}[[searcher]]\nname = "anna"\nstart = [20, 20]\nspeed = 2\nreadings = 7\n'
        '[[searcher]]\nname = "ben"\nheight = 10\nstart = [45, 45]\n'
        "geofence = [[0, 0], [60, 0], [60, 60], [0, 60]]\n"
    ).searchers
    assert (anna.name, anna.start, anna.speed, anna.readings) == ("anna", (20.0, 20.0), 2.0, 7)
    assert (anna.height, anna.geofence, anna.distance, anna.time) == (None, None, None, None)
    # Its sensor goes over the tank.
    assert (ben.start, ben.height, ben.geofence.shape) == ((45.0, 45.0), 10.0, (4, 2))


def test_a_site_without_searchers_has_none():
    assert parse_site(SITE).searchers == ()


@pytest.mark.parametrize(
    ("team", "words"),
    [
        ('name = "anna"\n[[searcher]]\nname = "Anna"', "a name that no other searcher has"),
        ('name = "a b"\n[[searcher]]\nname = "A/b"', "must differ from 'a b' in letters or digits"),
        ('name = " "', "printable text without spaces"),
        ("speed = 1", "searcher.1.name: this key is missing"),
        ('name = "a"\nstart = [45, 45]', "in the obstacle 'tank'"),
        ('name = "a"\nstart = [145, 45]', "outside the area"),
        ('name = "a"\ngeofence = [[50, 50], [60, 50], [60, 60]]', "searcher.1.geofence: 'a' starts at"),
        ('name = "a"\ngeofence = [[50, 50], [60, 50]]', "at least 3 different corners"),
        ('name = "a"\nstart = [52.1, 5.1]\nstart_degrees = [52.1, 5.1]', "not both"),
        ('name = "a"\nspeeed = 1', "speed"),
    ],
)
def test_refuses_in_one_line_what_cannot_be(team, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        parse_site(f"{SITE}[[searcher]]\n{team}\n")
    assert "\n" not in str(caught.value)


def test_refuses_more_than_a_team():
    many = "".join(f'[[searcher]]\nname = "s{number}"\n' for number in range(21))
    with pytest.raises(ValueError, match="at most 20"):
        parse_site(SITE + many)
