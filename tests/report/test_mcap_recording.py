"""Recordings as MCAP: read by mcap's own reader, each message valid, at the time of its measurement."""

import json
import math
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import create_autospec

import jsonschema
import numpy as np
import pytest
from made_missions import POND, hill_site
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, Message, Schema
from mcap.stream_reader import StreamReader, breakup_chunk

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.advice import Advice, Disc, Estimate, Leg
from dowsax.mission.log import Header, MissionLog, Note, Refusal, Step
from dowsax.mission.messages import Request
from dowsax.report import mcap_recording
from dowsax.report.mcap_recording import RecordedAdvisor, Recording, export_recording
from dowsax.report.mcap_schemas import SCHEMAS
from dowsax.survey.reading import Reading, Refused

SITE_TEXT = """
name = "yard"
area = {low = [0, 0], high = [60, 40], origin = [52.1, 5.1]}
field = {kind = "level", unit = "dB"}
"""
HEADER = Header(SITE_TEXT, 3, "location-gain", "default", {})
SITE = hill_site(coordinates=LocalCoordinates((52.1, 5.1)))
ARRIVED = "2026-05-01T10:00:0{}.000+00:00"
EPOCH_S = 1_777_629_600
"""2026-05-01T10:00:00Z"""


def advice(number, **changes):
    names = ("x", "y", "log_q")
    estimate = Estimate(names, ("m", "m", ""), (4.0, 5.0, 1.0), (1.0, 2.0, 0.0), (7.0, 8.0, 2.0))
    fields = {"next_position": (8.0, 6.0), "bearing": 70.0, "distance": 4.5, "evidence": 2.5}
    fields |= {"region": Disc((4.0, 5.0), 3.0), "why": "Not sure yet.", "searcher": None} | changes
    return Advice(number, "searching", estimate=estimate, **fields)


def step(number, reading, corrects=None, given="", **changes):
    body = None if reading is None else reading.to_json()
    measures = {"spread": 2.0, "mass": 0.3, "ess": 400.0, "fit": None, "path_length": 12.0}
    received = ARRIVED.format(number)
    return Step(number, received, given, body, advice(number, **changes).to_json(), measures, corrects)


def record(path, records, site=SITE):
    with path.open("wb") as stream:
        recording = Recording(stream, site, HEADER)
        for each in records:
            recording.add(each)
        recording.close()
    return read(path)


def read(path):
    """(topic, kind, time, body) of each message, in the order of time, each checked against its schema."""
    found = []
    with path.open("rb") as stream:
        for schema, channel, message in make_reader(stream).iter_messages():
            found.append(checked(schema, channel, message))
    return found


def checked(schema, channel, message):
    assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
    body, rules = json.loads(message.data), json.loads(schema.data)
    jsonschema.validate(body, rules, cls=jsonschema.Draft202012Validator)
    # Nothing that the schema does not name.
    assert set(body) <= set(rules["properties"])
    assert message.log_time == message.publish_time
    if "timestamp" in body:
        assert body["timestamp"] == {"sec": message.log_time // 10**9, "nsec": message.log_time % 10**9}
    return channel.topic, schema.name, message.log_time, body


def read_what_is_there(path):
    """The messages of a file that has no end."""
    found, schemas, channels = [], {}, {}

    def take(one):
        if isinstance(one, Schema):
            schemas[one.id] = one
        if isinstance(one, Channel):
            channels[one.id] = one
        if isinstance(one, Message):
            channel = channels[one.channel_id]
            found.append(checked(schemas[channel.schema_id], channel, one))

    with path.open("rb") as stream:
        try:
            for each in StreamReader(stream, emit_chunks=True).records:
                for one in breakup_chunk(each) if isinstance(each, Chunk) else [each]:
                    take(one)
        except (McapError, struct.error):
            pass
    return found


def of(found, topic):
    return [(time, body) for name, _, time, body in found if name == topic]


@pytest.fixture
def found(tmp_path):
    wind, ranges = (1.0, -2.0), (3.0, None)
    first = Reading((2.0, 3.0), 0.5, time=EPOCH_S - 100.25, altitude=12.0, wind=wind, id="a")
    more = {"quantities": {"heading": 0.0, "background": 0.25}, "ranges": ranges, "moving": True}
    second = Reading((4.0, 3.0), 0.7, time=EPOCH_S - 90.0, dwell=5.0, sensor="s", **more)
    legs = (Leg((8.0, 6.0), 4.5, ((5.0, 5.0),)), Leg((9.0, 9.0), 3.2, height=6.0))
    records = [
        Note(ARRIVED.format(0), "feed", "Listening."),
        step(1, first),
        step(
            2,
            second,
            ahead=legs,
            next_way=((5.0, 5.0),),
            next_aim=(9.0, 2.0),
            warnings=("Outside the area.",),
        ),
        Refusal(2, ARRIVED.format(3), "{}", "`x` is missing."),
        step(3, replace(second, value=0.9), corrects=2),
        step(4, None, corrects=1),
    ]
    return record(tmp_path / "mission.mcap", records)


def test_readings_are_there_with_all_that_was_measured(found):
    (_, first), (_, second), (_, third) = of(found, "/dowsax/reading")
    assert (first["value"], first["unit"], first["id"]) == (0.5, "K", "a")
    assert (first["altitude"], first["wind"]) == (12.0, {"u": 1.0, "v": -2.0})
    assert second["quantities"] == {"heading": 0.0, "background": 0.25}
    assert second["ranges"] == [{"distance": 3.0}, {}]
    assert (second["moving"], second["dwell"], second["sensor"]) == (True, 5.0, "s")
    assert "corrects" not in second
    assert (third["corrects"], third["value"]) == (2, 0.9)
    position = SITE.coordinates.to_metres(first["position"]["latitude"], first["position"]["longitude"])
    np.testing.assert_allclose(position[0], [2.0, 3.0], atol=1e-6)


def test_times_are_those_of_the_measurements(found):
    """What was not measured is moved by as much as the newest measurement was when it arrived."""
    times = [time / 1e9 - EPOCH_S for time, _ in of(found, "/dowsax/reading")]
    # The second was measured 92 s before it arrived; the correction arrived a second later.
    assert times == pytest.approx([-100.25, -90.0, 3.0 - 92.0], abs=1e-5)
    logged = {body["message"]: time / 1e9 - EPOCH_S for time, body in of(found, "/dowsax/log")}
    assert logged["Listening."] == pytest.approx(0.0 - 101.25, abs=1e-5)
    assert logged["Refused: `x` is missing. ({})"] == pytest.approx(3.0 - 92.0, abs=1e-5)
    assert logged["Reading 1 was withdrawn."] == pytest.approx(4.0 - 92.0, abs=1e-5)
    assert [body["level"] for _, body in of(found, "/dowsax/log")].count(3) == 2
    assert [time for _, _, time, _ in found] == sorted(time for _, _, time, _ in found)


def test_seconds_since_the_start_are_a_clock_of_their_own(tmp_path):
    """All of one file is by it, notes before the first reading included: none is half a century away."""
    records = [
        Note(ARRIVED.format(0), "feed", "Listening."),
        step(1, Reading((2.0, 3.0), 0.5, time=5.0)),
        step(2, Reading((2.0, 5.0), 0.5, time=15.5)),
        Note(ARRIVED.format(5), "alarm", "The feed is lost."),
    ]
    times = {time / 1e9 for _, _, time, _ in record(tmp_path / "a.mcap", records)}
    assert sorted(times) == pytest.approx([4.0, 5.0, 15.5, 18.5])


def test_without_times_it_is_when_they_arrived(tmp_path):
    found = record(tmp_path / "a.mcap", [step(1, Reading((2.0, 3.0), 0.5))])
    assert {time / 1e9 for _, _, time, _ in found} == {EPOCH_S + 1.0}


def test_a_log_without_readings_is_a_whole_file(tmp_path):
    found = record(tmp_path / "a.mcap", [Refusal(0, ARRIVED.format(0), "?", "no JSON")])
    assert [body["message"] for _, body in of(found, "/dowsax/log")] == ["Refused: no JSON (?)"]


def test_poses_and_fixes_are_where_new_readings_were_taken(found):
    """Height above ground; a heading to the north turns the pose by a quarter to the left of east."""
    poses = [body["pose"] for _, body in of(found, "/dowsax/pose")]
    assert [tuple(pose["position"].values()) for pose in poses] == [(2.0, 3.0, 12.0), (4.0, 3.0, 0.0)]
    assert poses[0]["orientation"]["w"] == 1.0
    assert poses[1]["orientation"]["z"] == pytest.approx(math.sqrt(0.5))
    fixes = [body for _, body in of(found, "/dowsax/fix")]
    metres = SITE.coordinates.to_metres(*np.transpose([(f["latitude"], f["longitude"]) for f in fixes]))
    np.testing.assert_allclose(metres, [[2.0, 3.0], [4.0, 3.0]], atol=1e-6)


def test_advice_belief_and_map_are_there_after_each_step(found):
    bodies = [body for _, body in of(found, "/dowsax/advice")]
    assert [body["number"] for body in bodies] == [1, 2, 3, 4]
    assert [(leg["position"]["x"], leg["distance"]) for leg in bodies[1]["ahead"]] == [(8.0, 4.5), (9.0, 3.2)]
    assert bodies[1]["way"][0]["y"] == 5.0
    assert ((bodies[1]["aim"]["x"], bodies[1]["aim"]["y"]), "aim" in bodies[0]) == ((9.0, 2.0), False)
    beliefs = [body for _, body in of(found, "/dowsax/belief")]
    assert len(beliefs) == 4
    assert beliefs[0]["parameters"][2] == {"name": "log_q", "unit": "", "mean": 1.0, "low": 0.0, "high": 2.0}
    assert (beliefs[0]["spread"], beliefs[0]["evidence"], "fit" in beliefs[0]) == (2.0, 2.5, False)
    maps = [json.loads(body["geojson"])["features"] for _, body in of(found, "/dowsax/map")]
    assert [feature["properties"]["name"] for feature in maps[1]] == [
        *("95 % region", "estimate", "next waypoint 1", "next waypoint 2", "next way")
    ]
    ring = np.array(maps[1][0]["geometry"]["coordinates"][0])[:, ::-1]
    radii = np.linalg.norm(SITE.coordinates.to_metres(*ring.T) - [4.0, 5.0], axis=1)
    np.testing.assert_allclose(radii, 3.0, atol=1e-6)
    ((_, site),) = of(found, "/dowsax/site")
    names = [each["properties"]["name"] for each in json.loads(site["geojson"])["features"]]
    assert names == ["geofence", "no-go area"]
    pond = np.array(json.loads(site["geojson"])["features"][1]["geometry"]["coordinates"][0])[:-1, ::-1]
    np.testing.assert_allclose(SITE.coordinates.to_metres(*pond.T), POND, atol=1e-6)


def test_a_site_in_metres_has_poses_and_no_map(tmp_path):
    found = record(tmp_path / "a.mcap", [step(1, Reading((2.0, 3.0), 0.5, time=1.0))], hill_site())
    topics = {"/dowsax/reading", "/dowsax/pose", "/dowsax/advice", "/dowsax/belief", "/dowsax/log"}
    assert {topic for topic, _, _, _ in found} == topics


def test_each_searcher_has_topics_of_its_own(tmp_path):
    records = [
        step(1, Reading((2.0, 3.0), 0.5, time=1.0, searcher="anna"), searcher="anna"),
        step(2, Reading((3.0, 3.0), 0.5, time=2.0, searcher="ben / two"), searcher="ben / two"),
    ]
    topics = {topic for topic, _, _, _ in record(tmp_path / "a.mcap", records)}
    assert {f"/dowsax/{what}/anna" for what in ("pose", "fix", "map")} < topics
    assert "/dowsax/pose/ben-two" in topics


def test_a_path_has_no_pose(tmp_path):
    reading = Reading((2.0, 3.0), 0.5, time=1.0, far_end=(9.0, 3.0))
    changes = {"next_far_end": (9.0, 9.0), "next_path": "south", "bearing": None, "distance": None}
    found = record(tmp_path / "a.mcap", [step(1, reading, **changes)])
    assert of(found, "/dowsax/pose") == []
    assert of(found, "/dowsax/reading")[0][1]["far_end"]["x"] == 9.0
    assert of(found, "/dowsax/advice")[0][1]["path"] == "south"


KILLED = """
import os, signal, sys
sys.path[:0] = sys.argv[2:]
from test_mcap_recording import HEADER, SITE, Reading, Recording, step
recording = Recording(open(sys.argv[1], "wb"), SITE, HEADER)
for number in range(1, 6):
    recording.add(step(number, Reading((2.0, 3.0), 0.5, time=float(number))))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_recording_is_whole_up_to_its_last_record(tmp_path):
    path = tmp_path / "mission.mcap"
    tests = Path(__file__).parents[1]
    folders = [str(tests / "report"), str(tests / "mission")]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), *folders], capture_output=True)
    assert killed.returncode == -9, killed.stderr
    found = read_what_is_there(path)
    assert [body["number"] for _, body in of(found, "/dowsax/reading")] == [1, 2, 3, 4, 5]
    whole = path.read_bytes()
    # Cut anywhere, the chunks before the cut are there.
    numbers = [len(found)]
    for length in (len(whole) - 7, len(whole) * 2 // 3, len(whole) * 2 // 5):
        path.write_bytes(whole[:length])
        numbers.append(len(read_what_is_there(path)))
    assert numbers[0] == numbers[1] > numbers[2] > numbers[3] > 0


def is_readable(rules):
    """Whether Foxglove's parser takes a schema: plain types, objects, and lists of these."""
    if rules.get("type") != "object" or "properties" not in rules:
        return False
    for part in rules["properties"].values():
        if "oneOf" in part:
            if not all(isinstance(choice["const"], int) for choice in part["oneOf"]):
                return False
            continue
        inner = part["items"] if part["type"] == "array" else part
        plain = inner["type"] in ("boolean", "string", "number", "integer")
        if not plain and not is_readable(inner):
            return False
    return True


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_such_as_foxglove_reads(kind):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    assert SCHEMAS[kind]["title"] == kind
    assert is_readable(SCHEMAS[kind])


class Advising:
    """As an advisor: it adds what it is given to its log, and refuses what has no value."""

    plan = latest = step = None

    def __init__(self, log):
        self.log, self.history = log, type("History", (), {"count": 0})

    def answer(self, request, given):
        if "value" not in request.keys:
            raise Refused("`value` is missing.")
        number = self.history.count + 1
        self.step = step(number, Reading((2.0, 3.0), request.keys["value"], time=10.0 * number))
        self.history.count = number
        self.log.append(self.step)
        return advice(number)

    def note_refusal(self, given, reason):
        self.log.refuse(given, reason)

    def note(self, what, text):
        self.log.note(what, text)


@pytest.fixture
def live(tmp_path):
    log = MissionLog.create(tmp_path / "mission.log", HEADER)
    yield Advising(log), tmp_path / "mission.log", tmp_path / "live.mcap"
    log.close()


def test_a_live_recording_is_that_of_the_finished_log(live, tmp_path):
    advisor, log, path = live
    one = RecordedAdvisor(advisor, log, path, pytest.fail)
    one.note("feed", "Listening.")
    one.answer(Request({"value": 0.5}), "{}")
    with pytest.raises(Refused):
        one.answer(Request({}), "{}")
    one.answer(Request({"value": 0.7}), "{}")
    one.note_refusal("?", "no JSON")
    before = read_what_is_there(path)
    assert len(of(before, "/dowsax/reading")) == 2
    assert len(of(before, "/dowsax/log")) == 5
    one.close()
    assert sorted(map(repr, read(path))) == sorted(map(repr, before))
    export_recording(MissionLog.open(log), tmp_path / "whole.mcap")
    whole = read(tmp_path / "whole.mcap")
    for topic in ("/dowsax/reading", "/dowsax/advice", "/dowsax/belief", "/dowsax/fix", "/dowsax/map"):
        assert of(whole, topic) == of(before, topic)


def test_a_mission_that_continues_has_one_whole_file(live):
    """Also where the program before was killed; but no other file is replaced."""
    advisor, log, path = live
    for value in (0.5, 0.7):
        one = RecordedAdvisor(advisor, log, path, pytest.fail)
        one.answer(Request({"value": value}), "{}")
        one.close()
        path.write_bytes(path.read_bytes()[:-200])
    one = RecordedAdvisor(advisor, log, path, pytest.fail)
    one.close()
    assert [body["value"] for _, body in of(read(path), "/dowsax/reading")] == [0.5, 0.7]
    for other in (b"x,y,value\n", path.read_bytes().replace(b"location-gain", b"another-gain!")):
        path.write_bytes(other)
        with pytest.raises(ValueError, match=r"live\.mcap is no recording of this mission: choose another"):
            RecordedAdvisor(advisor, log, path, pytest.fail)
        assert path.read_bytes() == other


def test_a_full_disk_ends_the_recording_and_not_the_mission(live, monkeypatch):
    advisor, log, path = live
    said = []
    one = RecordedAdvisor(advisor, log, path, said.append)

    def full(self, record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mcap_recording.Recording, "add", full)
    assert one.answer(Request({"value": 0.5}), "{}").number == 1
    assert one.answer(Request({"value": 0.6}), "{}").number == 2
    one.close()
    assert len(said) == 1
    assert "could not be written (No space left on device): the recording ends" in said[0]


def test_a_recording_ends_on_a_disk_that_is_still_full(live, monkeypatch):
    """What the file has in its buffer is written when it is closed."""
    advisor, log, path = live
    said = []
    one = RecordedAdvisor(advisor, log, path, said.append)
    stream = one._stream
    monkeypatch.setattr(one, "_stream", create_autospec(stream, instance=True))
    one._stream.close.side_effect = OSError(28, "No space left on device")
    one.close()
    stream.close()
