"""Headers of irregular tables: the head cells that each cell names.

`made` checks that they are head cells of the same table, and that IDs are unique and in their tree.
"""

from __future__ import annotations

import io
import json

import pikepdf
import pytest

from tests.engine.finish.structure import read_headers, write_structure
from tests.engine.paint.test_tagged import LONG, made
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.layout.structure import MAX_CELLS
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

HEAD = "<thead><tr><th>Town</th><th>Old</th><th>New</th></tr></thead>"
NORTH = '<tr><th colspan="3">North</th></tr>'
SOUTH = '<tr><th colspan="3">South</th></tr>'
KIEL = "<tr><th>Kiel</th><td>1</td><td>2</td></tr>"
ULM = "<tr><th>Ulm</th><td>3</td><td>4</td></tr>"


def headers(rows: str) -> dict[str, list[str]]:
    """Return the texts of the heads that each cell of a table names, by its own text."""
    return read_headers(made(f"<table>{rows}</table>"))


def test_a_group_row_heads_the_rows_below_it_up_to_the_next_one():
    assert headers(HEAD + NORTH + KIEL + SOUTH + ULM) == {
        "Kiel": ["North", "Town"],
        "1": ["North", "Old", "Kiel"],
        "2": ["North", "New", "Kiel"],
        "Ulm": ["South", "Town"],
        "3": ["South", "Old", "Ulm"],
        "4": ["South", "New", "Ulm"],
    }


def test_a_group_row_without_rows_heads_none():
    named = headers(HEAD + NORTH + SOUTH + ULM)
    assert named["3"] == ["South", "Old", "Ulm"]


def test_a_group_row_ends_with_its_body():
    foot = "<tfoot><tr><th>All</th><td>5</td><td>6</td></tr></tfoot>"
    named = headers(f"{HEAD}<tbody>{NORTH}{KIEL}</tbody><tbody>{ULM}</tbody>{foot}")
    assert named["1"] == ["North", "Old", "Kiel"]
    assert named["3"] == ["Old", "Ulm"]
    assert named["5"] == ["Old", "All"]


def test_rows_above_the_first_group_row_have_no_group():
    named = headers(HEAD + KIEL + SOUTH + ULM)
    assert (named["1"], named["3"]) == (["Old", "Kiel"], ["South", "Old", "Ulm"])


def test_a_head_cell_in_the_midst_of_a_row_heads_the_cells_after_it():
    row = '<tr><td>0</td><th scope="row">a</th><td>1</td><td>2</td><th scope="row">b</th><td>3</td></tr>'
    assert headers(row) == {"1": ["a"], "2": ["a"], "3": ["b"]}


def test_a_head_cell_over_several_rows_heads_the_cells_of_each_of_them():
    rows = (
        '<tr><th rowspan="2">2026</th><th scope="row">May</th><td>1</td><th scope="row">fair</th><td>2</td></tr>'
        '<tr><th scope="row">June</th><td>3</td><th scope="row">rain</th><td>4</td></tr>'
    )
    assert headers(rows) == {
        "May": ["2026"],
        "1": ["2026", "May"],
        "fair": ["2026"],
        "2": ["2026", "fair"],
        "June": ["2026"],
        "3": ["2026", "June"],
        "rain": ["2026"],
        "4": ["2026", "rain"],
    }


def test_a_cell_over_rows_and_columns_names_the_heads_of_all_of_them():
    rows = (
        '<thead><tr><th>Town</th><th colspan="2">Year</th></tr>'
        "<tr><th>Name</th><th>Old</th><th>New</th></tr></thead>"
        f'{NORTH}<tr><th>Kiel</th><td colspan="2" rowspan="2">5</td></tr><tr><th>Ulm</th></tr>'
    )
    assert headers(rows) == {
        "Old": ["Year"],
        "New": ["Year"],
        "Kiel": ["North", "Town", "Name"],
        "5": ["North", "Year", "Old", "New", "Kiel", "Ulm"],
        "Ulm": ["North", "Town", "Name"],
    }


def test_another_head_row_heads_the_columns_below_it():
    rows = (
        "<tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>"
        "<tr><th>C</th><th>D</th></tr><tr><td>3</td><td>4</td></tr>"
    )
    expected = {"1": ["A"], "2": ["B"], "3": ["C"], "4": ["D"]}
    assert headers(rows) == expected
    assert headers(f"<tbody>{rows}</tbody><tbody><tr><td>5</td><td>6</td></tr></tbody>") == {
        **expected,
        "5": ["A"],
        "6": ["B"],
    }


def test_head_rows_of_groups_head_the_columns_of_their_group():
    def part(name: str, column: str, value: str) -> str:
        return (
            f'<tr><th colspan="2">{name}</th></tr><tr><th>{column}</th><th>{column}s</th></tr>'
            f"<tr><td>{value}</td><td>{value}s</td></tr>"
        )

    named = headers(part("North", "Ship", "1") + part("South", "Train", "2"))
    assert (named["1"], named["2"]) == (["North", "Ship"], ["South", "Train"])
    assert (named["Ship"], named["Trains"]) == (["North"], ["South"])


@pytest.mark.parametrize(
    "rows",
    [
        HEAD + KIEL + ULM,
        # Several rows of the head, also without a thead.
        "<tr><th>A</th><th>B</th></tr><tr><th>C</th><th>D</th></tr><tr><td>1</td><td>2</td></tr>",
        "<thead><tr><th>A</th><th>B</th></tr></thead><tr><th>C</th><th>D</th></tr><tr><td>1</td><td>2</td></tr>",
        # Several head cells at the start of a row.
        '<tr><th rowspan="2">2026</th><th scope="row">May</th><td>1</td></tr><tr><th>June</th><td>2</td></tr>',
        '<tr><td>1</td><th scope="column">a</th></tr><tr><td>2</td><td>3</td></tr>',
        HEAD + '<tr><th colspan="3" scope="row">of itself</th></tr>' + KIEL,
    ],
)
def test_a_table_whose_scopes_suffice_has_no_ids_and_no_headers(rows: str):
    file = made(f"<table>{rows}</table>")
    assert read_headers(file) == {}
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert "/IDTree" not in pdf.Root.StructTreeRoot


def test_rows_on_later_pages_name_the_heads_on_the_first():
    rows = '<tr for="n in range(1000, 1100)"><td>{{ n }}</td><td>a</td><td>b</td></tr>'
    file = made(f'<table>{HEAD}{NORTH.replace("<tr>", """<tr repeat="true">""")}{rows}</table>')
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert len(pdf.pages) > 1
    named = read_headers(file)
    assert named["1000"] == named["1099"] == ["North", "Town"]
    assert named["a"] == ["North", "Old"]
    cells = [line for line in write_structure(file).splitlines() if "TH" in line.split()]
    assert len(cells) == 4  # repeated heads are artifacts


def test_a_row_that_is_split_over_pages_names_its_heads_once():
    row = f"<tr><th>Kiel</th><td><p>{LONG}</p></td><td>2</td></tr>"
    assert headers(HEAD + NORTH + row)["2"] == ["North", "New", "Kiel"]


def test_nested_tables_have_heads_of_their_own():
    inner = (
        '<table><tr><th colspan="2">In</th></tr><tr><th>x</th><td>y</td></tr>'
        '<tr><td><table><tr><th scope="row">p</th><td>q</td></tr></table></td><td>z</td></tr></table>'
    )
    named = headers(f"{HEAD}{NORTH}<tr><th>Kiel</th><td>{inner}</td><td>2</td></tr>{SOUTH}{ULM}")
    assert (named["x"], named["y"], named["z"]) == (["In"], ["In", "x"], ["In"])
    assert (named["2"], named["3"]) == (["North", "New", "Kiel"], ["South", "Old", "Ulm"])
    assert "q" not in named


def test_ids_of_notes_and_of_head_cells_are_in_one_tree():
    note = "<p>See<footnote>At the foot.</footnote></p>"
    file = made(f"{note}<table>{HEAD}{NORTH}{KIEL}</table>{note}")
    with pikepdf.open(io.BytesIO(file)) as pdf:
        (leaf,) = pdf.Root.StructTreeRoot.IDTree.Kids
        names = [str(name).rstrip("0123456789") for name in list(leaf.Names)[::2]]
    assert names == ["note"] * 2 + ["th"] * 5


def test_cells_with_the_same_heads_share_their_attributes_and_others_hold_their_own():
    rows = '<tr for="n in range(0, 50)"><td>{{ n }}</td><td>a</td><td>b</td></tr>'
    for row, shared in ((rows, 3), (KIEL, 0)):
        with pikepdf.open(io.BytesIO(made(f"<table>{HEAD}{NORTH}{row}</table>"))) as pdf:
            objects = [each for each in pdf.objects if isinstance(each, pikepdf.Dictionary)]
            assert len([each for each in objects if "/Headers" in each]) == shared


def test_a_table_of_too_many_cells_has_scopes_only():
    def with_rows(count: int) -> str:
        rows = f'<tr for="n in range(0, {count})"><td>{{{{ n }}}}</td><td>a</td></tr>'
        return f'<table><tr><th colspan="2">Group</th></tr>{rows}</table>'

    most = MAX_CELLS // 2 - 1
    assert read_headers(made(with_rows(most)))[str(most - 1)] == ["Group"]
    assert read_headers(made(with_rows(most + 1))) == {}


def test_a_table_whose_cells_would_name_too_many_heads_has_scopes_only():
    def with_heads(count: int) -> str:
        heads = f'<tr for="n in range(0, {count})"><th>h{{{{ n }}}}</th><th>i</th></tr>'
        rows = '<tr for="n in range(0, 100)"><td>{{ n }}</td><td>a</td></tr>'
        return f'{heads}<tr><th colspan="2">G</th></tr>{rows}'

    assert headers(with_heads(50))["99"] == ["G", *[f"h{n}" for n in range(50)]]
    assert headers(with_heads(110)) == {}


def test_documents_of_one_template_name_the_heads_of_their_own_groups():
    template = prepare_template(
        b'<document tagged="true" title="T"><flow><table><group for="each in groups">'
        b'<tr><th colspan="2">{{ each.name }}</th></tr>'
        b'<tr for="n in each.rows"><td>{{ n }}</td><td>x</td></tr></group></table></flow></document>'
    )
    for first, second in (([1, 2], [3]), ([1], [2, 3]), ([1, 2], [3])):
        groups = [{"name": "A", "rows": first}, {"name": "B", "rows": second}]
        payload = Payload(PayloadKind.JSON, json.dumps({"groups": groups}).encode())
        file = render(template, payload, options=OPTIONS, resources=FolderImages()).pdf
        named = read_headers(file)
        assert {str(n): named[str(n)] for n in (*first, *second)} == {
            **{str(n): ["A"] for n in first},
            **{str(n): ["B"] for n in second},
        }


def test_a_long_document_writes_the_headers_of_a_short_one():
    short = f"<table>{HEAD}{NORTH}{KIEL}</table>"
    rows = '<table><tr for="n in range(100, 400)"><td>{{ n }}</td><td>a</td></tr></table>'
    assert read_headers(made(rows + short)) == read_headers(made(short))
