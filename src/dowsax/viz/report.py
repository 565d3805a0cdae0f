"""The report of a survey as one HTML file: pictures inside it, no script, for phone and paper."""

import base64
import html
import io
import textwrap
from datetime import UTC, datetime

import numpy as np
from matplotlib.figure import Figure

from dowsax.inference.posterior import INTERVAL_HEADINGS
from dowsax.report.findings import Findings
from dowsax.report.summary import ITEM_PREFIX, OTHER_UNKNOWNS_TITLE, sections, verdict
from dowsax.viz.belief import draw_marginal, draw_marginal_key
from dowsax.viz.style import BLUE, DOTS_PER_INCH, INK, MUTED, ORANGE, new_figure, styled
from dowsax.viz.survey_map import survey_figure

_METHOD = (
    "The source, its strength and what is not known of field and sensor are one set of unknowns with a prior "
    "each. A particle filter assimilates the readings one after another with weighted draws of all unknowns "
    "together: tempered reweighting, resampling, and moves on the whole history of readings. The results "
    "are summaries of the draws: means, intervals, and the smallest regions that hold 50 and 95 % of them. "
    "The evidence compares the probability of the readings with a source and with background alone. The "
    "check of the fit compares each reading with what the readings before it let expect."
)
_MAX_PANEL_TITLE = 38
"""Characters that fit above a small panel."""
_COLOURS = {
    "located": "#009e73",
    "likely": "#e69f00",
    "inconclusive": "#e69f00",
    "no-evidence": "#7b8894",
    "misfit": "#d55e00",
}
_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #22303c;
  margin: 0 auto; padding: 1.2rem; max-width: 60rem; background: #fff; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid #dfe5ea; }
.meta { color: #5d6b77; margin: 0 0 1rem; font-size: .9rem; }
.verdict { border-left: .4rem solid var(--mark); background: #f5f7f9; padding: .8rem 1rem;
  font-size: 1.1rem; }
.map, .wide { display: block; width: 100%; height: auto; margin: 1rem 0; }
ul { padding-left: 1.2rem; } li { margin: .2rem 0; } li.item { margin-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #e9edf0;
  vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
pre { background: #f5f7f9; padding: .8rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; }
footer { margin-top: 2rem; color: #5d6b77; font-size: .85rem; }
@media screen and (max-width: 40rem) { .map, .wide { min-width: 36rem; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } h2 { break-after: avoid; }
  .map, .wide, table, .verdict { break-inside: avoid; } }
"""


def html_report(findings: Findings, *, site_text: str = "", created: datetime | None = None) -> str:
    """Return the report as one HTML text; `site_text` is the site file, shown at its end."""
    moment = (created or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    title = html.escape(findings.name)
    number, colour = len(findings.values), _colour(findings)
    parts = [part for part in sections(findings) if part[0] != OTHER_UNKNOWNS_TITLE]
    body = "".join(_section(name, sentences) for name, sentences in parts)
    pages = [
        f"<h1>{title}</h1>",
        f'<p class="meta">{number} readings · {html.escape(findings.kind)} · {moment}</p>',
        f'<p class="verdict" style="--mark: {colour}">{html.escape(verdict(findings))}</p>',
        _picture(survey_figure(findings, titled=False), "Map of the survey with regions and estimate", "map"),
        body,
        "<h2>All unknowns</h2>" + _parameter_table(findings),
        _picture(_marginals(findings), "Densities of all unknowns but the position", "wide"),
        "<h2>Reading by reading</h2>",
        _picture(_timeline(findings), "Readings in the order taken, and the spread after each", "wide"),
        f"<h2>Method</h2><p>{html.escape(_METHOD)}</p>",
        "<h2>Settings</h2>" + _settings(findings),
    ]
    if site_text:
        pages.append(f"<h2>Site file</h2><pre>{html.escape(_without_comments(site_text))}</pre>")
    made = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    pages.append(f"<footer>Made with {html.escape(made)}. The same seed gives the same answer.</footer>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(pages)
        + "\n</body></html>\n"
    )


def _colour(findings: Findings) -> str:
    """Return the colour of the verdict: green only for a found source."""
    if findings.caution:
        return _COLOURS["misfit"]
    return _COLOURS[findings.status]


def _without_comments(site_text: str) -> str:
    """Return the site file without comments."""
    lines = [line for line in site_text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return "\n".join(lines)


def _section(title: str, sentences: list[str]) -> str:
    """Return a section with a list; items of a sentence are indented."""
    items = []
    for sentence in sentences:
        kind = ' class="item"' if sentence.startswith(ITEM_PREFIX) else ""
        items.append(f"<li{kind}>{html.escape(sentence.removeprefix(ITEM_PREFIX))}</li>")
    return f"<h2>{html.escape(title)}</h2><ul>{''.join(items)}</ul>"


def _parameter_table(findings: Findings) -> str:
    """Return a table of mean, spread and interval of every unknown."""
    heads = ("unknown", "unit", "mean", "std", *INTERVAL_HEADINGS)
    head = "".join(f"<th{' class=number' * (column > 1)}>{name}</th>" for column, name in enumerate(heads))
    rows = []
    for parameter, (name, unit, *numbers) in zip(
        findings.posterior.parameters, findings.posterior.rows(), strict=True
    ):
        meaning = f"{parameter.meaning} ({name})" if parameter.meaning else name
        cells = f"<td>{html.escape(meaning)}</td><td>{html.escape(unit or '–')}</td>"
        cells += "".join(f"<td class=number>{number}</td>" for number in numbers)
        rows.append(f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _settings(findings: Findings) -> str:
    settings = dict(findings.settings) | {"seed": findings.seed}
    rows = "".join(
        f"<tr><td>{html.escape(str(name))}</td><td>{html.escape(str(value))}</td></tr>"
        for name, value in settings.items()
    )
    return f'<div class="scroll"><table>{rows}</table></div>'


def _picture(figure: Figure | None, words: str, kind: str) -> str:
    """Return the figure as an image with a data URI."""
    if figure is None:
        return ""
    data = io.BytesIO()
    with styled():
        figure.savefig(data, format="png", dpi=DOTS_PER_INCH)
    encoded = base64.b64encode(data.getvalue()).decode()
    image = f'<img class="{kind}" alt="{html.escape(words)}" src="data:image/png;base64,{encoded}">'
    return f'<div class="scroll">{image}</div>'


def _marginals(findings: Findings) -> Figure | None:
    """Draw the density of each unknown but the position, and a key."""
    others = len(findings.posterior.parameters) - 2
    if others == 0:
        return None
    columns = min(3, others + 1)
    rows = -(-(others + 1) // columns)
    with styled():
        figure = new_figure(9.0, 1.75 * rows)
        for place in range(others + 1):
            row, column = divmod(place, columns)
            axes = figure.add_axes(
                (0.02 + column / columns, 1 - (row + 0.7) / rows, 0.92 / columns, 0.52 / rows)
            )
            if place < others:
                draw_marginal(axes, findings.posterior, place + 2, None)
                axes.set_title(
                    textwrap.shorten(axes.get_title("left"), _MAX_PANEL_TITLE, placeholder=" …"), pad=2
                )
            else:
                draw_marginal_key(axes, False)
    return figure


def _timeline(findings: Findings) -> Figure:
    """Draw the readings, and below them the spread of the position, over their number or time."""
    timed = findings.time is not None
    along = np.arange(1, len(findings.values) + 1) if findings.time is None else findings.time
    with styled():
        figure = new_figure(9.0, 4.2)
        above = figure.add_axes((0.08, 0.57, 0.9, 0.38))
        above.plot(along, findings.values, color=MUTED, linewidth=0.9)
        above.plot(along, findings.values, "o", color=ORANGE, markersize=3)
        above.set(ylabel=f"reading [{findings.unit}]" if findings.unit else "reading")
        above.tick_params(labelbottom=False)
        below = figure.add_axes((0.08, 0.11, 0.9, 0.38), sharex=above)
        trace = findings.posterior.trace
        below.plot(along, trace.credible_radius, color=BLUE, label="95 % radius")
        below.plot(
            along,
            findings.posterior.source_positions(trace.std).max(axis=(1, 2)),
            color=INK,
            linestyle="--",
            label="std, larger axis",
        )
        below.set(ylabel="position [m]", xlabel="time [s]" if timed else "reading number", ylim=(0, None))
        below.legend(loc="upper right")
    return figure
