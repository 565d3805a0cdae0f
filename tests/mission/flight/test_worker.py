"""The advisor beside a flight: nothing that was asked is lost, whenever it was asked."""

from concurrent.futures import Executor, Future
from unittest.mock import create_autospec

from dowsax.journal import NotRecorded
from dowsax.mission.advice import SEARCHING, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.events import Advised
from dowsax.mission.flight.worker import RETRY_S, AdvisorWorker
from dowsax.mission.messages import parse_request

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
