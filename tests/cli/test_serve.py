"""`dowsax serve`: where it listens, and what it refuses before it does."""

import errno
import os
import socket

import pytest


def test_another_address_gets_a_token_that_is_printed_with_it():
    from dowsax.console.server import access_settings, address_of

    assert access_settings("127.0.0.1", 8000, None).token is None
    door = access_settings("0.0.0.0", 8000, None)
    assert len(door.token) >= 32
    assert door.token != access_settings("0.0.0.0", 8000, None).token
    assert address_of(door, 8000) == f"http://127.0.0.1:8000/?token={door.token}"
    assert address_of(access_settings("::1", 0, None), 81) == "http://[::1]:81/"


def test_a_port_that_is_taken_is_said(complaint, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = complaint("serve", "--port", port, "--missions", tmp_path)
    assert said == f"Port {port} is in use on 127.0.0.1: give another --port, or 0 for any that is free."


def test_an_address_of_another_machine_is_said_and_not_blamed_on_the_port(complaint, tmp_path):
    """One of RFC 5737, which no machine has."""
    said = complaint("serve", "--host", "192.0.2.1", "--port", "0", "--missions", tmp_path)
    assert said == (
        "192.0.2.1 is not an address of this machine: give one of its own as --host, 127.0.0.1 for this "
        "machine alone, or 0.0.0.0 for all of its addresses."
    )


FAULTS = {
    errno.EACCES: "Port 80 on 127.0.0.1 is not allowed for this user: give a --port from 1024 on.",
    errno.EAFNOSUPPORT: "127.0.0.1 cannot be used: this machine has no IPv4; give another --host.",
    errno.ENOBUFS: "Cannot listen on 127.0.0.1, port 80 (No buffer space available): try another --port.",
}


@pytest.mark.parametrize("code", FAULTS, ids=errno.errorcode.get)
def test_what_the_machine_refuses_is_said_with_what_to_do(complaint, tmp_path, monkeypatch, code):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert complaint("serve", "--port", "80", "--missions", tmp_path) == FAULTS[code]


def test_a_machine_without_ipv6_is_said_to_have_none(monkeypatch):
    """Where not even a socket can be made."""
    from dowsax.console.server import listen

    def refuse(family, kind, protocol):
        raise OSError(errno.EAFNOSUPPORT, f"{family} {kind} {protocol}")

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(
        ValueError, match=r"^::1 cannot be used: this machine has no IPv6; give another --host"
    ):
        listen("::1", 0)


def test_a_name_is_the_address_that_it_leads_to():
    from dowsax.console.server import listen

    with listen("localhost", 0) as listener:
        assert listener.getsockname()[0] in ("127.0.0.1", "::1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "70000"), "`port`"),
        (("--token", "short"), "`token` must have at least 16"),
        (("--site", "nowhere.toml"), "nowhere.toml does not exist"),
        *(
            (("--host", host, "--port", "0"), f"{host!r} has no address: give one of this machine")
            for host in ("nowhere.invalid", "127.0.0.1:8000", "[::1]", "a..b", "")
        ),
    ],
)
def test_what_cannot_be_served_is_said(complaint, tmp_path, words, said):
    assert said in complaint("serve", *words, "--missions", tmp_path)


def test_a_folder_that_is_in_use_is_said(complaint, tmp_path):
    from dowsax.console.store import Store

    held = Store(tmp_path)
    assert "in use by another console" in complaint("serve", "--port", "0", "--missions", tmp_path)
    held.close()
