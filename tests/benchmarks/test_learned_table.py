"""The table of learned policies, on made-up searches: what is measured, kept, compared and told."""

import csv
import json
import math
import re

import jax
import numpy as np
import pytest
from made_runs import made_run

from benchmarks import elsewhere, learned, learning_tables, searches_tables, table_files
from benchmarks.machine import ROOT
from benchmarks.measured import compute, open_store, read_measured
from benchmarks.searches import FIELDS
from benchmarks.table_files import estimate, estimates, read_lines, where
from benchmarks.train_all import SEEDED, SHIPPED
from dowsax.evaluate.tables import labelled_csv
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments import fingerprint
from dowsax.experiments.records import pack
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.runner import FIRST_SHARD_S
from dowsax.experiments.store import Store
from dowsax.policies.networks import PaperNetwork, PaperSizes
from dowsax.policies.stored import Card, save

SEARCHES = 40


@pytest.fixture
def found():
    """Ours walks half as far again as the straight walk, pfrl twice as far; every search stops."""
    straight = np.linspace(10, 30, SEARCHES)
    return dict(
        [
            made_run("straight", straight, weights=None),
            made_run("att-pfrl", 1.5 * straight),
            made_run("pfrl", 2.0 * straight, error=[3.0] * 4 + [0.1] * (SEARCHES - 4)),
        ]
    )


def planners(tmp_path, found, **changes):
    """A table in which infotaxis is what pfrl is."""
    lines = [
        (labels | {"policy": "infotaxis" if labels["policy"] == "pfrl" else "straight"} | changes, numbers)
        for labels, numbers in learned.lines_of(found)
        if labels["policy"] != "att-pfrl"
    ]
    path = tmp_path / "searches.csv"
    path.write_text(labelled_csv(lines), encoding="utf-8")
    return path


@pytest.fixture
def computed(monkeypatch):
    """The policies whose searches were computed; each search has its error fall to 0.1 m."""
    policies = []

    def compute(run, start, stop, progress, threads):
        policies.append(run.policy)
        columns = {
            name: np.zeros((3, 2) if name in ("position", "mean") else 3, np.float32) for name in Row._fields
        }
        columns |= {"error": np.array([5, 2, 0.1], np.float32), "mass": np.array([0, 0.5, 0.99], np.float32)}
        columns |= {"spread": np.array([9, 4, 0.2], np.float32)}
        theta = np.arange(7, dtype=np.float32)
        return pack([Episode(theta + number, theta, Row(**columns), 0.5) for number in range(start, stop)])

    monkeypatch.setattr(Run, "compute", compute)
    return policies


def test_where_searches_ended_is_what_was_recorded(tmp_path, computed):
    store, run = open_store(tmp_path), Run("straight", "gas", episodes=SEARCHES)
    compute(store, [run], math.inf)
    (measured,) = read_measured(store, [run]).values()
    assert measured.theta.shape == (SEARCHES, 7)
    assert measured.seconds.tolist() == [0.5] * SEARCHES
    for rule in (CREDIBLE, CONTRACTION):
        end = measured.ends[rule]
        assert end.stopped.all()
        assert set(end.reading) == {3}
        assert set(end.error) == {np.float32(0.1)}
    assert measured.about["policy"] == "straight"


def test_complete_runs_are_not_computed_again(tmp_path, computed, capsys):
    store = Store(tmp_path, shard_size=SEARCHES)
    runs = [Run(name, "gas", episodes=SEARCHES) for name in ("straight", "greedy", "random")]
    compute(store, runs[:2], 1000.0)
    assert capsys.readouterr().err == ""
    compute(store, runs, FIRST_SHARD_S - 1)
    assert computed == ["straight", "greedy"]
    assert "1 of 3 runs are incomplete" in capsys.readouterr().err
    assert list(read_measured(store, runs)) == runs[:2]
    assert read_measured(store, [Run("straight", "gas", episodes=9)]) == {}
    with pytest.raises(ValueError, match="Unknown policy 'dreaming'"):
        compute(store, [Run("dreaming", "gas")], 1000.0)


def weights(path, entry, steps=None, **changes):
    """A policy that was trained as the entry says, but for changes."""
    card = Card("moments", settings=entry.settings() | changes, steps=entry.steps if steps is None else steps)
    save(path, PaperNetwork.build(jax.random.key(0), PaperSizes(5, 4, 8)), card)


def entry_of(name, entries=SHIPPED):
    return next(entry for entry in entries if entry.name == name)


def test_the_plan_is_what_there_are_weights_for(tmp_path):
    def planned(parts, fields):
        return learned.plan(learned.policies_in(tmp_path), parts, fields)

    assert planned(learned.PARTS, FIELDS) == []
    for name in ("att-pfrl.safetensors", "pfrl/pfrl.safetensors", "agdc-ee-ood/agdc-ee-ood.safetensors"):
        weights(tmp_path / name, entry_of((tmp_path / name).stem))
    plan = planned(["id"], FIELDS)
    assert [one.policy for one in plan] == ["straight", "circle", "att-pfrl", "pfrl"] * len(FIELDS)
    assert [one.field for one in plan[:5]] == ["temperature"] * 4 + ["concentration"]
    plan = planned(["ood"], ["gas"])
    assert [(one.scenario, one.policy) for one in plan] == [
        (region, policy) for region in learned.REGIONS for policy in ("straight", "agdc-ee-ood")
    ]
    seeded = next(entry for entry in SEEDED if (entry.method, entry.seed) == ("pfrl", 2))
    weights(tmp_path / seeded.label / "pfrl.safetensors", seeded)
    plan = planned(["id", "ablation"], ["gas"])
    assert [one.policy for one in plan] == ["straight", "circle", "att-pfrl", "pfrl", "pfrl-seed-2"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 7}, "it has 7 of"),
        ({"num_searches": 14}, "trained with other settings (num_searches)"),
        ({"choices": {}}, "trained with other settings (choices)"),
    ],
)
def test_runs_that_are_not_those_of_the_plan_are_left_out(tmp_path, capsys, changes, said):
    """Of fewer steps, or trained otherwise; a rehearsal takes any."""
    weights(tmp_path / "pfrl.safetensors", entry_of("pfrl"), **changes)
    assert learned.weights_in(tmp_path) == {}
    assert said in capsys.readouterr().err
    assert list(learned.weights_in(tmp_path, tiny=True)) == ["pfrl"]


def test_runs_of_other_code_are_refused(tmp_path, monkeypatch, computed):
    run = Run("straight", "gas", episodes=SEARCHES)
    compute(open_store(tmp_path), [run], math.inf)
    mark = open_store(tmp_path).about(run)["code"]
    monkeypatch.setattr(fingerprint, "code_hash", lambda: "other")
    with pytest.raises(ValueError, match=r"with the hash [0-9a-f]{16}, here it is other"):
        read_measured(open_store(tmp_path), [run])
    assert list(read_measured(open_store(tmp_path, [mark]), [run])) == [run]


def test_the_mark_of_code_is_of_what_it_does():
    source = 'def half(number):\n    """Said."""\n    return number / 2  # why\n'
    mark = fingerprint.hash_sources([source])
    assert fingerprint.hash_sources(["def half(number):\n    return (number / 2)\n"]) == mark
    assert fingerprint.hash_sources([source.replace("2", "3")]) != mark
    assert fingerprint.hash_sources([source.replace("half", "third")]) != mark


def test_paths_are_held_against_the_straight_walk(found):
    ratios = {
        (labels["policy"], labels["stop"]): numbers["path_ratio"].value
        for labels, numbers in learned.lines_of(found)
    }
    assert ratios["straight", str(CREDIBLE)] is None
    assert ratios["att-pfrl", str(CREDIBLE)] == pytest.approx(1.5)
    assert ratios["pfrl", str(CONTRACTION)] == pytest.approx(2.0)


def test_other_sources_are_not_paired(found):
    wanted, measured = made_run("agdc-ee", np.ones(SEARCHES))
    found[wanted] = measured._replace(theta=measured.theta + 1)
    with pytest.raises(ValueError, match="agdc-ee and straight did not search for the same sources"):
        learned.lines_of(found)


def test_planners_come_from_their_own_table(tmp_path, found):
    lines = learned.planners_of(planners(tmp_path, found), found)
    compared = learned.against(found, lines)
    told = {
        (labels["rival"], labels["from"]): numbers["path_length"]
        for labels, numbers in compared
        if labels["stop"] == str(CREDIBLE)
    }
    assert set(told) == {("pfrl", "the same searches"), ("infotaxis", "intervals")}
    # 1.5 and 2 times a mean of 20 m; the searches have much in common, the tables nothing.
    paired, apart = told["pfrl", "the same searches"], told["infotaxis", "intervals"]
    assert paired.value == pytest.approx(-10.0, abs=1e-4)
    assert apart.value == pytest.approx(-10.0, abs=1e-4)
    assert paired.high - paired.low < apart.high - apart.low


@pytest.mark.parametrize("changes", [{"seed": "1"}, {"particles": "512"}, {"preset": "paper"}])
def test_planners_of_other_searches_are_refused(tmp_path, found, changes):
    name, value = next(iter(changes.items()))
    with pytest.raises(ValueError, match=f"has {name} {value}, the learned policies have"):
        learned.planners_of(planners(tmp_path, found, **changes), found)


@pytest.mark.parametrize("device", ["abacus", "slide rule"])
def test_another_straight_walk_means_other_searches(tmp_path, found, device, capsys):
    """Refused where it was measured on the same kind of device, told on another."""
    path = planners(tmp_path, found, device=device)
    ours = next(wanted for wanted in found if wanted.policy == "straight")
    found[ours] = made_run("straight", 1.1 * np.linspace(10, 30, SEARCHES), weights=None)[1]
    if device == "abacus":
        with pytest.raises(ValueError, match=r"straight on temperature .*path_length_stopped 22"):
            learned.planners_of(path, found)
    else:
        assert learned.planners_of(path, found)
        assert "path_length_stopped 22.0" in capsys.readouterr().err


def test_lines_survive_the_file(tmp_path, found):
    learned.write(found, tmp_path, planners(tmp_path, found))
    lines = read_lines(tmp_path / learned.LEARNED)
    line = where(lines, policy="pfrl", stop=str(CREDIBLE))[0]
    assert estimate(line, "false_stop_given_stop").value == pytest.approx(4 / SEARCHES)
    assert line["steps"] == "5000"
    assert set(estimates(line)) >= {"stop_rate", "path_ratio", "false_stop_given_stop"}
    assert read_lines(tmp_path / "nowhere.csv") == []


def test_results_go_into_the_cards(tmp_path, found, monkeypatch):
    monkeypatch.setattr(learned, "PRETRAINED_FOLDER", tmp_path)
    (tmp_path / "att-pfrl.json").write_text('{"steps": 3, "digest": "abc"}')
    learned.write_cards(found)
    card = json.loads((tmp_path / "att-pfrl.json").read_text())
    assert card["steps"] == 3
    told = card["results"]["id"]["temperature"][str(CREDIBLE)]
    assert told["path_ratio"][::3] == [pytest.approx(1.5), SEARCHES]
    assert not (tmp_path / "pfrl.json").exists()
    (tmp_path / "att-pfrl.json").write_text('{"steps": 3, "digest": "def"}')
    with pytest.raises(ValueError, match="of other weights than those that were measured"):
        learned.write_cards(found)


def test_the_page_says_what_is_reached(tmp_path, found):
    learned.write(found, tmp_path, planners(tmp_path, found))
    tables = learning_tables.tables(tmp_path)
    # How the shipped policies were trained is on their cards.
    assert set(tables) == {"headline", "levels", "best", "fields", "training"}
    shown = [part.strip() for part in tables["headline"].splitlines()[2].split("|")[1:-1]]
    assert [bool(cell.strip("–")) for cell in shown] == [True, True, True, False]
    assert shown[2].startswith("infotaxis: ")
    # A rate of stops never stands without how many of them are false.
    assert all(re.search(r"\], \d\.\d{3} false; ", cell) for cell in shown[1:] if cell.strip("–"))
    row = tables["levels"].splitlines()[2]
    assert "≥ 0.97 reached" in row
    assert "1.50 [1.50, 1.50], ≤ 1.3 missed" in row
    assert "≤ 0.05 reached" in row
    verdict = tables["best"].splitlines()[2].split("|")
    assert [part.strip() for part in verdict[1:7]] == [
        *("temperature", str(CREDIBLE), "2", "yes", "none", "pfrl, infotaxis")
    ]
    policies = [line.split("|")[1].strip() for line in tables["fields"].splitlines()[4:]]
    assert policies == ["straight", "att-pfrl", "pfrl", "infotaxis"]


def test_each_table_has_its_file(tmp_path):
    (tmp_path / "other.md").write_text("stays")
    paths = table_files.write_tables(tmp_path, {"best": "| new |\n\n"})
    assert [path.name for path in paths] == ["best.md"]
    assert paths[0].read_text() == "| new |\n"
    assert (tmp_path / "other.md").read_text() == "stays"


def test_the_files_are_those_of_the_numbers():
    """What the docs include is made of the numbers beside it."""
    for name, text in learning_tables.tables(learned.DATA).items():
        path = table_files.TABLES / "learning" / f"{name}.md"
        assert path.read_text(encoding="utf-8").strip() == text.strip(), name
    with (learned.DATA / "searches.csv").open(encoding="utf-8") as file:
        fields = searches_tables.tables(list(csv.DictReader(file)))
    assert (table_files.TABLES / "searches/fields.md").read_text(encoding="utf-8").strip() == fields.strip()


def test_the_headline_is_that_of_the_readme():
    headline = learning_tables.tables(learned.DATA)["headline"]
    assert headline in (ROOT / "README.md").read_text(encoding="utf-8")


def test_elsewhere_is_held_against_where_it_was_trained(tmp_path):
    """Three quarters stop at home, a quarter in the west: in the mean a half, and a quarter is lost."""
    shares = dict(zip(elsewhere.REGIONS, (0.75, 0.25, 0.75), strict=True))
    stopped = {region: np.arange(SEARCHES) < share * SEARCHES for region, share in shares.items()}
    found = dict(
        made_run("att-pfrl-ood", np.ones(SEARCHES), scenario=region, stopped=stopped[region])
        for region in shares
    )
    learned.write(found, tmp_path, tmp_path / "searches.csv")
    row = [part.strip() for part in learning_tables.tables(tmp_path)["elsewhere"].splitlines()[2].split("|")]
    values = [part.split(" ")[0] for part in row[3:10]]
    assert values == ["0.750", "0.250", "0.750", "0.500", "+0.500", "+0.000", "+0.250"]
    assert not (tmp_path / learned.AGAINST).exists()


def test_the_interval_of_a_mean_of_regions_covers():
    """Of searches that stop in both regions together more often than by chance; the truth is 0.875.

    400 intervals of 95 % miss it 20 ± 4.4 times; five standard errors more are too many.
    """
    draws = np.random.default_rng(0).uniform(size=(400, 3, 200))
    shared = draws[:, 0] < 0.8
    chances = ((1, 0.5), (1, 0.25), (2, 0.5))
    home, west, east = (shared | (draws[:, which] < chance) for which, chance in chances)
    found = [elsewhere.numbers_of(*regions) for regions in zip(home, west, east, strict=True)]
    for name, truth in (("mean", 0.875), ("lost_mean", 0.025)):
        missed = sum(not one[name].low <= truth <= one[name].high for one in found)
        assert missed <= 20 + 5 * 4.4


def test_regions_of_other_weights_are_not_paired():
    found = dict(
        made_run("agdc-ee-ood", np.ones(SEARCHES), scenario=region, weights=f"of {region}")
        for region in elsewhere.REGIONS
    )
    with pytest.raises(ValueError, match="agdc-ee-ood was not measured alike in all regions"):
        elsewhere.lines_of(found)


def test_seeds_are_the_cases_of_an_ablation(tmp_path):
    """Stop rates 0.5, 0.6 and 0.7 on every field: 0.6 ± 4.303 · 0.1 / √3."""
    number = 10
    stopped = {seed: np.arange(number) < hits for seed, hits in enumerate((5, 6, 7))}
    found = dict(
        made_run(f"pfrl-seed-{seed}", np.full(number, 20.0), field=field, stopped=stopped[seed])
        for field in FIELDS
        for seed in stopped
    )
    found |= dict(made_run("straight", np.full(number, 10.0), field=field, weights=None) for field in FIELDS)
    learned.write(found, tmp_path, tmp_path / "searches.csv")
    assert {path.name for path in tmp_path.iterdir()} == {learned.ABLATION}
    rows = learning_tables.tables(tmp_path)["ablation"].splitlines()[2:]
    assert len(rows) == 1
    seeds = "0.500 0.600 0.700"
    assert [part.strip() for part in rows[0].split("|")[1:4]] == ["pfrl", seeds, "0.600 [0.352, 0.848]"]
    assert "2.00 [2.00, 2.00]" in rows[0]


def test_an_interval_over_seeds_ends_where_its_numbers_do():
    assert learning_tables.over_seeds([0.1, 0.9], 1.0)[1:3] == (0.0, 1.0)
    assert learning_tables.over_seeds([1.0, 9.0], math.inf).high == pytest.approx(5 + 12.706 * 4, rel=1e-4)


def test_levels_know_their_direction():
    from dowsax.evaluate.metrics import NOTHING, Estimate

    found = Estimate(0.96, 0.94, 0.98, 100)
    said = "0.96 [0.94, 0.98], "
    assert table_files.judged(found, 0.95, 2, least=True) == said + "≥ 0.95 reached"
    assert table_files.judged(found, 0.95, 2, least=False) == said + "≤ 0.95 missed, within the interval"
    assert table_files.judged(found, 0.99, 2, least=True) == said + "≥ 0.99 missed"
    assert table_files.judged(NOTHING, 0.99, least=True) == "not measured"
