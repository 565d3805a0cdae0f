"""Recovery of a damaged log: every intact entry is in the new one, and what is lost is said."""

import fcntl
import json
import random
import sqlite3

import pytest
from made_disks import largest_file

from dowsax.cli import run
from dowsax.journal import NotRecorded, encode
from dowsax.mission.advice import Advice, Disc, Estimate
from dowsax.mission.log import Header, MissionLog, Note, Refusal, Step
from dowsax.mission.recovery import recover
from dowsax.survey.reading import Reading

HEADER = Header("name = 'here'", 3, "infotaxis", "default", {"dowsax": "0"})


def step(number, corrects=None, value=None):
    reading = {"value": number if value is None else value, "id": f"id {number}"}
    return Step(number, "2026", "{}", reading, {"number": number, "why": "x" * 30}, corrects=corrects)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mission.log"


def write(path, count=12):
    with MissionLog.create(path, HEADER) as log:
        for number in range(1, count + 1):
            log.append(step(number))
            if number % 4 == 0:
                log.refuse(f"nonsense {number}", "not JSON")
    return path.read_bytes()


def records(path):
    return list(MissionLog.open(path).records())


def test_an_undamaged_log_is_copied(path):
    write(path)
    out = path.with_name("out.log")
    recovered = recover(path, out)
    assert recovered.words() == "12 readings and 0 corrections are saved; lost: nothing."
    *copied, note = records(out)
    assert copied == records(path)
    assert isinstance(note, Note)
    assert note.what == "recovered"
    assert MissionLog.open(out).header == HEADER


def test_every_intact_entry_is_saved_whatever_is_damaged(path):
    """Random damage of every shape: all readings whose line is still there, in order, under new numbers."""
    data = write(path)
    dice = random.Random(1)
    lines = {number: encode_line(data, f"id {number}") for number in range(1, 13)}
    for trial in range(150):
        at, size = dice.randrange(len(data)), dice.choice([1, 30, 400])
        filling = dice.choice([b"", b"\0" * size, dice.randbytes(size)])
        spoilt = data[:at] + filling + data[at + size :]
        path.write_bytes(spoilt)
        out = path.with_name(f"{trial}.log")
        intact = [number for number, line in lines.items() if line in spoilt]
        # Its header is short: here both copies may be hit at once.
        recovered = recover(path, out, HEADER)
        steps = [record for record in records(out) if isinstance(record, Step)]
        assert [one.reading["id"] for one in steps] == [f"id {number}" for number in intact]
        assert [one.number for one in steps] == list(range(1, len(steps) + 1))
        assert [one.advice["number"] for one in steps] == [one.number for one in steps]
        assert recovered.readings == len(intact)
        if len(intact) < 12:
            assert recovered.lost or recovered.is_cut


def encode_line(data, word):
    """The line that holds a word, without its end."""
    (line,) = (line for line in data.split(b"\n") if f'"{word}"'.encode() in line)
    return line


def test_corrections_follow_what_they_correct(path):
    """A correction of a lost reading stands for it; the withdrawal of one has nothing to withdraw."""
    with MissionLog.create(path, HEADER) as log:
        for one in (
            step(1),
            step(2),
            step(3),
            step(4, corrects=2, value=2.5),
            step(5, corrects=3, value=3.5),
        ):
            log.append(one)
        log.append(Step(6, "2026", "{}", None, {"number": 6}, corrects=1))
    data = path.read_bytes()
    for word in ("id 1", "id 2"):
        line = encode_line(data, word)
        data = data.replace(line, line[:-3] + b"###")
    path.write_bytes(data)
    out = path.with_name("out.log")
    recovered = recover(path, out)
    steps = list(MissionLog.open(out).steps())
    assert [(one.number, one.corrects, one.reading["value"]) for one in steps] == [
        (1, None, 3),
        (2, None, 2.5),
        (3, 1, 3.5),
    ]
    assert recovered.words() == "2 readings and 1 correction are saved; lost: 2 entries (2 to 3)."


def test_a_lost_beginning_needs_the_site(path):
    data = write(path)
    path.write_bytes(data.replace(b" header ", b" heeder "))
    out = path.with_name("out.log")
    with pytest.raises(ValueError, match=r"cannot be read: give the site file of the mission with --site"):
        recover(path, out)
    assert not out.exists()
    assert recover(path, out, HEADER).readings == 12


def test_nothing_is_overwritten_and_nothing_made_of_nothing(path):
    write(path)
    out = path.with_name("out.log")
    out.write_text("mine")
    with pytest.raises(ValueError, match="nothing is overwritten"):
        recover(path, out)
    for content in (b"", b"some text\n" * 50):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="holds nothing of a mission"):
            recover(path, path.with_name("other.log"))
    with pytest.raises(ValueError, match="does not exist"):
        recover(path.with_name("none.log"), path.with_name("other.log"))


def test_a_full_disk_leaves_no_half_of_a_log(path):
    size = len(write(path))
    out = path.with_name("out.log")
    with largest_file(size // 2), pytest.raises(NotRecorded):
        recover(path, out)
    assert not out.exists()
    assert recover(path, out).readings == 12


def test_a_log_that_is_written_to_is_not_replaced(path, capsys):
    """Else an advisor would go on in the file that was put aside."""
    write(path)
    command = ["recover", str(path), "--replace"]
    with MissionLog.open(path).writable():
        assert run(command) != 0
    assert "in use by another program" in capsys.readouterr().err
    held = path.with_name(".held")
    with held.open("w") as console:
        fcntl.flock(console, fcntl.LOCK_EX)
        assert run(command) != 0
    assert sorted(path.parent.iterdir()) == [held, path]
    for _ in range(3):
        assert run(command) == 0
    aside = [f"{path.name}.damaged{number}" for number in ("", "-2", "-3")]
    assert sorted(item.name for item in path.parent.iterdir()) == sorted([held.name, path.name, *aside])


def test_logs_of_earlier_versions_are_converted(path):
    """Their tables: mission, readings, refused."""
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mission (format INTEGER, header TEXT)")
    database.execute(
        "CREATE TABLE readings (number INTEGER, id TEXT, received TEXT, given TEXT, reading TEXT, "
        "advice TEXT)"
    )
    database.execute(
        "CREATE TABLE refused (number INTEGER, after INTEGER, received TEXT, given TEXT, reason TEXT)"
    )
    header = {"site": "s", "seed": 1, "policy": "p", "preset": "q", "versions": {}}
    database.execute("INSERT INTO mission VALUES (1, ?)", (json.dumps(header),))
    place, estimate = (1.0, 2.0), Estimate(("x", "y"), ("m", "m"), (1.0, 2.0), (0.0, 1.0), (2.0, 3.0))
    for number in (1, 2, 3):
        advice = Advice(number, "searching", place, 0.0, 1.0, estimate, Disc(place, 1.0), "why")
        reading = json.dumps(Reading(place, float(number)).to_json())
        # In the last row, a letter has become another.
        reading = reading.replace("position", "posision") if number == 3 else reading
        row = (number, None, "2025", "{}", reading, json.dumps(advice.to_json()))
        database.execute("INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)", row)
    database.execute("INSERT INTO refused VALUES (1, 1, '2025', 'x', 'y')")
    database.commit()
    database.close()
    with pytest.raises(ValueError, match="earlier version: `dowsax recover"):
        MissionLog.open(path)
    out = path.with_name("out.log")
    recovered = recover(path, out)
    assert (recovered.readings, recovered.is_cut) == (2, True)
    first, refusal, second, _ = records(out)
    assert MissionLog.open(out).header == Header(**header)
    assert [one.reading["value"] for one in (first, second)] == [1.0, 2.0]
    assert isinstance(refusal, Refusal)


def test_forged_entries_are_none(path):
    """What was sent and looks like a line of the log is no entry, also when its own entry is damaged."""
    forged = encode(3, "reading", {"number": 1, "reading": {"value": 9}}).decode()
    with MissionLog.create(path, HEADER) as log:
        log.refuse(forged, "no")
        log.append(step(1))
    data = path.read_bytes()
    line = encode_line(data, "no")
    path.write_bytes(data.replace(line, b"#" + line[1:]))
    assert recover(path, path.with_name("out.log")).readings == 1
