"""What is asked for twice is done once; results stay where they never change, and in limited number."""

from concurrent.futures import Future

import pytest


@pytest.fixture
def work():
    """(name, settings) -> the work of a mission; `started` has the futures in order."""
    from dowsax.console.shared_work import SharedWork

    shared, started = SharedWork(), []

    def start():
        started.append(Future())
        return started[-1]

    def get(name="field", mission="one", **kind):
        return shared.get(mission, name, start, **kind)

    get.started, get.shared = started, shared
    return get


def test_work_under_way_is_shared_and_then_started_again(work):
    assert work() is work()
    assert work("other") is not work()
    assert len(work.started) == 2
    work().set_result(1)
    assert not work().done()
    assert len(work.started) == 3


def test_a_result_that_is_kept_stays_until_it_is_forgotten(work):
    work(is_kept=True).set_result(1)
    assert work(is_kept=True).result() == 1
    work.shared.forget("other")
    assert work(is_kept=True).done()
    work.shared.forget("one")
    assert not work(is_kept=True).done()


def test_neither_a_fault_nor_nothing_is_kept(work):
    """Nor what was cancelled: all are tried again."""
    work(is_kept=True).set_exception(ValueError("no"))
    work(is_kept=True).set_result(None)
    work(is_kept=True).cancel()
    assert not work(is_kept=True).done()
    assert len(work.started) == 4


def test_the_oldest_goes_where_there_is_no_room(work):
    from dowsax.console.shared_work import _MAX_KEPT

    for number in range(_MAX_KEPT + 1):
        work(str(number), is_kept=True).set_result(number)
    assert work(str(_MAX_KEPT), is_kept=True).done()
    assert work("1", is_kept=True).done()
    assert not work("0", is_kept=True).done()


def test_what_cannot_be_started_is_not_stored(work):
    def full():
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        work.shared.get("one", "field", full)
    assert not work().done()
