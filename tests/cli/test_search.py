"""`dowsax search`: it does what the evaluation does, tells how it ended, and keeps the truth to the end."""

import contextlib
import io
import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from dowsax import cli
from dowsax.cli import search_view
from dowsax.cli.search_run import LOST, STOPPED, SearchConfig, Searcher, SearchLog
from dowsax.cli.search_view import view, watching
from dowsax.cli.search_words import claim, truth_sentence
from dowsax.evaluate.stops import TraceRule
from dowsax.experiments.records import unpack
from dowsax.experiments.run import Run
from dowsax.experiments.runner import compute
from dowsax.experiments.store import Shard

# The programs of the tests of runs: one compilation serves both.
READINGS = 6
SETTINGS = (
    "--field",
    "temperature",
    "--policy",
    "greedy",
    "--particles",
    "64",
    "--max-readings",
    str(READINGS),
)
RUN = Run("greedy", "temperature", particles=64, max_readings=READINGS)
FILES = ["end.png", "search.gif", "search.json"]


class Watched(NamedTuple):
    """A search by command, and what it left."""

    lines: list[str]
    document: dict
    folder: object


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A search that does not end by itself, run once for all tests of what it left."""
    folder = tmp_path_factory.mktemp("search") / "deep" / "folder"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.run(["search", *SETTINGS, "--seed", "3", "--episode", "2", "--out", str(folder)]) == 0
    return Watched(out.getvalue().splitlines(), json.loads((folder / "search.json").read_text()), folder)


@pytest.fixture(scope="module")
def log():
    """A search that has ended, by a rule that speaks at the fifth reading."""
    run = replace(RUN, rule=TraceRule("fixed", 5.0))
    return Searcher(SearchConfig(run)).run(lambda log: None)


def test_it_is_the_search_of_the_evaluation(watched):
    """Every step equals that of the same episode of a run with the same seed, bit for bit."""
    arrays, _ = compute(Shard(replace(RUN, seed=3, to_the_end=True), start=2, stop=3))
    (episode,) = unpack(arrays)
    steps = watched.document["steps"]
    for name, column in episode.rows._asdict().items():
        assert [step[name] for step in steps] == np.asarray(column).tolist(), name
    assert list(watched.document["truth"].values()) == episode.final_theta.tolist()
    moves = np.array(watched.document["configuration"]["moves"])
    places = np.array([step["position"] for step in steps])
    actions = [step["action"] for step in steps]
    assert actions[0] is None
    assert np.diff(places, axis=0) == pytest.approx(moves[actions[1:]], abs=1e-5)


def test_it_leaves_pictures_and_steps_and_says_where(watched):
    assert sorted(path.name for path in watched.folder.iterdir()) == FILES
    assert all(str(watched.folder / name) in watched.lines[-1] for name in FILES)
    with Image.open(watched.folder / "search.gif") as animation:
        assert animation.n_frames == READINGS
    with Image.open(watched.folder / "end.png") as picture:
        assert picture.size == (1800, 1020)
    settings = watched.document["configuration"]
    expected = {"field": "temperature", "policy": "greedy", "seed": 3, "episode": 2, "particles": 64}
    assert expected.items() <= settings.items()
    assert {"dowsax", "jax", "python"} <= set(watched.document["versions"])


def test_plain_lines_where_there_is_no_terminal(watched):
    """One a reading, then what is claimed, then the truth: no rule spoke, so it cannot tell."""
    *readings, claimed, told, _ = watched.lines
    assert [int(line.split()[0]) for line in readings] == list(range(1, READINGS + 1))
    assert all("probability" in line for line in readings)
    assert claimed.startswith(f"Cannot tell after {READINGS} readings")
    source, error = watched.document["truth"], watched.document["error"]
    assert f"({source['x']:.2f}, {source['y']:.2f})" in told
    assert f"{error:.2f} m off." in told
    assert watched.document["right"] is None


def test_json_is_one_object(dowsax_command, tmp_path):
    """The steps, and nothing else; a rule that speaks ends the search."""
    words = ("search", *SETTINGS, "--stop", "fixed", "--threshold", "2", "--json", "--out", tmp_path)
    code, stdout, stderr = dowsax_command(*words)
    assert (code, stderr) == (0, "")
    document = json.loads(stdout)
    kept = json.loads((tmp_path / "search.json").read_text())
    assert document | {"created": None} == kept | {"created": None}
    assert (document["ending"], document["readings"], len(document["steps"])) == (STOPPED, 2, 2)
    assert document["right"] is (document["error"] < 1)


def screen(log, width=100, height=30):
    console = Console(record=True, force_terminal=True, width=width, height=height, file=io.StringIO())
    console.print(view(log, width, height))
    return console.export_text()


def at(log, number):
    """The search as it stood after a reading."""
    return SearchLog(log.config, log.theta, log.final_theta, log.belief, log.steps[:number])


def test_the_live_view_shows_map_and_numbers_and_the_truth_only_at_the_end(log):
    during, end = screen(at(log, 3)), screen(log)
    assert "greedy on temperature, seed 0" in during
    assert "3 of at most 6" in during
    assert "searching" in during
    assert "●" in during
    assert "★" not in during
    assert "★" in end
    assert "STOP" in end
    elsewhere = at(log, 3)
    elsewhere.theta = elsewhere.final_theta = log.theta + 5
    assert screen(elsewhere) == during


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 24), (30, 10), (200, 60)])
def test_the_live_view_fits_its_terminal(log, width, height):
    lines = screen(log, width, height).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < max(height, 17)


def test_the_live_view_follows_a_search(log):
    console = Console(record=True, force_terminal=True, width=100, height=30, file=io.StringIO())
    with watching(console, live=True, fps=50) as watch:
        for number in range(1, 4):
            watch(at(log, number))
        watch(log)
    assert "STOP" in console.export_text()


@pytest.mark.parametrize(("error", "word"), [(0.99, "right"), (1.0, "a false stop")])
def test_stops_are_judged_by_the_truth(log, error, word):
    """Right is less than 1 m off; without a particle nothing is claimed."""
    snapshot, row = log.steps[-1]
    changed = at(log, 4)
    changed.steps = [*changed.steps, (snapshot, row._replace(error=np.float32(error)))]
    changed.ending = STOPPED
    assert claim(changed).startswith("STOP after 5 readings")
    assert truth_sentence(changed).endswith(f"{word}.")
    changed.steps = [
        *changed.steps,
        (snapshot._replace(spread=np.inf), row._replace(spread=np.float32(np.inf))),
    ]
    changed.ending = LOST
    assert "no particle" in claim(changed)
    assert not changed.right


def test_an_interruption_leaves_what_there_is(dowsax_command, tmp_path, monkeypatch):
    """Three readings, exit code 130, and no picture of an earlier search beside them."""
    (tmp_path / "search.gif").write_bytes(b"old")

    def interrupted_at_the_third(snapshot, unit):
        if snapshot.number == 3:
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(search_view, "reading_line", interrupted_at_the_third)
    code, stdout, _ = dowsax_command("search", *SETTINGS, "--out", tmp_path)
    assert code == 130
    assert "Interrupted after 3 readings" in stdout
    assert [path.name for path in tmp_path.iterdir()] == ["search.json"]
    document = json.loads((tmp_path / "search.json").read_text())
    assert (document["ending"], len(document["steps"])) == ("interrupted", 3)


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        (("--field", "radio"), ("'radio'", "temperature", "noise")),
        (("--policy", "luck"), ("'luck'", "infotaxis", "random")),
        (("--scenario", "moon"), ("'moon'", "ood", "shift")),
        (("--stop", "never"), ("'never'", "credible", "contraction")),
        (("--preset", "best"), ("'best'", "default", "paper")),
        (("--threshold", "nan"), ("threshold",)),
        (("--seed", "-1"), ("seed",)),
        (("--episode", "-1"), ("episode",)),
        (("--fps", "0"), ("fps", "1 to 50")),
        (("--fps", "51"), ("fps",)),
        (("--particles", "15"), ("at least 16",)),
        (("--max-readings", "0"), ("at least",)),
    ],
)
def test_bad_input_before_any_work(complaint, tmp_path, words, reasons):
    out = tmp_path / "out"
    message = complaint("search", *words, "--out", out)
    assert all(reason in message for reason in reasons)
    assert not out.exists()


def test_a_folder_that_cannot_be_written(complaint, tmp_path):
    (tmp_path / "file").write_text("")
    assert "Cannot make the folder" in complaint("search", "--out", tmp_path / "file")
    (tmp_path / "search.json").mkdir()
    assert "it is a folder" in complaint("search", "--out", tmp_path)
