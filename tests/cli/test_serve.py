"""`dowsax serve`: where it listens, and what it refuses before it does."""

import socket

import pytest


def test_another_address_gets_a_token_that_is_printed_with_it():
    from dowsax.console.serve import address_of, door_of

    assert door_of("127.0.0.1", 8000, None).token is None
    door = door_of("0.0.0.0", 8000, None)
    assert len(door.token) >= 32
    assert door.token != door_of("0.0.0.0", 8000, None).token
    assert address_of(door, 8000) == f"http://127.0.0.1:8000/?token={door.token}"
    assert address_of(door_of("::1", 0, None), 81) == "http://[::1]:81/"


def test_a_port_that_is_taken_is_said(complaint, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = complaint("serve", "--port", port, "--missions", tmp_path)
    assert said.startswith(f"Cannot listen on 127.0.0.1, port {port}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "70000"), "`port`"),
        (("--token", "short"), "`token` has at least 16"),
        (("--site", "nowhere.toml"), "nowhere.toml does not exist"),
        (("--host", "nowhere.invalid", "--port", "0"), "Cannot listen on nowhere.invalid"),
    ],
)
def test_what_cannot_be_served_is_said(complaint, tmp_path, words, said):
    assert said in complaint("serve", *words, "--missions", tmp_path)


def test_a_folder_that_is_in_use_is_said(complaint, tmp_path):
    from dowsax.console.store import Store

    held = Store(tmp_path)
    assert "in use by another console" in complaint("serve", "--port", "0", "--missions", tmp_path)
    held.close()
