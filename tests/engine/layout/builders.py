"""Documents for layout tests, in the square font: every character is half an em wide.

A line is 10 pt high and a character 5 pt wide unless a test says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workers.engine.diagnostics import Findings, SourceLocation, SourceSpan
from workers.engine.fonts.faces import Face
from workers.engine.layout.blocks.positioning import lay_out_rotated
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.display import (
    Fill,
    GlyphRun,
    Item,
    LaidOutDocument,
    LaidOutPage,
    Stroke,
    single_items,
)
from workers.engine.layout.passes import LAYOUTS, MEASURES, lay_out
from workers.engine.ports import DocumentInfo, Resources
from workers.engine.tree.document import Area, Document, Flow, PageMaster, RunningBox, Watermark
from workers.engine.tree.elements.tables.columns import add_all, initial_values
from workers.engine.tree.memo import DocumentMemo, TemplateMemo
from workers.engine.tree.nodes import (
    Block,
    CellContent,
    CellTemplate,
    Column,
    ColumnLayout,
    Container,
    Inline,
    LineBreak,
    ListBlock,
    ListItem,
    LoopStep,
    Occurrence,
    Paragraph,
    Position,
    Repeated,
    Role,
    Row,
    RowGroup,
    RowTemplate,
    Source,
    Table,
    TableBody,
    TableRow,
    TextRun,
)
from workers.engine.tree.page_values import Total
from workers.engine.tree.styles.computed import (
    Align,
    BoxStyle,
    BreakStyle,
    BreakTo,
    Overflow,
    ParagraphStyle,
    Style,
    TextStyle,
    VerticalAlign,
    WhiteSpace,
)
from workers.engine.units import (
    AUTO,
    BLACK,
    NO_BORDER,
    ZERO,
    Border,
    BorderStyle,
    Color,
    ColorSpace,
    Length,
    LengthKind,
    Sides,
)

RED = Color(ColorSpace.RGB, (1.0, 0.0, 0.0))
_SIDES = ("top", "right", "bottom", "left")
GREY = Color(ColorSpace.RGB, (0.5, 0.5, 0.5))
LINE = Border(1.0, BorderStyle.SOLID, BLACK)


class SquareFace:
    """A face whose every character is half an em wide; `ignored` ones are not seen."""

    name = "Square"
    ascent = 0.8
    descent = 0.2
    cap_height = 0.7
    underline_position = -0.1
    underline_thickness = 0.05
    strike_position = 0.3
    shapes = False
    is_ideographic = False

    def measure(self, text: str) -> float:
        return 0.5 * sum(char not in "\u00ad\u200b\u2060" for char in text)

    def measure_all(self, texts: Sequence[str]) -> list[float]:
        return list(map(self.measure, texts))

    def measure_words(self, words: Sequence[str]) -> list[float]:
        return self.measure_all(words)

    def depth(self, text: str) -> float:
        return 0.0

    def kern(self, first: str, second: str) -> float:
        return 0.0

    def encode(self, text: str) -> bytes:
        return text.encode()

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        return [self.encode(text) for text in texts]

    def draws_simply(self, text: str) -> bool:
        return text.isascii()

    def encode_justified(self, text: str, adjustment: float) -> bytes:
        return f"[{text} {adjustment:.0f}]".encode()

    def append_space(self, operand: bytes) -> bytes:
        return operand + b" "


SQUARE = SquareFace()


class SquareFonts:
    """Every style is written in the square face, which has no Thai."""

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Face, str]]:
        return [(SQUARE, text)] if text else []

    def find(self, style: TextStyle) -> Face:
        return SQUARE

    def find_missing(self, text: str) -> str:
        return "".join(char for char in text if "\u0e00" <= char <= "\u0e7f")

    def find_memo(self, memo: TemplateMemo) -> TemplateMemo:
        return memo


TEXT = TextStyle(("Square",), 10.0, 400, False, BLACK, 0.0, "none", 0.0, None, "en")
PARAGRAPH = ParagraphStyle(
    10.0, Align.LEFT, 0.0, WhiteSpace.NORMAL, "manual", True, orphans=1, widows=1, is_rtl=False
)
BOX = BoxStyle(
    width=AUTO,
    height=AUTO,
    min_width=ZERO,
    max_width=None,
    min_height=ZERO,
    max_height=None,
    margin=Sides(ZERO, ZERO, ZERO, ZERO),
    padding=Sides(0.0, 0.0, 0.0, 0.0),
    border=Sides(NO_BORDER, NO_BORDER, NO_BORDER, NO_BORDER),
    radius=0.0,
    background=None,
    background_image=None,
    opacity=1.0,
    overflow=Overflow.ERROR,
    min_font_size=None,
    rotate=0.0,
    vertical_align=VerticalAlign.TOP,
)
BREAKS = BreakStyle(BreakTo.AUTO, BreakTo.AUTO, False, None, None)
PLAIN = Style(TEXT, PARAGRAPH, BOX, BREAKS)


def points(*values: float) -> Sides[Length]:
    return Sides(*(Length(value) for value in sides(*values)))


def sides(*values: float) -> Sides[float]:
    top, *rest = values
    right = rest[0] if rest else top
    bottom = rest[1] if len(rest) > 1 else top
    return Sides(top, right, bottom, rest[2] if len(rest) > 2 else right)


def styled(**given: Any) -> Style:
    """Make a style; each name goes to the part of the style that has it."""
    style = PLAIN
    for name, value in given.items():
        for part in ("box", "text", "paragraph", "breaks"):
            values = getattr(style, part)
            if hasattr(values, name):
                style = replace(style, **{part: replace(values, **{name: value})})
                break
        else:
            raise TypeError(name)
    return style


def at(tag: str, loop: tuple[LoopStep, ...] = ()) -> Source:
    return Source(SourceLocation(tag, SourceSpan(1, 1, 1, 9)), loop)


def p(*inlines: str | Inline, tag: str = "p", role: Role = Role.P, **given: Any) -> Paragraph:
    style = given.pop("style", None) or styled(**given)
    made = tuple(TextRun(i, style.text) if isinstance(i, str) else i for i in inlines)
    return Paragraph(at(tag), role, style, made)


def heading(text: str, **given: Any) -> Paragraph:
    made = p(text, tag="h1", role=Role.H1, **{"after": BreakTo.AVOID, **given})
    return replace(made, outline=text)


def lines_of(count: int, **given: Any) -> Paragraph:
    """A paragraph of `n` lines, with the texts `1` to `n`."""
    inlines: list[Inline] = []
    for number in range(1, count + 1):
        inlines += [TextRun(f"{number}", TEXT), LineBreak(TEXT)]
    return p(*inlines[:-1], **given)


def div(*children: Block, tag: str = "div", **given: Any) -> Container:
    return Container(at(tag), Role.DIV, styled(**given), children)


def row(*children: Block, gap: float = 0.0, align: str = "start", **given: Any) -> Row:
    return Row(at("row"), styled(**given), children, gap, align)


def ul(*items: str, marker: str = "*", **given: Any) -> ListBlock:
    made = tuple(ListItem(at("li"), PLAIN, marker, (p(text),)) for text in items)
    return ListBlock(at("ul"), styled(**{"padding": sides(0, 0, 0, 20), **given}), made, "disc")


def column(width: float | Length = AUTO, least: float = 0.0, most: float | None = None) -> Column:
    length = width if isinstance(width, Length) else Length(width)
    return Column(length, Length(least), None if most is None else Length(most))


def share(value: float = 1.0) -> Length:
    return Length(value, LengthKind.FRACTION)


def percent(value: float) -> Length:
    return Length(value, LengthKind.PERCENT)


def template(
    count: int, *, spans: Sequence[int] = (), cell: Style = PLAIN, **given: Any
) -> RowTemplate:
    repeats = given.pop("repeats", False)
    given = {"avoid_inside": True, **given}
    spans = spans or (1,) * count
    cells = tuple(CellTemplate(at("td"), Role.CELL, cell, span, 1) for span in spans)
    return RowTemplate(at("tr"), styled(**given), cells, repeats)


def tr(shared: RowTemplate, *cells: CellContent, index: int = 0, **given: Any) -> TableRow:
    loop = (LoopStep("lines", index),) if index else ()
    return TableRow(shared, cells, loop, **given)


def group(
    *rows: TableRow, tag: str = "thead", on: Occurrence = Occurrence.ALL, **given: Any
) -> RowGroup:
    return RowGroup(at(tag), styled(**given), on, always(rows))


def body(*rows: TableRow, **given: Any) -> TableBody:
    return TableBody(at("tbody"), styled(**given), rows)


def table(
    *bodies: TableBody,
    columns: Sequence[Column] = (),
    heads: Sequence[RowGroup] = (),
    feet: Sequence[RowGroup] = (),
    stripe: tuple[Color | None, ...] = (),
    **given: Any,
) -> Table:
    return Table(
        at("table"), styled(**given), tuple(columns), tuple(heads), bodies, tuple(feet), stripe
    )


def totalled(made: Table, *totals: Total) -> Table:
    """Return a table with totals, to which its rows contribute."""
    carried = initial_values(totals)
    for row in (row for body in made.bodies for row in body.rows):
        row.carried = carried = add_all(totals, carried, [row.contributions])
    return replace(made, totals=totals)


def always(made: tuple[Any, ...]) -> Repeated[Any, Any]:
    """Return content that is the same on every page or piece."""
    return Repeated(lambda _: made, is_static=True)


def changing(make: Callable[[Any], tuple[Any, ...]]) -> Repeated[Any, Any]:
    """Return content made from the values of the page or piece."""
    return Repeated(make, is_static=False)


def running(
    content: Any, *, tag: str = "header", most: Length | None = None, **given: Any
) -> RunningBox:
    def make(values: Any) -> tuple[Block, ...]:
        blocks = content.evaluate(values)
        return (Container(at(tag), Role.ARTIFACT, styled(**given), blocks),) if blocks else ()

    return RunningBox(at(tag), Repeated(make, content.is_static), most or percent(40))


def master(
    width: float = 100.0,
    height: float = 100.0,
    *,
    margin: float = 0.0,
    header: RunningBox | None = None,
    footer: RunningBox | None = None,
    on: Occurrence = Occurrence.ALL,
    name: str = "default",
    **given: Any,
) -> PageMaster:
    return PageMaster(
        at("page"),
        name,
        on,
        width,
        height,
        sides(margin),
        **{"background": None, "background_image": None, "boxes": None, **given},
        header=header,
        footer=footer,
    )


def area(flow: str = "body", *, columns: int = 1, gap: float = 0.0, **given: Any) -> Area:
    """An area; offsets are points."""
    offsets = {side: Length(given.pop(side)) for side in _SIDES if side in given}
    lengths = {name: Length(given.pop(name)) for name in ("width", "height") if name in given}
    padding = given.pop("padding", sides(0))
    return Area(
        at("area"),
        PLAIN,
        flow,
        ColumnLayout(columns, gap, rule=given.pop("rule", NO_BORDER)),
        given.pop("overflow", None),
        Position(**offsets),
        **{"width": None, "height": None, **lengths},
        padding=padding,
    )


def box(*children: Block, is_over: bool = False, **given: Any) -> Container:
    """A box out of the flow where an offset (points) is given."""
    offsets = {side: Length(given.pop(side)) for side in _SIDES if side in given}
    position = Position(**offsets, is_over=is_over) if offsets or is_over else None
    return Container(at("box"), Role.DIV, styled(**given), children, position, is_box=True)


def columns(*children: Block, count: int = 2, gap: float = 0.0, **given: Any) -> Container:
    made = ColumnLayout(count, gap, given.pop("is_balanced", True))
    return Container(at("div"), Role.DIV, styled(**given), children, columns=made)


def document(
    *blocks: Block,
    masters: Sequence[PageMaster] = (),
    max_pages: int | None = None,
    watermarks: Sequence[Watermark] = (),
    flows: Sequence[Flow] = (),
) -> Document:
    body = Flow(at("flow"), "body", "default", blocks, max_pages)
    info = DocumentInfo("", "", "", "", "en", None)
    masters = tuple(masters) or (master(),)
    return Document(info, masters, (body, *flows), None, tuple(watermarks), (), is_tagged=False)


def flow(name: str, *blocks: Block, page: str = "default") -> Flow:
    return Flow(at("flow"), name, page, blocks, None)


def laid(
    *blocks: Block,
    findings: Findings | None = None,
    resources: Resources | None = None,
    **given: Any,
) -> LaidOutDocument:
    """Lay out a document in the square font; without `findings` given there must be none."""
    found = findings if findings is not None else Findings()
    result = lay_out(
        document(*blocks, **given),
        resources=resources or Resources(),
        findings=found,
        fonts=SquareFonts(),
    ).draw_all()
    if findings is None:
        assert [d.text for d in found] == []
    return result


def context() -> LayoutContext:
    memo = DocumentMemo(TemplateMemo())
    return LayoutContext(
        Resources(), Findings(), SquareFonts(), LAYOUTS, MEASURES, lay_out_rotated, memo
    )


def texts(page: LaidOutPage) -> list[str]:
    return [run.text for run in runs(page)]


def runs(page: LaidOutPage) -> list[GlyphRun]:
    """Return the runs of text of a page, those of table rows one by one."""
    return [item for item in single_items(page.items) if isinstance(item, GlyphRun)]


def placed(page: LaidOutPage) -> list[tuple[str, float, float]]:
    """Return each text with its left edge and the top of its line."""
    return [(run.text, round(run.x, 2), round(run.y - 8, 2)) for run in runs(page)]


def fills(page: LaidOutPage) -> list[tuple[float, float, float, float]]:
    return [tuple(round(v, 2) for v in item[:4]) for item in of_kind(page, Fill)]


def strokes(page: LaidOutPage) -> list[tuple[float, float, float, float]]:
    return [tuple(round(v, 2) for v in item[:4]) for item in of_kind(page, Stroke)]


def of_kind(page: LaidOutPage, kind: type) -> list[Item]:
    return [item for item in single_items(page.items) if isinstance(item, kind)]
