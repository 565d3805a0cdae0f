"""Every policy on every field: the table of docs/searches.md.

    python -m benchmarks.searches --out runs/searches            # as published, on a graphics card
    python -m benchmarks.searches --out runs/tiny --tiny         # a rehearsal; its numbers mean nothing

The first field runs alone, so that its times are honest; on an accelerator the others then share the device,
each in a process of its own, so that their compilations overlap. Everything is a `dowsax evaluate` in a run
folder of its own: after an interruption the same command goes on. The table is that of `dowsax compare`.
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


def run_together(commands: list[list[str]], out: Path, at_once: int) -> None:
    """Run the commands, some at a time, each into a log of its own; the first failure ends it."""
    waiting, running = list(enumerate(commands)), []
    while waiting or running:
        while waiting and len(running) < at_once:
            number, words = waiting.pop(0)
            log = (out / f"{Path(words[words.index('--out') + 1]).name}.log").open("w")
            running.append((number, subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT), log))
        number, process, log = running.pop(0)
        if process.wait() != 0:
            for _, other, _ in running:
                other.terminate()
            raise SystemExit(f"`{' '.join(commands[number])}` failed: see {log.name}.")
        print(f"done: {' '.join(commands[number][3:])}", flush=True)
        log.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/searches"))
    parser.add_argument("--fields", nargs="+", default=FIELDS, choices=FIELDS)
    parser.add_argument("--episodes", type=int, default=1000, help="of each policy on the first field")
    parser.add_argument("--others", type=int, default=500, help="of each policy on each other field")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=6, help="fields that share the device after the first")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    extra = TINY if options.tiny else ()
    first, *others = options.fields
    policies = f"{POLICIES},{DEEPER}"
    run_together(
        [evaluate(first, options.episodes, options.out, policies, options.seed, extra)], options.out, 1
    )
    commands = [
        evaluate(field, options.others, options.out, POLICIES, options.seed, extra) for field in others
    ]
    run_together(commands, options.out, options.at_once)
    folders = [str(options.out / field) for field in options.fields]
    words = [
        sys.executable,
        "-m",
        "dowsax",
        "compare",
        *folders,
        "--stop",
        "credible",
        "--stop",
        "contraction",
    ]
    words += ["--baseline", "infotaxis", "--sweep", "--csv", str(options.out / "searches.csv")]
    subprocess.run(words, check=True, stdout=(options.out / "searches.md").open("w"))


if __name__ == "__main__":
    main()
