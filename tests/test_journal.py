"""The journal: whole after any crash, readable after any damage, never silently short of an entry."""

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from hashlib import blake2b
from itertools import pairwise

import pytest
from made_disks import largest_file

from dowsax import journal
from dowsax.journal import MAGIC, Damaged, InUse, Journal, NotRecorded, encode, read, salvage

BODIES = [
    {"text": "first"},
    {"value": 0.1 + 0.2, "tiny": 1e-300},
    {"text": "\ud800 é \n"},
    {"list": [1, None]},
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mission.log"


def write(path, bodies=BODIES):
    """A journal of these entries; its bytes, and where each line ends."""
    made = Journal.create(path, "head", bodies[0])
    for body in bodies[1:]:
        made.append("entry", body)
    made.close()
    ends = [len(MAGIC)]
    for number, body in enumerate(bodies):
        ends.append(ends[-1] + len(encode(number, "entry" if number else "head", body)))
    return path.read_bytes(), ends


def bodies_of(entries):
    return [entry.body for entry in entries]


def test_what_is_appended_is_read_again(path):
    """In order, to the last digit, also text that is no Unicode, while it is open and after."""
    made = Journal.create(path, "head", BODIES[0])
    entries = [made.append("entry", body) for body in BODIES[1:]]
    assert bodies_of(read(path)) == BODIES
    assert [entry.number for entry in read(path)] == [0, 1, 2, 3]
    assert [made.entry_at(entry.offset) for entry in entries] == entries
    made.close()
    again = Journal.open(path)
    assert len(again) == 4
    again.append("entry", {"more": True})
    again.close()
    assert bodies_of(read(path)) == [*BODIES, {"more": True}]
    assert path.read_bytes().isascii()


def test_a_killed_writer_leaves_at_most_an_unfinished_line(path):
    """Cut at every byte: the entries that were complete are read, and the next writer goes on after them."""
    data, ends = write(path)
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        # The end of a line itself is no loss.
        whole = sum(cut >= end - 1 for end in ends[1:])
        assert len(list(read(path))) == whole
        made = Journal.open(path)
        made.append("entry", {"after": cut})
        made.close()
        assert bodies_of(read(path)) == [*BODIES[:whole], {"after": cut}]


@pytest.mark.slow
def test_every_damaged_byte_is_noticed_and_costs_one_entry(path):
    """Each byte in turn, by three other values: `read` stops there, `salvage` has all other entries."""
    data, ends = write(path)
    for at in range(len(data)):
        hurt = sum(at >= end for end in ends) - 1
        # The end of a line belongs to no entry: all of them are intact.
        others = [body for number, body in enumerate(BODIES) if number != hurt or at == ends[hurt + 1] - 1]
        for value in {data[at] ^ 1, 0, 10} - {data[at]}:
            path.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            with pytest.raises(Damaged, match=r"mission\.log is damaged at byte"):
                list(read(path))
            assert bodies_of(salvage(path)) == (others if hurt >= 0 else BODIES)
            with pytest.raises(Damaged):
                Journal.open(path)


def test_damage_of_any_shape_loses_no_intact_entry(path):
    """Bytes overwritten, inserted, removed, doubled and zeroed at random."""
    bodies = [{"number": number, "text": "x" * (37 * number % 90)} for number in range(30)]
    data, ends = write(path, bodies)
    lines = [data[start:end].rstrip() for start, end in pairwise(ends)]
    dice = random.Random(3)
    for _ in range(400):
        at, size = dice.randrange(len(data)), dice.choice([1, 8, 60, 500])
        rest = data[at + size :]
        noise, own = dice.randbytes(size), data[at : at + size]
        shapes = (b"\0" * size + rest, noise + rest, noise + data[at:], rest, own + data[at:])
        spoilt = data[:at] + dice.choice(shapes)
        path.write_bytes(spoilt)
        found = {entry.number for entry in salvage(path)}
        intact = {number for number, line in enumerate(lines) if line in spoilt}
        assert intact <= found
        assert all(bodies[entry.number] == entry.body for entry in salvage(path))


def test_what_looks_like_an_entry_within_an_entry_is_none(path):
    """A reading whose text is a line of a journal brings no entry of its own, also where it is damaged."""
    inner = encode(7, "entry", {"forged": True}).decode()
    data, ends = write(path, [*BODIES, {"given": inner}])
    path.write_bytes(data[: ends[-2] + 3] + b"x" + data[ends[-2] + 4 :])
    assert bodies_of(salvage(path)) == BODIES


def test_an_empty_object_is_no_entry_although_its_checksum_is_right(path):
    """It is all that could be forged in a text, where quotes are escaped; it must not hide the real entry."""
    rest = b"2 3 entry {}"
    forged = f"{blake2b(rest, digest_size=16).hexdigest()} {rest.decode()}"
    data, ends = write(path, [BODIES[0], {"given": forged}, BODIES[1], BODIES[2]])
    path.write_bytes(data[: ends[1] + 3] + b"x" + data[ends[1] + 4 :])
    assert [entry.number for entry in salvage(path)] == [0, 2, 3]
    assert bodies_of(salvage(path))[1:] == BODIES[1:3]
    with pytest.raises(ValueError, match="must not be empty"):
        encode(0, "entry", {})


def test_an_entry_after_the_rest_of_another_is_not_taken_for_an_unfinished_one(path):
    """Bytes between two entries are lost, and the end of the last: nothing may be written over it."""
    data, ends = write(path, [{"text": "x" * 300}, {"text": "kept"}])
    path.write_bytes(data[: ends[0] + 60] + data[ends[1] :].rstrip(b"\n"))
    with pytest.raises(Damaged):
        Journal.open(path)
    assert bodies_of(salvage(path)) == [{"text": "kept"}]


def test_an_entry_that_begins_the_file_is_read(path):
    data, ends = write(path)
    path.write_bytes(data[ends[1] :])
    entries = list(salvage(path))
    assert entries[0].offset == 0
    assert next(read(path, 0)) == entries[0]


def test_a_gap_in_the_numbers_is_damage(path):
    """A line that was taken out as a whole, or put in twice, is noticed too."""
    data, ends = write(path)
    for spoilt in (data[: ends[2]] + data[ends[3] :], data[: ends[2]] + data[ends[1] :]):
        path.write_bytes(spoilt)
        with pytest.raises(Damaged):
            list(read(path))
    path.write_bytes(data[: ends[2]] + data[ends[1] :])
    assert bodies_of(salvage(path)) == BODIES


def test_a_second_writer_is_refused_at_its_start(path):
    made = Journal.create(path, "head", {"n": 0})
    with pytest.raises(InUse, match="in use by another program"):
        Journal.open(path)
    made.close()
    Journal.open(path).close()


def test_another_file_is_left_alone(path):
    for content in (b"name,value\n1,2\n", b"deadbeef", b"SQLite format 3\0" + b"\xff" * 2000):
        path.write_bytes(content)
        with pytest.raises(Damaged):
            Journal.create(path, "head", {"n": 0})
        assert path.read_bytes() == content
    write(path.with_name("other.log"))
    with pytest.raises(FileExistsError):
        Journal.create(path.with_name("other.log"), "head", {"n": 0})


def test_an_entry_has_a_size_and_numbers_are_finite(path):
    made = Journal.create(path, "head", {"n": 0})
    with pytest.raises(ValueError, match="at most"):
        made.append("entry", {"text": "x" * journal.MAX_ENTRY_BYTES})
    with pytest.raises(ValueError, match="JSON"):
        made.append("entry", {"value": float("nan")})
    made.append("entry", {"text": "x" * (journal.MAX_ENTRY_BYTES - 20)})
    made.close()
    assert len(list(read(path))) == 2


def test_file_and_folder_are_on_the_disk_before_it_is_said(path, monkeypatch):
    """The file at its creation and at each entry, and the folder that names it at the creation."""
    synced = []

    def fsync(descriptor):
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    monkeypatch.setattr(os, "fsync", fsync)
    made = Journal.create(path, "head", {"n": 0})
    assert synced == ["file", "folder"]
    made.append("entry", {"n": 0})
    assert synced == ["file", "folder", "file"]
    made.append("entry", {"n": 0}, durable=False)
    assert synced == ["file", "folder", "file"]
    made.close()


@pytest.mark.parametrize("call", ["pwrite", "fsync", "ftruncate"])
def test_a_disk_that_does_not_take_it_leaves_nothing_behind(path, monkeypatch, call):
    """Whichever call fails, once or half way: the entry is not there, and the next one is."""
    made = Journal.create(path, "head", BODIES[0])
    usual, failing = getattr(os, call), [True]

    def fail(descriptor, *rest):
        if not failing:
            return usual(descriptor, *rest)
        failing.clear()
        if call == "pwrite":
            usual(descriptor, rest[0][:20], rest[1])
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(NotRecorded, match="Input/output error"):
        made.append("entry", {"lost": 1})
    assert bodies_of(read(path)) == BODIES[:1]
    made.append("entry", BODIES[1])
    made.close()
    assert bodies_of(read(path)) == BODIES[:2]


def test_a_full_disk_is_said_and_nothing_is_half_written(path):
    made, count = Journal.create(path, "head", {"n": 0}), 0
    with largest_file(100_000), pytest.raises(NotRecorded, match=r"the disk is full\. Make room"):  # noqa: PT012
        while True:
            made.append("entry", {"text": "x" * 3000})
            count += 1
    assert 20 < count < 40
    assert len(list(read(path))) == 1 + count
    made.append("entry", {"text": "x" * 3000})
    made.close()
    assert len(list(read(path))) == 2 + count


def test_a_writer_killed_at_any_call_at_the_beginning_leaves_a_file_that_can_be_begun(path, monkeypatch):
    """After each call that changes the file, it is what a killed writer may leave."""
    left = []

    def watched(name):
        usual = getattr(os, name)

        def call(*rest):
            made = usual(*rest)
            left.append(path.read_bytes())
            return made

        return call

    with monkeypatch.context() as patched:
        for name in ("ftruncate", "pwrite"):
            patched.setattr(os, name, watched(name))
        Journal.create(path, "head", {"n": 0}).close()
    assert left
    for data in left[:-1]:
        path.write_bytes(data)
        Journal.create(path, "head", {"n": 1}).close()
        assert bodies_of(read(path)) == [{"n": 1}]


WRITER = """
import sys
from pathlib import Path
from dowsax.journal import Journal
path = Path(sys.argv[1])
journal = Journal.open(path) if path.exists() else Journal.create(path, "head", {"n": 0})
while True:
    number = len(journal)
    journal.append("entry", {"text": "x" * (number * 37 % 3000)})
    print(number, flush=True)
"""


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_killed(path):
    """Killed for real, many times, at random moments: every number that was printed is in the journal."""
    moments, acknowledged = random.Random(5), 0
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        first = writer.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.05))
        os.kill(writer.pid, signal.SIGKILL)
        lines = [first, *writer.stdout.read().split("\n")]
        writer.wait()
        writer.stdout.close()
        # The last line may be cut in the middle: it was not received.
        numbers = [int(line) for line in lines[:-1] if line.strip()]
        assert numbers[0] > acknowledged
        acknowledged = max(numbers)
        entries = list(read(path))
        assert len(entries) > acknowledged
        assert all(
            json.loads(entry.text) == {"text": "x" * (entry.number * 37 % 3000)} for entry in entries[1:]
        )
    assert acknowledged > 20
