"""Links outlive a restart, are found in full only, and are gone once they are revoked."""

import hmac
import json
import stat

import pytest

from dowsax.console import links as links_
from dowsax.console.links import MAX_LINKS, OPERATOR, READER, Links


@pytest.fixture
def path(tmp_path):
    return tmp_path / "links.json"


def test_links_outlive_a_restart_and_only_the_owner_reads_the_file(path):
    made = [Links(path).create(OPERATOR, "boat"), Links(path).create(READER, "office")]
    again = Links(path)
    assert again.all == tuple(made)
    assert [again.find(link.token) for link in made] == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({link.token for link in made}) == 2
    # 24 random bytes.
    assert all(len(link.token) == 32 for link in made)


def test_a_revoked_link_is_gone_at_once_and_after_a_restart(path):
    links = Links(path)
    first, second = links.create(READER, "a"), links.create(READER, "b")
    assert links.revoke(first.id)
    assert not links.revoke(first.id)
    for one in (links, Links(path)):
        assert one.find(first.token) is None
        assert one.find(second.token) == second
    assert first.token not in path.read_text()


def test_every_link_is_compared_whichever_is_right(path, monkeypatch):
    """So that the time of an answer tells nothing; and by a comparison of constant time."""
    links = Links(path)
    made = [links.create(READER, str(number)) for number in range(4)]
    compared, compare_digest = [], hmac.compare_digest

    def compare(one, other):
        compared.append(other)
        return compare_digest(one, other)

    monkeypatch.setattr(links_.hmac, "compare_digest", compare)
    for token in (made[0].token, made[3].token, "wrong", "", "\ud800", made[0].token[:-1]):
        compared.clear()
        assert (links.find(token) is not None) == (token in {link.token for link in made})
        assert compared == [link.token.encode() for link in made]


def test_the_first_links_are_made_once(path):
    links = Links(path)
    links.create_first()
    assert [link.role for link in links.all] == [OPERATOR, READER]
    for link in links.all:
        links.revoke(link.id)
    again = Links(path)
    again.create_first()
    assert again.all == ()


def test_roles_and_numbers_are_limited(path):
    links = Links(path)
    with pytest.raises(ValueError, match="operator or reader"):
        links.create("owner", "me")
    for _ in range(MAX_LINKS):
        links.create(READER, "")
    with pytest.raises(ValueError, match="revoke one first"):
        links.create(READER, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        '[{"id": "a"}]',
        json.dumps([{"id": "a", "role": "owner", "name": "", "token": "x" * 32, "created": ""}]),
        json.dumps([{"id": "a", "role": "reader", "name": "", "token": "", "created": ""}]),
    ],
)
def test_a_file_that_cannot_be_read_opens_nothing(path, text):
    path.write_text(text)
    with pytest.raises(ValueError, match="remove it, which revokes all links"):
        Links(path)
