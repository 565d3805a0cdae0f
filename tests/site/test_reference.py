"""The reference page: every key of the schema with its form, unit and meaning."""

from dowsax.site.kinds import KINDS, prior_parameters
from dowsax.site.reference import reference_page, tables
from dowsax.survey.columns import NAMES


def test_every_key_and_kind_is_on_the_page():
    page = reference_page()
    for table in tables():
        _, _, section = page.partition(f"## `{table.header or table.name}`\n")
        assert table.text in section
        for key in table.keys:
            assert f"\n| `{key.name}` | {key.form} | {key.unit} |" in section.split("\n## ")[0]
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.meaning} |" in page
        assert all(f"| `{parameter}` |" in page for parameter in prior_parameters(name, kind.unit))


def test_ranges_defaults_and_kinds_are_said():
    lines = reference_page().splitlines()
    assert any(line.startswith("| `probability` | number, > 0.5, <= 0.999 |  | `0.95` |") for line in lines)
    assert any(line.startswith("| `particles` | whole number, >= 16, <= 1,000,000 |") for line in lines)
    assert any(line.startswith("| `floor` | distribution |") for line in lines)
    assert (
        "| `dead_time` | number, >= 0 | s |  | How long the sensor is blind after each count. | radiation |"
        in lines
    )


def test_tables_have_as_many_cells_in_every_row():
    for block in reference_page().split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in rows}) <= 1


def test_the_columns_of_the_schema_are_those_of_surveys():
    (columns,) = (table for table in tables() if table.name == "columns")
    assert [key.name for key in columns.keys] == list(NAMES)
