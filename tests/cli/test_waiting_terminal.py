"""A person at a terminal sees how far a command is: on stderr, which is a terminal here, and nowhere else."""

import json
import os
import pty
import re
import time
from contextlib import suppress
from threading import Thread

import pytest

from dowsax import cli
from dowsax.cli import console, run
from dowsax.cli.console import COMPILING, compile_first, counting, preparing, waiting
from dowsax.cli.durations import expected_seconds, remember_seconds, site_kind


class Terminal:
    """What was written to the terminal that is stderr, without the codes that move the cursor."""

    def __init__(self, reader, attach):
        self._reader, self._bytes, self.attach = reader, b"", attach
        # All the while: who writes to a terminal waits until it is read.
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        with suppress(OSError):
            while data := os.read(self._reader, 65_536):
                self._bytes += data

    def text(self):
        time.sleep(0.3)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._bytes.decode())

    def close(self):
        self._thread.join(10.0)
        os.close(self._reader)


@pytest.fixture
def terminal(monkeypatch, tmp_path):
    reader, writer = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    with os.fdopen(writer, "w", buffering=1) as stream:
        # In the test: pytest replaces stderr between the fixtures and that.
        made = Terminal(reader, lambda: monkeypatch.setattr("sys.stderr", stream))
        yield made
    # With its last writer the terminal ends.
    made.close()


def test_a_preparation_shows_the_time_and_what_it_usually_takes(terminal):
    """The first time by what is usual, and then by what it took last time."""
    terminal.attach()
    with preparing("Preparing", patience=0.2, kind="advise yard", usual=30.0):
        time.sleep(0.6)
    first = terminal.text()
    assert f"Preparing: {COMPILING}" in first
    assert "0:00:00 of about 30 s the first time" in first
    assert "once for each kind of site" in first
    assert 0.5 < expected_seconds("advise yard") < 10.0
    remember_seconds("advise yard", 8.2)
    with preparing("Preparing", patience=0.2, kind="advise yard", usual=30.0):
        time.sleep(0.6)
    second = terminal.text().removeprefix(first)
    assert "of about 8 s, as last time" in second
    assert COMPILING not in second
    assert expected_seconds("advise site") is None


def test_what_is_counted_shows_how_much_is_left(terminal):
    """As a log that is replayed: the bar then counts."""
    terminal.attach()
    with waiting("Replaying the readings") as count:
        for done in range(1, 5):
            count(done, 40)
            time.sleep(0.15)
    said = terminal.text()
    assert re.search(r"Replaying the readings .* [1-4] of 40, \d+ s left", said)


def test_a_bar_says_that_it_compiles_until_something_is_done(terminal):
    terminal.attach()
    with counting(20) as (describe, advance):
        add = compile_first("searches", describe, advance)
        time.sleep(0.3)
        add(5)
        time.sleep(0.3)
    before, _, after = terminal.text().partition("5/20")
    assert f"searches: {COMPILING}" in before
    assert "0/20" in before
    assert "left" in before
    assert "searches" in before.splitlines()[-1] or "searches" in after


def test_a_failed_preparation_is_not_remembered(terminal):
    terminal.attach()
    with pytest.raises(ValueError, match="no such site"), preparing("Preparing", kind="advise yard"):
        raise ValueError("no such site")
    assert expected_seconds("advise yard") is None


def test_durations_that_cannot_be_read_are_unknown(terminal, tmp_path):
    remember_seconds("one", 3.0)
    remember_seconds("two", 4.0)
    remember_seconds("one", 5.0)
    assert (expected_seconds("one"), expected_seconds("two")) == (5.0, 4.0)
    (path,) = (tmp_path / "cache").rglob("durations.json")
    for text in ("{", "[]", '{"one": "soon"}'):
        path.write_text(text)
        assert expected_seconds("one") is None
    for number in range(250):
        remember_seconds(str(number), 1.0)
    assert len(json.loads(path.read_text())) == 200
    assert expected_seconds("249") == 1.0
    path.unlink()
    path.mkdir()
    remember_seconds("one", 3.0)


def test_a_site_that_changes_is_another_kind():
    assert site_kind("advise", "a", None) == site_kind("advise", "a", None)
    assert len({site_kind("advise", "a"), site_kind("advise", "b"), site_kind("locate", "a")}) == 3


def test_json_on_stdout_is_untouched_by_the_bar(terminal, capfd, monkeypatch, survey_file):
    terminal.attach()
    monkeypatch.setattr(console, "_PATIENCE_S", 0.0)
    words = ["--field", "temperature", "--particles", "64", "--json"]
    assert run(["locate", str(survey_file()), *words]) == 0
    assert json.loads(capfd.readouterr().out)["readings"] == 6
    said = terminal.text()
    assert "Locating the source from 6 readings" in said
    assert "of about 30 s the first time" in said


def test_a_command_that_takes_long_to_import_says_that_it_starts(terminal, monkeypatch):
    """A terminal sees it while the modules are imported, and no longer; a quick import says nothing."""
    seen = []
    monkeypatch.setattr(cli, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(cli, "import_module", lambda name: seen.append(terminal.text()) or seen.append(name))
    terminal.attach()
    cli._import_command("restore")
    cli._import_command("no-such-command")
    # The second time nobody waits.
    monkeypatch.setattr(cli, "import_module", lambda name: None)
    cli._import_command("site")
    assert seen == ["dowsax: starting…", "dowsax.cli.correct"]
    assert terminal.text() == "dowsax: starting…\r"


def test_nothing_is_shown_where_stderr_is_no_terminal(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with preparing("Preparing", patience=5.0, kind="advise yard") as count:
        count(1, 2)
    with counting(3) as (describe, advance):
        compile_first("searches", describe, advance)(1)
    assert capsys.readouterr() == ("", "")
    assert list(tmp_path.rglob("*")) == []
