"""Queues are served in turn, each in order and one at a time; what is long holds up nothing short."""

import threading
from concurrent.futures import CancelledError

import pytest


@pytest.fixture
def scheduler():
    """(settings) -> a scheduler that is closed at the end."""
    from dowsax.console.scheduler import Scheduler

    made = []

    def build(**settings):
        made.append(Scheduler(**settings))
        return made[-1]

    yield build
    for one in made:
        one.close()


def blocked(scheduler, queue="gate", **kind):
    """Keep a worker busy until the event is set."""
    begun, gate = threading.Event(), threading.Event()

    def work():
        begun.set()
        gate.wait(30)

    future = scheduler.submit(queue, work, **kind)
    assert begun.wait(30)
    return gate, future


def test_queues_take_turns(scheduler):
    """One queue with much to do, and two with little: nobody waits for more than one piece of each other."""
    one = scheduler(num_short=1, num_long=1)
    gate, _ = blocked(one)
    done = []
    for queue in ("busy", "busy", "busy", "busy", "rare", "late"):
        last = one.submit(queue, lambda queue=queue: done.append(queue))
    finished = [one.submit("busy", lambda: done.append("busy"))]
    gate.set()
    for future in (last, *finished):
        future.result(30)
    assert done == ["busy", "rare", "late", "busy", "busy", "busy", "busy"]


def test_a_queue_is_in_order_and_one_at_a_time(scheduler):
    """Four workers, one queue: never two at once."""
    one = scheduler(num_short=4)
    running, most, done = [0], [0], []

    def work(number):
        running[0] += 1
        most[0] = max(most[0], running[0])
        done.append(number)
        running[0] -= 1

    futures = [one.submit("queue", lambda number=number: work(number)) for number in range(50)]
    for future in futures:
        future.result(30)
    assert done == list(range(50))
    assert most == [1]


def test_a_full_queue_takes_nothing_more_and_the_others_do(scheduler):
    from dowsax.console.scheduler import QueueFull

    one = scheduler(num_short=1, max_waiting=2)
    gate, _ = blocked(one, "queue")
    futures = [one.submit("queue", lambda: None) for _ in range(2)]
    with pytest.raises(QueueFull, match="more slowly"):
        one.submit("queue", lambda: None)
    futures += [one.submit("other", lambda: None), one.submit("queue", lambda: None, limited=False)]
    gate.set()
    for future in futures:
        future.result(30)


def test_what_waits_aside_takes_no_room_and_goes_last(scheduler):
    """As much as may wait aside does: the queue has its whole room, and what comes later goes first."""
    from dowsax.console.scheduler import MAX_ASIDE, QueueFull

    one = scheduler(num_short=1, max_waiting=2)
    gate, _ = blocked(one, "queue")
    done = []
    futures = [one.submit("queue", lambda: done.append("look"), aside=True) for _ in range(MAX_ASIDE)]
    with pytest.raises(QueueFull, match="again"):
        one.submit("queue", lambda: None, aside=True)
    futures += [one.submit("queue", lambda: done.append("reading")) for _ in range(2)]
    with pytest.raises(QueueFull, match="more slowly"):
        one.submit("queue", lambda: None)
    assert one.num_waiting("queue") == MAX_ASIDE + 2
    gate.set()
    for future in futures:
        future.result(30)
    assert done == ["reading"] * 2 + ["look"] * MAX_ASIDE


def test_what_is_long_holds_up_nothing(scheduler):
    """While everything that may take long is busy, short work of other queues is done."""
    one = scheduler(num_short=1, num_long=1)
    gate, slow = blocked(one, "compiling", is_long=lambda: True)
    assert one.submit("quick", lambda: "done").result(30) == "done"
    behind = one.submit("compiling", lambda: "after")
    assert not slow.done()
    assert not behind.done()
    gate.set()
    assert behind.result(30) == "after"


def test_an_error_is_its_own(scheduler):
    one = scheduler(num_short=1)
    failed = one.submit("queue", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failed.result(30)
    assert one.submit("queue", lambda: "well").result(30) == "well"


def test_an_exclusive_job_runs_alone(scheduler):
    """What asks to be alone waits for the others, and they for it."""
    one = scheduler(num_short=2, num_long=1)
    gate, other = blocked(one, "other")
    seen, asked = [], threading.Event()

    def tidy():
        asked.set()
        one.run_exclusively(lambda: seen.append(other.done()))

    tidied = one.submit("tidy", tidy)
    assert asked.wait(30)
    assert not tidied.done()
    gate.set()
    tidied.result(30)
    assert seen == [True]
    assert one.submit("other", lambda: "goes on").result(30) == "goes on"


def test_closing_cancels_jobs_that_have_not_started(scheduler):
    one = scheduler(num_short=1)
    gate, running = blocked(one, "queue")
    waiting = one.submit("queue", lambda: None)
    closing = threading.Thread(target=one.close)
    closing.start()
    with pytest.raises(CancelledError):
        waiting.result(30)
    gate.set()
    closing.join(30)
    assert running.done()
    with pytest.raises(RuntimeError, match="closed"):
        one.submit("queue", lambda: None)
