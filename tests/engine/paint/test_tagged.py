"""Tagged files: structure elements, their texts and their order."""

from __future__ import annotations

import io
import re

import pikepdf
import pytest

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.structure import read_text, write_structure
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.layout.structure import LogicalStructure
from workers.engine.merged_pdf import MergedPart
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.vocabulary.specs import STRUCTURE_TYPES
from workers.engine.tree import nodes

LONG = "many words that go on and on " * 60


def made(flow: str, around: str = '<page size="A6" margin="10mm"/>', attributes: str = "") -> bytes:
    source = (
        f'<document tagged="true" title="T" {attributes}>{around}<flow>{flow}</flow></document>'
    )
    payload = Payload(PayloadKind.XML, source.encode())
    file = render(None, payload, options=OPTIONS, resources=FolderImages()).pdf
    assert find_violations(file, promises=False) == []
    return file


def structure(flow: str, around: str = '<page size="A6" margin="10mm"/>') -> list[str]:
    """Return the lines of the structure below the part of the flow."""
    lines = write_structure(made(flow, around)).splitlines()
    assert lines[:2] == ["Document", "  Part"]
    return [line[4:] for line in lines[2:]]


def structure_lines(file: bytes) -> list[str]:
    return [line.strip() for line in write_structure(file).splitlines()]


def elements(file: bytes, kind: str) -> list[str]:
    lines = write_structure(file).splitlines()
    return [line.strip() for line in lines if line.split()[0] == kind]


def test_a_paragraph_over_two_pages_is_one_element_with_two_sequences():
    file = made(f"<p>{LONG}</p>")
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert len(pdf.pages) == 2
        (paragraph,) = [pdf.Root.StructTreeRoot.K.K.K]
        assert paragraph.S == "/P"
        first, second = paragraph.K
        assert int(first) == 0
        assert second.Pg.objgen == pdf.pages[1].obj.objgen
    assert " ".join(read_text(file).split()) == LONG.strip()


def test_a_table_over_pages_is_one_table_with_one_head_and_one_foot():
    rows = '<tr for="n in range(1, 80)"><td>{{ n }}</td></tr>'
    carried = '<tfoot on="not-last"><tr><td>carried</td></tr></tfoot>'
    head = "<thead><tr><th>Number</th></tr></thead>"
    again = '<thead on="rest"><tr><th>from before</th></tr></thead>'
    foot = "<tfoot><tr><td>sum</td></tr></tfoot>"
    file = made(f"<table><caption>All</caption>{head}{again}{rows}{carried}{foot}</table>")
    assert elements(file, "Table") == ["Table"]
    assert elements(file, "THead") == ["THead"]
    assert elements(file, "TFoot") == ["TFoot"]
    assert elements(file, "TR") == ["TR"] * 81
    expected = ["All", "Number", *map(str, range(1, 80)), "sum"]
    assert read_text(file).split() == expected


def test_several_heads_and_feet_are_one_element_each():
    head = "<thead><tr><th>Number</th></tr></thead>"
    first = '<thead on="first"><tr><th>Begins</th></tr></thead>'
    rest = '<thead on="rest"><tr><th>brought forward</th></tr></thead>'
    rows = '<tr for="n in range(1, 80)"><td>{{ n }}</td></tr>'
    carried = '<tfoot on="not-last"><tr><td>carried forward</td></tr></tfoot>'
    foot = "<tfoot><tr><td>sum</td></tr></tfoot><tfoot><tr><td>VAT</td></tr></tfoot>"
    file = made(f"<table>{head}{first}{rest}{rows}{carried}{foot}</table>")
    for part, count in (("THead", 2), ("TBody", 79), ("TFoot", 2)):
        assert elements(file, part) == [part]
        assert rows_of(file, part) == count
    assert read_text(file).split() == ["Number", "Begins", *map(str, range(1, 80)), "sum", "VAT"]


def rows_of(file: bytes, part: str) -> int:
    with pikepdf.open(io.BytesIO(file)) as pdf:
        table = pdf.Root.StructTreeRoot.K.K.K
        return next(len(list(each.K)) for each in table.K if f"/{part}" == each.S)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<thead><tr><th>a</th></tr></thead>", ["TBody"]),
        ("<tfoot><tr><td>a</td></tr></tfoot>", ["TBody"]),
        (
            "<thead><tr><th>a</th></tr></thead><tfoot><tr><td>b</td></tr></tfoot>",
            ["THead", "TBody"],
        ),
    ],
)
def test_a_table_without_body_rows_has_a_body(content: str, expected: list[str]):
    parts = [line for line in structure(f"<table>{content}</table>") if line.startswith("  T")]
    assert [part.strip() for part in parts] == expected


def test_a_cell_that_spans_a_break_is_one_cell_of_the_structure():
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(2, 60))
    first = f'<tr><td rowspan="59">{LONG}</td><td>1</td></tr>'
    file = made(f'<table><col width="30mm"/><col width="1fr"/>{first}{rows}</table>')
    assert elements(file, "TD") == ["TD RowSpan=59", *["TD"] * 59]
    assert read_text(file).split() == [*LONG.split(), *map(str, range(1, 60))]


def test_rows_joined_by_a_cell_are_printed_once_despite_a_forced_break():
    rows = '<p for="n in range(60)">{{ n }}</p>'
    file = made(
        '<table><tr><td rowspan="2">a</td><td>b</td></tr>'
        f'<tr break-before="page"><td>{rows}</td></tr></table><p>after</p>'
    )
    assert read_text(file).split() == ["a", "b", *map(str, range(60)), "after"]


def test_a_chart_has_its_data_as_a_table():
    chart = (
        '<chart type="area" data="n in [1, 2, 3]" x="\'May\' if n == 2 else n" alt="use">'
        '<series label="kWh" y="n * 1000 if n != 2 else none"/></chart>'
    )
    lines = structure(f"{chart}<p>after</p>")
    found = [line.strip() for line in lines if "BBox" not in line and line.strip() != "''"]
    assert found[1:] == [
        *("Table", "THead", "TR", "TH Scope=Column", "TH ActualText='kWh' Scope=Column", "TBody"),
        *("TR", "TH ActualText='1' Scope=Row", "TD ActualText='1,000'"),
        *("TR", "TH ActualText='May' Scope=Row", "TD"),
        *("TR", "TH ActualText='3' Scope=Row", "TD ActualText='3,000'"),
        *("P", "'after'"),
    ]


def test_a_chart_of_very_many_values_has_no_table():
    chart = '<chart type="line" data="n in range(10000)" x="n" y="n" alt="use"/>'
    assert not any("Table" in line for line in structure(chart))


def test_cells_after_one_with_attributes_stay_in_their_row_of_a_long_table():
    cells = '<td>a{{ n }}</td><td>b</td><td colspan="2">c{{ n }}</td><td>d</td><td>e</td>'
    columns = "<col/>" * 6
    file = made(f'<table>{columns}<tr for="n in range(1, 80)">{cells}</tr></table>')
    assert elements(file, "TR") == ["TR"] * 79
    assert elements(file, "TD") == ["TD", "TD", "TD ColSpan=2", "TD", "TD"] * 79
    expected = [each for n in range(1, 80) for each in (f"a{n}", "b", f"c{n}", "d", "e")]
    assert read_text(file).split() == expected


@pytest.mark.parametrize("columns", [2, 6, 11])
def test_rows_of_a_long_table_keep_their_cells_whatever_is_drawn_between_them(columns):
    cells = "".join(f"<td>{{{{ '{at}-' ~ n }}}}</td>" for at in range(1, columns))
    first = "{{ n if n % 3 else '' }}"
    note = "<td>see<footnote>a note of {{ n }}</footnote></td>" + "<td>x</td>" * (columns - 1)
    file = made(
        f'<table>{"<col/>" * columns}<tr for="n in range(1, 60)"><td>{first}</td>{cells}</tr>'
        f'<tr for="n in range(1, 4)">{note}</tr>'
        f'<tr for="n in range(60, 120)"><td>{first}</td>{cells}</tr></table>',
        '<page size="A4" margin="10mm"/>',
    )
    kinds = [line.split()[0] for line in structure_lines(file)]
    assert kinds.count("TR") == 122
    assert kinds.count("TD") == 122 * columns
    lines = structure_lines(file)
    for n in (1, 2, 3, 59, 60, 119):
        own = [f"{at}-{n}" for at in range(1, columns)]
        start = lines.index(repr(own[0]))
        assert lines[start : start + 2 * len(own) : 2] == [*map(repr, own)]


def test_a_row_that_is_split_is_one_row():
    file = made(f"<table><tr><td>{LONG * 2}</td><td>short</td></tr></table>")
    assert elements(file, "TR") == ["TR"]
    assert elements(file, "TD") == ["TD", "TD"]
    assert read_text(file).split() == [*(LONG * 2).split(), "short"]


def test_blocks_side_by_side_that_go_on_are_read_one_after_the_other():
    left, right = ("left " * 300).strip(), ("right " * 300).strip()
    file = made(f"<row><p>{left}</p><p>{right}</p></row><p>after</p>")
    assert elements(file, "P") == ["P"] * 3
    assert read_text(file).split() == [*left.split(), *right.split(), "after"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<row>", "</row>"),
        ('<grid grid-template-columns="1fr 1fr">', "</grid>"),
        ("<table><tr><td><row>", "</row></td></tr></table>"),
    ],
)
def test_paragraphs_side_by_side_are_read_one_side_after_the_other(before: str, after: str):
    sides = [f'<div><p for="n in range(40)">{name}{{{{ n }}}}</p></div>' for name in "ab"]
    file = made(f"{before}{''.join(sides)}{after}<p>after</p>")
    assert read_text(file).split() == [*(f"{name}{n}" for name in "ab" for n in range(40)), "after"]


def test_columns_are_read_one_after_the_other():
    text = " ".join(map(str, range(400)))
    file = made(f'<div columns="2"><p>{text}</p></div>')
    assert read_text(file).split() == text.split()


def test_flows_are_parts_in_the_order_they_are_written():
    around = (
        '<page size="A6" margin="10mm"><area flow="aside" height="20mm"/>'
        '<area flow="body" top="20mm"/></page>'
    )
    source = (
        f'<document tagged="true" title="T">{around}<flow><p>body</p></flow>'
        '<flow name="aside"><p>aside</p></flow></document>'
    )
    file = render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf
    assert elements(file, "Part") == ["Part", "Part"]
    assert read_text(file).split() == ["body", "aside"]


def test_running_content_is_an_artifact():
    around = (
        '<page size="A6" margin="10mm" background="#eeeeee"><header><p>head</p></header>'
        "<footer><p>foot</p><ul><li>x</li></ul></footer></page>"
        '<watermark text="COPY"/>'
    )
    assert structure("<p>text</p><hr/>", around) == ["P", "  'text'"]


def test_a_link_holds_its_text_and_its_annotations():
    assert structure('<p>to <a href="https://example.com/">a <b>bold</b> site</a>, <a href="#a">here</a></p><p id="a">a</p>') == [
        "P",
        "  'to '",
        "  Link",
        "    'a bold site'",
        "    link: a bold site",
        "    link: a bold site",
        "    link: a bold site",
        "  ', '",
        "  Reference",
        "    Link",
        "      'here'",
        "      link: here",
        "P",
        "  'a'",
    ]  # fmt: skip


def test_links_in_heads_of_pages_have_elements_without_text():
    around = '<page><header><p><a href="https://example.com/">a</a></p></header></page>'
    file = made("<p>a</p>", around)
    assert write_structure(file).splitlines()[-3:] == [
        "  P",
        "    Link",
        "      link: https://example.com/",
    ]


def test_a_language_change_is_marked_where_it_begins():
    flow = '<p lang="fr">Bonjour <span lang="de">Hallo</span> <i>ami</i></p><p>Hello</p>'
    assert structure(flow) == [
        "P Lang='fr'",
        "  'Bonjour '",
        "  Span Lang='de'",
        "    'Hallo'",
        "  ' ami'",
        "P",
        "  'Hello'",
    ]


def test_cells_have_the_language_of_their_text():
    lines = structure('<table lang="fr"><tr><td>un</td><td lang="de"><b>zwei</b></td></tr></table>')
    cells = [line.strip() for line in lines if line.strip().startswith("TD")]
    assert cells == ["TD Lang='fr'", "TD Lang='de'"]


def test_a_hyphen_of_the_end_of_a_line_is_none_of_the_text():
    word = "Donaudampfschifffahrtsgesellschaft"
    file = made(f'<p hyphens="auto" width="20mm">{word}</p>', attributes='lang="de"')
    assert elements(file, "Span") == ["Span ActualText='\\xad'"] * 3
    assert read_text(file).replace("\xad", "").split() == [word]


@pytest.mark.parametrize("align", ["left", "justify", "center"])
def test_words_are_parted_at_the_ends_of_lines(align: str):
    file = made(f'<p text-align="{align}" width="30mm">{LONG}</p>')
    assert read_text(file).split() == LONG.split()


@pytest.mark.parametrize("tag", ["u", "s", "b"])
def test_decorated_words_are_parted_at_the_ends_of_lines(tag: str):
    file = made(f'<p width="30mm"><{tag}>{LONG}</{tag}></p>')
    assert read_text(file).split() == LONG.split()


def test_the_space_at_the_end_of_a_line_is_in_the_string_of_its_words():
    file = made(f'<p text-align="justify" width="30mm">{LONG}</p>')
    with pikepdf.open(io.BytesIO(file)) as pdf:
        contents = b"".join(page.Contents.read_bytes() for page in pdf.pages)
    assert b"( )Tj" not in contents
    shown = re.findall(rb"(?:Tj|TJ)$", contents, re.MULTILINE)
    assert len(shown) == contents.count(b" )Tj") + contents.count(b" )]TJ") + 1  # the last line


def test_a_short_document_has_the_tags_that_a_long_one_has():
    flow = (
        '<h1 id="top">Title</h1><p>See <a href="#top">the <b>top</b></a>.<footnote>At the foot.</footnote></p>'
        '<ul><li>one</li><li>two <span lang="fr">deux</span></li></ul>'
        '<div opacity="0.5"><p>pale</p><table><tr><td>pale too</td></tr></table></div>'
        '<table lang="de"><caption>Zahlen</caption><thead><tr><th>A</th><th colspan="2">B</th></tr></thead>'
        '<tr><th>1</th><td colspan="2"><p>3</p><p>4</p></td></tr><tr><td>5</td><td>6</td><td></td></tr>'
        '<tr><td><input name="c" label="Choice"/></td><td/><td/></tr></table>'
        '<img src="logo" alt="Logo" width="10mm"/>'
    )
    rows = '<table><tr for="n in range(1, 80)"><td>{{ n }}</td><td>a</td><td>b</td></tr></table>'
    short, long = structure(flow), structure(flow + rows)
    assert len(short) < 100
    assert len(long) > 400
    at = short.index("Note")  # the foot of the page
    assert long[:at] + long[at - len(short) :] == short


def test_figures_have_their_text_and_their_place_and_decoration_has_none():
    flow = (
        '<img src="logo" alt="Our logo" width="20mm" height="20mm"/><img src="faded" alt=""/>'
        '<barcode type="qr" value="a" alt="A code" width="20mm"/>'
        '<barcode type="qr" value="a" alt="" width="20mm"/>'
    )
    assert [re.sub(r"BBox=\d+,\d+,\d+,\d+", "BBox", line) for line in structure(flow)] == [
        "Figure Alt='Our logo' BBox",
        "  ''",
        "Figure Alt='A code' BBox",
        "  ''",
    ]


def test_a_figure_has_its_bounding_box_on_the_sheet():
    around = '<page size="A6" margin="10mm" bleed="3mm"/>'
    (figure, _) = structure('<img src="logo" alt="a" width="20mm" height="20mm"/>', around)
    assert figure == "Figure Alt='a' BBox=37,343,94,400"


def test_head_cells_have_a_scope():
    flow = (
        '<table><thead><tr><th colspan="2">a</th></tr></thead>'
        '<tr><th rowspan="2">b</th><td>c</td></tr><tr><th scope="column">d</th></tr></table>'
    )
    cells = [line.strip() for line in structure(flow) if line.strip().startswith("TH ")]
    assert [sorted(cell.split()) for cell in cells] == [
        ["ColSpan=2", "Scope=Column", "TH"],
        ["RowSpan=2", "Scope=Row", "TH"],
        ["Scope=Column", "TH"],
    ]


def test_head_cells_head_their_columns_in_a_row_of_their_own():
    flow = "<table><tr><th>a</th><th>b</th></tr><tr><th>c</th><td>d</td></tr></table>"
    cells = [line.strip() for line in structure(flow) if line.strip().startswith("TH ")]
    assert cells == ["TH Scope=Column", "TH Scope=Column", "TH Scope=Row"]


def test_transparent_content_keeps_its_place_in_the_structure():
    flow = '<p>a</p><div opacity="0.5"><p>b</p><div opacity="0.5"><p>c</p></div></div><p>d</p>'
    assert read_text(made(flow)).split() == ["a", "b", "c", "d"]


def test_a_long_document_has_the_structure_of_each_of_its_parts():
    part = (
        '<h2>Head</h2><p>one <a href="https://example.org">two</a> <span lang="de">drei</span></p>'
        "<ul><li>item</li></ul>"
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tr><td>a</td><td>b</td></tr>"
        '<tr><th scope="row">c</th><td/></tr><tr><td colspan="2">d</td></tr><tr><td/><td/></tr>'
        "<tr><td><p>e</p><p>f</p></td><td><table><tr><td>g</td></tr></table></td></tr></table>"
        '<div opacity="0.5"><p>faint</p></div>'
    )
    one = structure(part)
    many = structure('<div for="n in range(0, 30)" break-before="page">' + part + "</div>")
    assert [line.strip() for line in many] == [line.strip() for line in one] * 30


def test_a_long_table_holds_every_row_and_cell():
    file = made(
        '<table><tr for="n in range(0, 900)"><td>{{ n }}</td>'
        "<td>{{ 'b' if n % 7 != 0 else '' }}</td>"
        "<td>c</td></tr></table>"
    )
    table = structure_lines(file)
    assert table.count("TR") == 900
    assert table.count("TD") == 2_700
    expected = [
        str(n) if column == 0 else "b" if column == 1 else "c"
        for n in range(900)
        for column in range(3)
        if column != 1 or n % 7
    ]
    assert read_text(file).split() == expected


@pytest.mark.long
def test_the_tags_of_a_statement_of_two_thousand_rows_are_sound():
    cells = "".join(f"<td>{{{{ n * {n} }}}}</td>" for n in range(1, 9))
    file = made(f'<table><tr for="n in range(0, 2000)">{cells}</tr></table>', '<page size="A4"/>')
    lines = structure_lines(file)
    assert (lines.count("TR"), lines.count("TD")) == (2_000, 16_000)


def test_the_structure_of_a_long_table_is_small():
    rows = '<table><tr for="n in range(0, 600)"><td>{{ n }}</td><td>b</td><td>c</td></tr></table>'
    source = '<document tagged="%s" title="T"><flow>%s</flow></document>'
    tagged, untagged = (
        render(
            None,
            Payload(PayloadKind.XML, (source % (said, rows)).encode()),
            options=OPTIONS,
            resources=FolderImages(),
        ).pdf
        for said in ("true", "false")
    )
    assert len(tagged) - len(untagged) < 7 * 1_800  # bytes of a cell; 17 before they were aligned


def test_rows_of_a_long_table_begin_at_the_same_digit_of_their_sequences():
    file = made(
        '<table><tr for="n in range(0, 300)"><td>{{ n }}</td>'
        "<td>b</td><td>c</td><td>d</td><td>e</td></tr></table>"
    )
    with pikepdf.open(io.BytesIO(file)) as pdf:
        rows = [
            each
            for each in pdf.objects
            if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/TR"
        ]
        # When the first page is written, the document is not known to be long.
        after = [row for row in rows if row.K[0].Pg.objgen != pdf.pages[0].objgen]
        assert {int(row.K[0].K) % 10 for row in after} == {0}
        assert {int(row.K[4].K) % 10 for row in after} == {4}
        entries = pdf.Root.StructTreeRoot.ParentTree.Nums[3]
        assert [entry is None for entry in entries][:20] == 2 * ([False] * 5 + [True] * 5)
    assert structure_lines(file).count("TD") == 1_500


@pytest.mark.parametrize("columns", [1, 3, 5, 10, 12])
def test_long_tables_of_any_width_and_the_text_around_them_are_in_the_tree(columns: int):
    cells = "".join(f"<td>{{{{ n }}}}-{at}</td>" for at in range(columns - 1))
    sparse = f'<tr for="n in range(0, 9)">{cells}<td>{{{{ n % 2 or "" }}}}</td></tr>'
    table = f'<table><tr for="n in range(0, 130)">{cells}<td>end</td></tr>{sparse}</table>'
    file = made(f"<p>a</p>{table}<p>b</p>{table}<p>c</p>")
    lines = [line.strip() for line in structure_lines(file)]
    assert (lines.count("TR"), lines.count("TD")) == (2 * 139, 2 * 139 * columns)
    assert [line for line in lines if line in ("'a'", "'b'", "'c'")] == ["'a'", "'b'", "'c'"]
    texts = [line[1:-1] for line in lines if line[:1] == "'"]
    row = [*(f"0-{at}" for at in range(columns - 1)), "end"]
    assert texts[1 : columns + 1] == row


def test_empty_cells_and_rows_are_in_the_table():
    lines = structure("<table><tr><td/><td/></tr><tr><td>a</td><td/></tr></table>")
    assert [line.strip() for line in lines] == [
        *("Table", "TBody", "TR", "TD", "TD", "TR", "TD", "'a'", "TD", "''")
    ]


@pytest.mark.parametrize(
    ("marker", "numbering"),
    [("disc", "Disc"), ("circle", "Circle"), ("square", "Square"), ("none", "None")],
)
def test_lists_say_how_they_are_marked(marker: str, numbering: str):
    lines = structure(f'<ul list-style-type="{marker}"><li>a</li></ul>')
    assert lines[0] == f"L ListNumbering={numbering}"


@pytest.mark.parametrize(
    ("marker", "numbering"),
    [
        *(("decimal", "Decimal"), ("lower-alpha", "LowerAlpha"), ("upper-alpha", "UpperAlpha")),
        *(("lower-roman", "LowerRoman"), ("upper-roman", "UpperRoman")),
    ],
)
def test_numbered_lists_say_how_they_are_numbered(marker: str, numbering: str):
    # The third letter, c, is a Roman number as well.
    lines = structure(f'<ol list-style-type="{marker}" start="3"><li>a</li></ol>')
    assert lines[0] == f"L ListNumbering={numbering}"


def test_text_that_shrinks_is_in_the_tree_once():
    flow = f'<div height="30mm" overflow="shrink" min-font-size="2pt"><p>{LONG[:600]}</p></div>'
    assert read_text(made(flow)).split() == LONG[:600].split()


def test_a_page_of_nothing_is_fit_to_be_tagged():
    assert write_structure(made("")) == "Document\n"


def test_tagged_documents_are_not_merged_with_others():
    source = b'<document tagged="true" title="T"><flow><p>a</p></flow></document>'
    part = MergedPart(None, options=OPTIONS)
    with pytest.raises(AuthoringError, match='with tagged="true" cannot be merged'):
        part.add(Payload(PayloadKind.XML, source), name="a")


def test_a_lone_surrogate_breaks_no_text_string():
    structure = LogicalStructure("en", ["body"])
    structure.alts[structure.add("Figure", 1, None)] = "\ud800"
    assert structure.roles == ["Document", "Part", "Figure"]


def test_nodes_have_the_structure_type_of_their_element():
    named = {
        "ListBlock": "ul", "ListItem": "li", "Image": "img", "Barcode": "barcode", "Table": "table",
        "Contents": "toc", "Index": "index", "Chart": "chart", "FormField": "input", "Note": "footnote",
    }  # fmt: skip
    for name, tag in named.items():
        assert getattr(nodes, name).role.value == STRUCTURE_TYPES[tag]


def test_nodes_whose_content_stands_for_itself_have_no_structure_element():
    content = "<row><grid grid-template-columns='20mm'><p>a</p></grid></row><hr/><break/><p>b</p>"
    assert {STRUCTURE_TYPES[tag] for tag in ("row", "grid", "hr", "break")} == {"none"}
    assert [line.strip() for line in structure(content)] == ["P", "'a'", "P", "'b'"]


def test_a_link_leads_to_a_rule():
    file = made('<p><a href="#line">below</a></p><break/><hr id="line"/>')
    with pikepdf.open(io.BytesIO(file)) as pdf:
        (link,) = pdf.pages[0].Annots
        assert link.Dest[0].objgen == pdf.pages[1].obj.objgen


def test_no_page_content_is_extracted_twice():
    """A sequence of marked content has one number, and no number is given twice on a page."""
    file = made("<p>a <b>b</b> c</p><table><tr><td>d</td></tr></table>")
    with pikepdf.open(io.BytesIO(file)) as pdf:
        content = pdf.pages[0].Contents.read_bytes()
    numbers = [int(number) for number in re.findall(rb"/MCID (\d+)", content)]
    assert numbers == list(range(len(numbers)))
