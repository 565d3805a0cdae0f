"""Problems by name or by object; what is unknown is refused in one line that says what there is."""

import pytest
from walks import BOOTSTRAP, NEVER

from dowsax.envs import REWARDS, SCENARIOS, Scenario, from_prior
from dowsax.envs.problem import STOPS, assemble, choose
from dowsax.inference import PRESETS, Credible
from dowsax.inference.stopping import StopRule
from dowsax.world import MODALITIES, benchmark_model


def test_names_stand_for_what_they_name():
    problem = assemble(
        "gas", "shift", "paper", "contraction", "right-stop", "raw", particles=99, max_readings=40
    )
    assert problem.search.model == benchmark_model("gas")
    assert problem.search.scenario is SCENARIOS["shift"]
    assert problem.search.preset == PRESETS["paper"].with_particles(99)
    assert problem.search.max_readings == 40
    assert problem.stop is STOPS["contraction"]
    assert problem.reward is REWARDS["right-stop"]
    assert problem.num_features == 3
    assert assemble().num_features == 17


def test_objects_are_taken_as_they_are():
    model, scenario = benchmark_model("energy"), Scenario(from_prior)
    problem = assemble(model, scenario, BOOTSTRAP, NEVER, REWARDS["entropy"])
    assert problem.search.model is model
    assert problem.search.scenario is scenario
    assert problem.search.preset is BOOTSTRAP
    assert problem.stop is NEVER


@pytest.mark.parametrize(
    ("setting", "known"),
    [
        ("field", MODALITIES),
        ("scenario", SCENARIOS),
        ("preset", PRESETS),
        ("stop", STOPS),
        ("reward", REWARDS),
        ("observation", {"belief": 0, "raw": 0}),
    ],
)
def test_an_unknown_name_is_answered_by_the_known_ones(setting, known):
    with pytest.raises(ValueError, match=r"Unknown .* 'bogus'; known are ") as caught:
        assemble(**{setting: "bogus"})
    assert all(name in str(caught.value) for name in known)
    assert "\n" not in str(caught.value)


def test_what_is_neither_name_nor_object_is_refused():
    with pytest.raises(ValueError, match=r"Not a stop rule: 3; known by name are credible, .*fixed\."):
        choose("stop rule", 3, STOPS, StopRule)
    assert choose("stop rule", "credible", STOPS, StopRule) == Credible()


@pytest.mark.parametrize(
    ("settings", "line"),
    [({"max_readings": 1}, "`max_readings` must be at least 2"), ({"particles": 3}, "at least 16")],
)
def test_numbers_out_of_range_are_refused(settings, line):
    with pytest.raises(ValueError, match=line):
        assemble(**settings)
