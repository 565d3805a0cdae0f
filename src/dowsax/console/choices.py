"""What a mission can be begun with, and what is understood of a site: for those who fill in a form."""

from functools import cache
from typing import Any

from dowsax.console.simulation import scenario_names
from dowsax.console.sites import outline, read_limited
from dowsax.envs.scenarios import SCENARIOS
from dowsax.policies.base import Oracle
from dowsax.policies.catalogue import POLICIES
from dowsax.policies.shipped import BEST_POLICY, GUARDED_SUFFIX, pretrained_names, weights_path
from dowsax.policies.stored import load
from dowsax.site.describe import describe_site
from dowsax.site.kinds import KINDS
from dowsax.world import FOUR_MOVES, MODALITIES, benchmark_model

_LABELS = {
    "random": "Random walk",
    "circle": "Circles",
    "greedy": "Straight to the estimate",
    "surge-cast": "Surge and cast",
    "zigzag": "Zigzag upwind",
    "infotaxis": "Infotaxis: where a reading tells most",
    "space-aware": "Space-aware infotaxis",
    "entrotaxis": "Entrotaxis: where readings are least certain",
    "dcee": "DCEE: near the source, and surer of it",
    "infotaxis-2": "Infotaxis, two moves ahead (slow)",
    "att-pfrl": "Trained: ATT-PFRL, the best there is",
    "pfrl": "Trained without attention: PFRL",
    "agdc-ent": "Trained to lose entropy: AGDC-ENT",
    "agdc-kld": "Trained to gain information: AGDC-KLD",
    "agdc-ee": "Trained to be near and sure: AGDC-EE",
    "att-pfrl-paper": "Trained as the paper prints it",
}


@cache
def choices() -> dict[str, Any]:
    """By name, with a label each."""
    return {
        "fields": [
            {"name": name, "label": item.description, "unit": item.unit} for name, item in MODALITIES.items()
        ],
        "policies": [_policy(name) for name in policies()],
        "scenarios": [{"name": name, "label": SCENARIOS[name].meaning} for name in scenario_names()],
        "kinds": [{"name": name, "label": kind.meaning, "unit": kind.unit} for name, kind in KINDS.items()],
    }


@cache
def policies() -> tuple[str, ...]:
    """Those that can advise, the best first: some have to be told where the source is, and cannot.

    Then the planners, then what else was trained: rivals, and what is for the tables of a paper. The trained
    ones once more with a guard come last.
    """
    model = benchmark_model("gas")
    able = (name for name, make in POLICIES.items() if not isinstance(make(model, FOUR_MOVES), Oracle))
    trained = pretrained_names()
    return (
        *(name for name in trained if name == BEST_POLICY),
        *able,
        *(name for name in trained if name != BEST_POLICY),
        *(f"{name}{GUARDED_SUFFIX}" for name in trained),
    )


def _policy(name: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "label": _label(name)}
    weights = weights_path(name)
    if weights is not None:
        _, card = load(weights)
        told["fields"] = list(card.fields)
    return told


def _label(name: str) -> str:
    """In words; a name that ends in -ood was trained with sources in the middle of the square alone."""
    bare = name.removesuffix(GUARDED_SUFFIX)
    usual = bare.removesuffix("-ood")
    label = _LABELS.get(usual, usual)
    label += "" if usual == bare else ", sources in the middle alone"
    return label + ("" if bare == name else "; Infotaxis when it takes long")


def understood(text: str) -> dict[str, Any]:
    """What a site file says, in numbers and in words; or a ValueError in one line."""
    site = read_limited(text)
    words = [{"heading": heading, "text": sentence} for heading, sentence in describe_site(site)]
    return {"name": site.name, "kind": site.kind} | outline(site) | {"words": words}
