"""The advisor beside a flight: nothing that was asked is lost, whenever it was asked."""

import json
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest

from dowsax.journal import NotRecorded
from dowsax.mission.advice import SEARCHING, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.events import STAY, Advised
from dowsax.mission.flight.worker import RETRY_S, AdvisorWorker
from dowsax.mission.messages import parse_request
from dowsax.survey.reading import Reading

ADVICE = create_autospec(
    Advice, instance=True, status=SEARCHING, next_position=(1.0, 2.0), next_height=None, why="more to learn"
)


class InTurn(Executor):
    """Runs every job at once, as a thread does that is faster than the one that asks."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_full_disk_is_said_once_and_that_it_is_over():
    advisor = create_autospec(Advisor, instance=True, latest=ADVICE)
    advisor.answer.side_effect = [NotRecorded("The disk is full."), NotRecorded("The disk is full."), ADVICE]
    worker = AdvisorWorker(lambda: advisor, InTurn())
    worker.ask(parse_request({"x": 1, "y": 2, "value": 3}), "given")
    _, full = worker.poll(0.0)
    assert full == Note("The disk is full.", is_alarm=True)
    assert list(worker.poll(RETRY_S)) == []
    over, answer = worker.poll(2 * RETRY_S)
    assert over == Note("Readings are recorded again.")
    assert isinstance(answer, Advised)


def test_a_reading_between_the_building_and_the_first_poll_counts():
    advisor = create_autospec(Advisor, instance=True, latest=ADVICE)
    advisor.answer.return_value = ADVICE
    worker = AdvisorWorker(lambda: advisor, InTurn())
    worker.ask(parse_request({"x": 1, "y": 2, "value": 3}), "given")
    first, answer = worker.poll(0.0)
    assert isinstance(first, Advised)
    assert answer == Advised(0.0, SEARCHING, (1.0, 2.0), None, "more to learn")
    advisor.answer.assert_called_once()


def slow_worker(executor, add):
    """A worker with five readings, which an advisor adds one after the other."""
    advisor = create_autospec(Advisor, instance=True, latest=ADVICE)
    advisor.plan = SimpleNamespace(stations=SimpleNamespace(sensor=SimpleNamespace(ground=0.0)))
    advisor.add.side_effect = add
    worker = AdvisorWorker(lambda: advisor, executor)
    for number in range(5):
        worker.observe([Reading((1.0, 2.0), float(number), id=str(number))], STAY)
    return worker, advisor


def test_at_the_end_readings_that_wait_are_added():
    def add(reading, given):
        time.sleep(0.05)
        return ADVICE

    with ThreadPoolExecutor(1) as executor:
        worker, advisor = slow_worker(executor, add)
        assert worker.finish(60.0) == 0
    assert [args[0].id for args, _ in advisor.add.call_args_list] == [*"01234"]
    advisor.note_refusal.assert_not_called()


def test_what_is_not_added_in_time_is_written_down():
    """But for the one that is being added, which is waited for."""
    has_begun, may_end = threading.Event(), threading.Event()

    def add(reading, given):
        has_begun.set()
        may_end.wait(60.0)
        return ADVICE

    with ThreadPoolExecutor(1) as executor:
        worker, advisor = slow_worker(executor, add)
        assert has_begun.wait(60.0)
        assert worker.finish(0.05) == 4
        may_end.set()
    assert advisor.add.call_count == 1
    refused = [args for args, _ in advisor.note_refusal.call_args_list]
    assert [json.loads(given)["id"] for given, _ in refused] == [*"1234"]
    assert {reason for _, reason in refused} == {"The flight ended before it was counted: send it again."}


@pytest.mark.parametrize(("then", "late"), [(ADVICE, 0), (NotRecorded("The disk is full."), 1)])
def test_at_the_end_a_full_disk_is_tried_once_more(then, late):
    advisor = create_autospec(Advisor, instance=True, latest=ADVICE)
    advisor.answer.side_effect = [NotRecorded("The disk is full."), then]
    worker = AdvisorWorker(lambda: advisor, InTurn())
    worker.ask(parse_request({"x": 1, "y": 2, "value": 3}), "given")
    assert worker.finish(1.0) == late
    assert [args[0] for args, _ in advisor.note_refusal.call_args_list] == late * ["given"]
