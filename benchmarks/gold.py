"""The default preset against the reference posteriors, field by field: `python -m benchmarks.gold`

All cases of both sets, with several filter seeds; the table of docs/results/speed.md.
"""

import argparse
from pathlib import Path

from rich.progress import Progress

from benchmarks import surveys
from benchmarks.peers.model import FIELDS
from dowsax.inference.locate import locate


def table(summaries: dict[str, surveys.Summary]) -> str:
    lines = [
        "| field | runs | gap median | gap p90 | σ ratio median | σ ratio p10 | 90 % coverage |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {one.num_cases} | {one.gap_median:.3f} | {one.gap_p90:.3f} | "
        f"{one.std_ratio_median:.3f} | {one.std_ratio_p10:.3f} | {one.coverage:.2f} |"
        for name, one in summaries.items()
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gold", type=Path, default=surveys.GOLD)
    parser.add_argument("--fields", nargs="+", default=list(FIELDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--particles", type=int, default=None)
    arguments = parser.parse_args()
    absent = surveys.missing(arguments.gold)
    if absent is not None:
        raise SystemExit(absent)
    cases = list(surveys.load(arguments.gold, arguments.fields))
    runs = [(case, seed) for case in cases for seed in arguments.seeds]
    scores = []
    with Progress() as progress:
        for case, seed in progress.track(runs, description="reference cases"):
            post = locate(
                case.positions,
                case.readings,
                field=case.field,
                preset=arguments.preset,
                particles=arguments.particles,
                seed=seed,
            )
            scores.append(surveys.score(case, post.samples, post.weights))
    print(table(surveys.summarise_by_field([case for case, _ in runs], scores)))


if __name__ == "__main__":
    main()
