"""How the shipped policies were trained: their curves, from their cards.

python -m benchmarks.learning_curves --figure docs/pictures/learning-curves.png
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.train_all import ENTRIES
from dowsax.evaluate.tables import markdown
from dowsax.files import replace_file
from dowsax.policies.shipped import PRETRAINED_FOLDER
from dowsax.policies.stored import Card, card_of
from dowsax.viz.style import BLUE, GREEN, MUTED, ORANGE, new_figure, styled

DRAWN = {
    "att-pfrl": (BLUE, "-"),
    "pfrl": (ORANGE, "-"),
    "agdc-kld": (GREEN, "-"),
    "agdc-ent": (GREEN, "--"),
    "agdc-ee": (GREEN, ":"),
    "att-pfrl-paper": (MUTED, "-"),
}
"""Colours and lines of the policies that were trained on the usual sources."""


def cards() -> dict[str, Card]:
    """Of all policies in the package, in the order in which they are trained."""
    paths = {entry.label: PRETRAINED_FOLDER / f"{entry.label}.safetensors" for entry in ENTRIES}
    return {name: card_of(path) for name, path in paths.items() if path.exists()}


def table(found: Mapping[str, Card]) -> str:
    """One line a policy: how long its seeds were trained on what, and how their searches ended at last."""
    rows = []
    for name in dict.fromkeys(label.partition("-seed-")[0] for label in found):
        cards = [card for label, card in found.items() if label.partition("-seed-")[0] == name]
        ends = [{measure: column[-1] for measure, column in card.curves.items()} for card in cards]
        measures = {"stop_rate": 3, "false_stops": 3, "path_length": 1}
        rows.append(
            (
                name,
                cards[0].settings["preset"],
                ", ".join(sorted({card.device for card in cards})),
                " ".join(f"{card.steps / 1e6:.1f}" for card in cards),
                " ".join(f"{end['seconds']:.0f}" for end in ends),
                *(" ".join(f"{end[of]:.{digits}f}" for end in ends) for of, digits in measures.items()),
            )
        )
    headings = ("policy", "filter", "device", "million moves of each seed", "time [s]", "stopped")
    headings += ("false stops, of stops", "path to the stop [m]")
    return "\n".join(markdown(headings, rows)) if rows else ""


def figure(found: Mapping[str, Card]) -> Figure:
    """Searches of training that stopped near the source, false stops, and paths; training seed 0."""
    with styled():
        drawn = new_figure(12.0, 3.6)
        left, middle, right = drawn.subplots(1, 3)
        for name, (colour, line) in DRAWN.items():
            if name in found:
                curves = {measure: np.array(column) for measure, column in found[name].curves.items()}
                look = {"color": colour, "linestyle": line, "label": name}
                left.plot(curves["steps"] / 1e6, curves["success"], **look)
                middle.plot(curves["steps"] / 1e6, curves["false_stops"], **look)
                right.plot(curves["steps"] / 1e6, curves["path_length"], **look)
        _finish(left, "of searches that ended", "Stopped within 1 m of the source", 1.0)
        _finish(middle, "of the stops", "False stops", 1.0)
        _finish(right, "[m]", "Path to the stop", 100.0)
        middle.legend(loc="center")
        drawn.tight_layout()
    return drawn


def _finish(axes: Axes, beside: str, title: str, top: float) -> None:
    axes.set(xlabel="moves [million]", ylabel=beside, title=title, ylim=(0.0, top))
    axes.grid(True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--figure", type=Path, metavar="PNG")
    options = parser.parse_args()
    found = cards()
    print(table(found))
    if options.figure is not None:
        with replace_file(options.figure) as partial:
            figure(found).savefig(partial, format="png")


if __name__ == "__main__":
    main()
