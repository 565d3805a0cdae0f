"""`dowsax calibrate`: test whether the belief is calibrated, with tables and rank plots."""

import json as json_format
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import COMPILING, compile_first, counting, say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.outputs import can_draw, require_folder, require_picture, require_writable
from dowsax.evaluate.calibration import Calibration, own_surveys, pooled_coverage
from dowsax.evaluate.calibration import calibrate as run_calibration
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.ranks import NUM_DRAWS
from dowsax.evaluate.tables import calibration_table, pooled_table
from dowsax.evaluate.uniformity import ecdf, simultaneous_band
from dowsax.inference.presets import PRESETS, default_preset
from dowsax.version import VERSION
from dowsax.world import MODALITIES, benchmark_model

MIN_CASES = 20


def calibrate(
    *,
    field: Annotated[list[str], Parameter(negative="")],
    cases: int = 200,
    preset: Annotated[list[str] | None, Parameter(negative="")] = None,
    particles: int | None = None,
    sources: int = 1,
    seed: int = 0,
    out: Path = Path("calibration"),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Simulate surveys of known sources, locate them, and test whether the beliefs are calibrated.

    Parameters
    ----------
    field
        The field; repeat it for several.
    cases
        Simulated surveys for each field, at least 20.
    preset
        The filter; repeat it to compare. Default: default; with several sources: several.
    particles
        Number of particles. Default: that of the preset.
    sources
        Number of sources, which the filter knows; their parameters are compared in the order of their x.
    seed
        The same seed gives the same surveys and the same numbers.
    out
        Folder for calibration.json, calibration.md and the rank plots; made if it does not exist.
    json
        Print the report as one JSON object, and nothing else.
    """
    fields, presets = _unique(field), _unique(preset or [default_preset((sources,))])
    _require_valid(fields, presets, cases, particles, seed)
    require_folder(out)
    pictures = [out / ("ranks.png" if len(fields) == 1 else f"ranks-{name}.png") for name in fields]
    for path in (out / "calibration.json", out / "calibration.md"):
        require_writable(path)
    if not can_draw(*(path.name for path in pictures)):
        pictures = []
    for picture in pictures:
        require_picture(picture)
    reports = _measure(fields, presets, cases, particles, seed, sources)
    text = json_format.dumps(_document(reports, cases, particles, seed, sources), allow_nan=False)
    (out / "calibration.json").write_text(text + "\n", encoding="utf-8")
    (out / "calibration.md").write_text(_tables(reports), encoding="utf-8")
    for name, picture in zip(fields, pictures, strict=False):
        with waiting(f"Drawing {picture.name}"):
            _draw(name, reports[name], picture)
    if json:
        print(text)
        return
    say(_tables(reports))
    files = ["calibration.json, calibration.md", ", ".join(path.name for path in pictures)]
    say(f"Wrote {' and '.join(filter(None, files))} to {out}.")


def _unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _require_valid(
    fields: list[str], presets: list[str], cases: int, particles: int | None, seed: int
) -> None:
    if cases < MIN_CASES:
        raise ValueError(f"Calibration needs at least {MIN_CASES} cases; got {cases}.")
    require_seed(seed)
    for what, names, known in (("field", fields, MODALITIES), ("preset", presets, PRESETS)):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"Unknown {what} {unknown[0]!r}; known are {', '.join(known)}.")
    if particles is not None:
        PRESETS[presets[0]].with_particles(particles)


def _measure(
    fields: list[str], presets: list[str], cases: int, particles: int | None, seed: int, sources: int
) -> dict[str, dict[str, Calibration]]:
    """The calibration of every preset on every field; all presets see the same surveys."""
    reports = {}
    with counting(len(fields) * len(presets) * cases) as (describe, advance):
        for field in fields:
            describe(f"{field}: surveys, {COMPILING}")
            model = benchmark_model(field, sources=sources)
            surveys = own_surveys(model, field, cases, seed)
            reports[field] = {}
            for preset in presets:
                add = compile_first(f"{field}: {preset}", describe, advance)
                reports[field][preset] = run_calibration(
                    model, surveys, preset=preset, particles=particles, seed=seed, on_progress=add
                )
    return reports


def _document(
    reports: dict[str, dict[str, Calibration]], cases: int, particles: int | None, seed: int, sources: int
) -> dict:
    return {
        "version": VERSION,
        "cases": cases,
        "seed": seed,
        "particles": particles,
        "sources": sources,
        "pooled": {
            preset: {f"{at:g}": share._asdict() for at, share in shares.items()}
            for preset, shares in _pooled(reports).items()
        },
        "fields": {
            field: {preset: report.to_dict() for preset, report in by_preset.items()}
            for field, by_preset in reports.items()
        },
    }


def _pooled(reports: dict[str, dict[str, Calibration]]) -> dict[str, dict[float, Estimate]]:
    """Return what the intervals of each preset hold, over all fields and parameters."""
    presets = next(iter(reports.values()))
    return {
        preset: pooled_coverage([by_preset[preset] for by_preset in reports.values()]) for preset in presets
    }


def _tables(reports: dict[str, dict[str, Calibration]]) -> str:
    tables = [
        calibration_table(f"{field}, {preset}", report)
        for field, by_preset in reports.items()
        for preset, report in by_preset.items()
    ]
    return "\n".join([pooled_table(_pooled(reports)), *tables])


def _draw(field: str, by_preset: dict[str, Calibration], picture: Path) -> None:
    rows, names, num_cases = {}, [], 0
    for preset, report in by_preset.items():
        num_cases = report.num_cases
        names = [parameter.name for parameter in report.parameters]
        # Shared out over the parameters, so that the probability is that of the whole row.
        band = simultaneous_band(num_cases, NUM_DRAWS, 1 - 0.05 / len(names))
        rows[f"{preset}: {'pass' if report.passed else 'FAIL'}"] = [
            viz.RankCurve(
                band.points, ecdf(ranks, NUM_DRAWS), band.low, band.high, f"p = {parameter.p_value:.2g}"
            )
            for parameter, ranks in zip(report.parameters, report.scores.ranks.T, strict=True)
        ]
    viz.save(viz.rank_figure(rows, names, f"Calibration, {field}, {num_cases} surveys"), picture)
