"""Which readings stand after corrections, and by what an earlier one is recognised."""

import pytest

from dowsax.mission.history import History
from dowsax.mission.log import Step
from dowsax.mission.messages import Target
from dowsax.survey.reading import Reading, Refused


def step(number, reading, corrects=None, held_wind=False):
    body = None if reading is None else reading.to_json()
    return Step(number, "", "", body, {}, corrects=corrects, held_wind=held_wind)


def made(value, **more):
    return Reading((1.0, 2.0), value, **more)


def test_withdrawn_readings_do_not_count_and_corrected_ones_keep_their_place():
    history = History.of(step(number, made(float(number))) for number in (1, 2, 3))
    for more in (step(4, None, corrects=1), step(5, made(2.5), corrects=2), step(6, made(6.0))):
        history.add(more)
    assert [reading.value for reading in history.readings()] == [2.5, 3.0, 6.0]
    assert [number for number, _ in history.active()] == [2, 3, 6]
    assert history.count == 6
    assert history.is_withdrawn(1)
    assert not history.is_withdrawn(2)
    before, after = history.around(3)
    assert ([item.value for item in before], [item.value for item in after]) == ([2.5], [6.0])


def test_a_held_wind_is_that_of_the_reading_that_now_comes_before():
    """Also where the one it was taken from is withdrawn or corrected; its own where none is left."""
    west, north = (3.0, 0.0), (0.0, -2.0)
    steps = [step(1, made(1.0, wind=west)), step(2, made(2.0, wind=north))]
    steps += [step(3, made(3.0, wind=north), held_wind=True), step(4, made(4.0, wind=north), held_wind=True)]

    def winds(*more):
        return [reading.wind for reading in History.of([*steps, *more]).readings()]

    assert winds() == [west, north, north, north]
    assert winds(step(5, None, corrects=2)) == [west, west, west]
    assert winds(step(5, made(2.0, wind=west), corrects=2)) == [west, west, west, west]
    assert winds(step(5, None, corrects=1), step(6, None, corrects=2)) == [north, north]


def test_a_held_wind_is_not_the_readings_own():
    """It is recognised whatever wind it would have now, and what is corrected of it leaves it without one."""
    west, north = (3.0, 0.0), (0.0, -2.0)
    steps = [step(1, made(1.0, wind=west)), step(2, made(2.0, wind=west, id="a"), held_wind=True)]
    history = History.of([*steps, step(3, made(1.0, wind=north), corrects=1)])
    assert history.step_of(made(2.0, wind=north, id="a"), held_wind=True) == 2
    with pytest.raises(Refused, match="another reading"):
        history.step_of(made(2.0, wind=north, id="a"))
    assert history.original(1).wind == north
    assert history.original(2).wind is None


def test_a_reading_that_is_sent_again_is_recognised():
    """By its id, as it was or as it was corrected; else by its time; also when it is withdrawn."""
    first, timed = made(1.0, id="a"), made(2.0, time=5.0)
    history = History.of(
        [step(1, first), step(2, timed), step(3, made(1.5, id="a"), corrects=1), step(4, None, corrects=2)]
    )
    assert history.step_of(first) == 1
    assert history.step_of(made(1.5, id="a")) == 3
    assert history.step_of(timed) == 2
    assert history.step_of(made(2.0, time=6.0)) is None
    assert history.step_of(made(2.0)) is None
    assert history.step_of(made(7.0, id="b")) is None
    with pytest.raises(Refused, match=r"'a' was given to another reading.*\"correct\": true"):
        history.step_of(made(9.0, id="a"))


def test_an_earlier_version_is_found_by_the_step_after_which_it_counted():
    """Without a wind that it took from another reading."""
    west = (-1.0, 0.0)
    history = History.of([step(1, made(1.0, wind=west)), step(2, made(2.0, wind=west), held_wind=True)])
    history.add(step(3, made(2.5, wind=west), corrects=2))
    assert history.version(2, 2) == made(2.0)
    assert history.version(2, 9) == made(2.5, wind=west)
    assert history.step_with(2, made(2.5, wind=west)) == 3
    with pytest.raises(Refused, match="Reading 2 counts"):
        history.version(2, None)
    history.add(step(4, None, corrects=2))
    assert history.version(2, None) == made(2.5, wind=west)
    assert history.step_with(2, made(2.5, wind=west)) is None


def test_a_correction_that_is_sent_again_is_recognised():
    history = History.of([step(1, made(1.0)), step(2, made(2.0)), step(3, None, corrects=1)])
    history.add(step(4, made(2.5), corrects=2))
    assert history.correction(1, None) == 3
    assert history.correction(1, made(1.0)) is None
    assert history.correction(2, made(2.5)) == 4
    # As it was before is another correction, and so is taking it back.
    assert history.correction(2, made(2.0)) is None
    assert history.correction(2, None) is None


def test_finds_the_reading_that_is_meant():
    history = History.of([step(1, made(1.0, id="a")), step(2, None, corrects=1)])
    assert history.find(Target(id="a")) == history.find(Target(number=1)) == 1
    for wrong, words in ((Target(id="b"), "The reading 'b'"), (Target(number=2), "Reading 2")):
        with pytest.raises(Refused, match=f"{words} was never recorded"):
            history.find(wrong)
