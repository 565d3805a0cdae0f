"""Every policy on every field: results/searches.csv.

    python -m benchmarks.searches --out runs/searches            # as published, on a graphics card
    python -m benchmarks.searches --out runs/tiny --tiny         # a rehearsal; its numbers mean nothing

Field by field, each a `dowsax evaluate` in a run folder of its own: after an interruption the same command
goes on. (Several processes that share one graphics card were tried: they hold each other up.) The table is
that of `dowsax compare`.
"""

import argparse
import subprocess
import sys
from pathlib import Path

POLICIES = (
    "straight,infotaxis,space-aware,entrotaxis,dcee,greedy,surge-cast,zigzag,random"  # the limit row first
)
DEEPER = "infotaxis-2"
FIELDS = ("temperature", "concentration", "magnetic", "electric", "gas", "energy", "noise")
TINY = ("--particles", "64", "--max-readings", "6")


def evaluate(
    field: str, episodes: int, out: Path, policies: str, seed: int, extra: tuple[str, ...]
) -> list[str]:
    """The command line of one field."""
    return [
        *(sys.executable, "-m", "dowsax", "evaluate", "--policy", policies, "--field", field),
        *("--episodes", str(episodes), "--seed", str(seed), "--out", str(out / field), *extra),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/searches"))
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=1000, help="of each policy on the first field")
    parser.add_argument("--others", type=int, default=1000, help="of each policy on each other field")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    extra = TINY if options.tiny else ()
    for field in options.fields:
        first = field == options.fields[0]
        episodes = options.episodes if first else options.others
        policies = f"{POLICIES},{DEEPER}" if first else POLICIES
        subprocess.run(evaluate(field, episodes, options.out, policies, options.seed, extra), check=True)
    folders = [str(options.out / field) for field in options.fields]
    words = [sys.executable, "-m", "dowsax", "compare", *folders, "--baseline", "infotaxis", "--sweep"]
    words += ["--stop", "credible", "--stop", "contraction", "--csv", str(options.out / "searches.csv")]
    subprocess.run(words, check=True, stdout=(options.out / "searches.md").open("w"))


if __name__ == "__main__":
    main()
