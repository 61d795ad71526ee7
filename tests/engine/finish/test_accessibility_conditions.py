"""Each condition of the Matterhorn Protocol notices its failure, in a file that conforms otherwise."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import pikepdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph
from pikepdf import Array, Dictionary, Name, String

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.matterhorn import CONDITIONS
from tests.engine.finish.test_accessibility import made
from tests.engine.paint.test_tagged import made as tagged

Damage = Callable[[pikepdf.Pdf], object]


@cache
def good() -> bytes:
    return made()


def broken(damage: Damage, **saved: Any) -> list[str]:
    with pikepdf.open(io.BytesIO(good())) as pdf:
        damage(pdf)
        written = io.BytesIO()
        pdf.save(written, **saved)
    return find_violations(written.getvalue(), promises=True)


def element(pdf: pikepdf.Pdf, kind: str) -> Any:
    return next(one for one in elements(pdf) if str(one.S) == f"/{kind}")


def elements(pdf: pikepdf.Pdf) -> list[Any]:
    found = [one for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/S" in one]
    return [one for one in found if "/P" in one]


def rename(kind: str, other: str) -> Damage:
    return lambda pdf: element(pdf, kind).__setitem__("/S", Name(f"/{other}"))


def draw(operators: bytes) -> Damage:
    return lambda pdf: pdf.pages[0].contents_add(pdf.make_stream(operators))


def rewrite(before: bytes, after: bytes) -> Damage:
    def rewritten(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0]
        page.contents_coalesce()
        content = page.Contents.read_bytes()
        assert before in content
        page.Contents.write(content.replace(before, after, 1))

    return rewritten


def packet(before: bytes, after: bytes) -> Damage:
    def rewritten(pdf: pikepdf.Pdf) -> None:
        content = pdf.Root.Metadata.read_bytes()
        assert before in content
        pdf.Root.Metadata.write(content.replace(before, after))

    return rewritten


def root(key: str, value: Any) -> Damage:
    return lambda pdf: pdf.Root.__setitem__(key, value)


def silent(pdf: pikepdf.Pdf) -> None:
    """Remove every language from a file."""
    for holder in [pdf.Root, *elements(pdf)]:
        if "/Lang" in holder:
            del holder.Lang


def silent_with(damage: Damage) -> Damage:
    return lambda pdf: (silent(pdf), damage(pdf))


def note(id_: bytes | None) -> Damage:
    def changed(pdf: pikepdf.Pdf) -> None:
        for each in elements(pdf):
            if each.S == "/P":
                each.S = Name.Note
                if id_ is not None:
                    each.ID = String(id_)

    return changed


def embed(pdf: pikepdf.Pdf) -> None:
    spec = Dictionary(Type=Name.Filespec, F="a", EF=Dictionary(F=pdf.make_stream(b"a")))
    pdf.Root.Extra = pdf.make_indirect(spec)


def layers(pdf: pikepdf.Pdf, **default: Any) -> None:
    pdf.Root.OCProperties = Dictionary(OCGs=Array(), D=Dictionary(**default))


def clip(**entries: Any) -> Damage:
    made_of = Dictionary(S=Name.MCD, D="a", **entries)
    return lambda pdf: pdf.Root.__setitem__("/Extra", pdf.make_indirect(made_of))


def annotate(kind: str, **entries: Any) -> Damage:
    """Turn the link of a page into another annotation."""

    def changed(pdf: pikepdf.Pdf) -> None:
        annotation = pdf.pages[0].Annots[0]
        annotation.Subtype = Name(f"/{kind}")
        for key, value in entries.items():
            annotation[f"/{key}"] = value
        if kind == "Widget":
            pdf.Root.AcroForm = Dictionary(Fields=Array([annotation]))

    return changed


def unlabelled(pdf: pikepdf.Pdf) -> None:
    annotate("Widget", TU="Who")(pdf)


def attached(pdf: pikepdf.Pdf) -> None:
    annotate("FileAttachment", FS=Dictionary(Type=Name.Filespec, F="a"))(pdf)


def marked_by_printer(pdf: pikepdf.Pdf) -> None:
    drawn = pdf.make_stream(b"0 0 1 1 re f", Type=Name.XObject, Subtype=Name.Form)
    annotate("PrinterMark", AP=Dictionary(N=drawn))(pdf)


def refer(pdf: pikepdf.Pdf) -> None:
    form = pdf.make_stream(b"", Type=Name.XObject, Subtype=Name.Form, Ref=Dictionary())
    pdf.pages[0].Resources.XObject.Other = form
    draw(b"/Artifact BMC /Other Do EMC")(pdf)


def draw_twice(pdf: pikepdf.Pdf) -> None:
    form = next(
        one for one in pdf.objects if isinstance(one, pikepdf.Stream) and "/StructParents" in one
    )
    pdf.pages[0].Resources.XObject.Twice = form
    draw(b"/Artifact BMC /Twice Do EMC")(pdf)


def swap_parents(pdf: pikepdf.Pdf) -> None:
    nums = pdf.Root.StructTreeRoot.ParentTree.Nums
    nums[1][0], nums[1][1] = nums[1][1], nums[1][0]


def two_headings(pdf: pikepdf.Pdf) -> None:
    for kind in ("H1", "H2"):
        rename(kind, "H")(pdf)


# --- fonts --------------------------------------------------------------------------------------


def font(pdf: pikepdf.Pdf) -> Any:
    """Return the composite font that the text of the page is set in."""
    return pdf.pages[0].Resources.Font.F1


def inner(pdf: pikepdf.Pdf) -> Any:
    return font(pdf).DescendantFonts[0]


def unicode(before: bytes, after: bytes) -> Damage:
    def rewritten(pdf: pikepdf.Pdf) -> None:
        content = font(pdf).ToUnicode.read_bytes()
        assert before in content
        font(pdf).ToUnicode.write(content.replace(before, after))

    return rewritten


def formula_of_unknown_characters(pdf: pikepdf.Pdf) -> None:
    rename("P", "Formula")(pdf)
    font(pdf).ToUnicode.write(b"begincmap endcmap")


def cmap(content: bytes = b"", **entries: Any) -> Damage:
    """Encode the font by an embedded CMap, whose entries agree with the font unless given."""

    def changed(pdf: pikepdf.Pdf) -> None:
        info = Dictionary(Registry="Adobe", Ordering="Identity", Supplement=0)
        for key in ("Registry", "Ordering", "Supplement"):
            if key in entries:
                info[f"/{key}"] = entries[key]
        others = {key: entries[key] for key in entries.keys() & {"WMode", "UseCMap"}}
        font(pdf).Encoding = pdf.make_stream(content, CIDSystemInfo=info, **others)

    return changed


def unembedded(pdf: pikepdf.Pdf) -> None:
    del inner(pdf).FontDescriptor.FontFile2


def glyph(number: int) -> Damage:
    """Map the letter e to a glyph."""

    def changed(pdf: pikepdf.Pdf) -> None:
        table = bytearray(inner(pdf).CIDToGIDMap.read_bytes())
        table[2 * ord("e") : 2 * ord("e") + 2] = number.to_bytes(2)
        inner(pdf).CIDToGIDMap.write(bytes(table))

    return changed


def cid_set(bits: bytes) -> Damage:
    return lambda pdf: inner(pdf).FontDescriptor.__setitem__("/CIDSet", pdf.make_stream(bits))


def simple(
    *, flags: int = 32, cmaps: tuple[tuple[int, int], ...] = ((3, 1),), **entries: Any
) -> Damage:
    """Show an A in a simple TrueType font, which is not symbolic unless `flags` say so."""

    def changed(pdf: pikepdf.Pdf) -> None:
        program = pdf.make_stream(_true_type(cmaps))
        descriptor = Dictionary(Type=Name.FontDescriptor, Flags=flags, FontFile2=program)
        made_of = Dictionary(
            Type=Name.Font,
            Subtype=Name.TrueType,
            BaseFont=Name.Square,
            FirstChar=65,
            Widths=Array([600]),
            FontDescriptor=pdf.make_indirect(descriptor),
        )
        for key, value in entries.items():
            made_of[f"/{key}"] = value
        pdf.pages[0].Resources.Font.Other = pdf.make_indirect(made_of)
        draw(b"/Artifact BMC BT /Other 9 Tf (A) Tj ET EMC")(pdf)

    return changed


def _true_type(cmaps: tuple[tuple[int, int], ...]) -> bytes:
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "A"])
    builder.setupCharacterMap({65: "A"})
    builder.setupGlyf({".notdef": Glyph(), "A": Glyph()})
    builder.setupHorizontalMetrics({".notdef": (600, 0), "A": (600, 0)})
    builder.setupHorizontalHeader()
    builder.setupPost()
    written = io.BytesIO()
    builder.save(written)
    opened = TTFont(written)
    pattern = opened["cmap"].getcmap(3, 1)
    tables = []
    for platform, encoding in cmaps:
        table = type(pattern)(4)
        table.platformID, table.platEncID = platform, encoding
        table.language, table.cmap = 0, dict(pattern.cmap)
        tables.append(table)
    opened["cmap"].tables = tables
    if not tables:
        del opened["cmap"]
    written = io.BytesIO()
    opened.save(written)
    return written.getvalue()


def type_1(charset: str) -> Damage:
    """Add a Type 1 font with the glyph A, whose CharSet is as given."""

    def changed(pdf: pikepdf.Pdf) -> None:
        builder = FontBuilder(1000, isTTF=False)
        builder.setupGlyphOrder([".notdef", "A"])
        strings = {one: T2CharStringPen(600, None).getCharString() for one in (".notdef", "A")}
        builder.setupCFF("Square", {}, strings, {})
        program = pdf.make_stream(builder.font["CFF "].compile(builder.font), Subtype=Name.Type1C)
        descriptor = Dictionary(Type=Name.FontDescriptor, FontFile3=program, CharSet=charset)
        made_of = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type1,
            Encoding=Name.WinAnsiEncoding,
            FontDescriptor=pdf.make_indirect(descriptor),
        )
        pdf.pages[0].Resources.Font.Other = pdf.make_indirect(made_of)

    return changed


def encoding(**entries: Any) -> Dictionary:
    return Dictionary(Type=Name.Encoding, **entries)


WIN = Name.WinAnsiEncoding
NAMED = Array([65, Name.A])
SYMBOLIC = 4

DAMAGE: list[tuple[str, Damage]] = [
    ("01-003", rewrite(b"BDC\n", b"BDC /Artifact BMC EMC\n")),
    ("01-004", draw(b"/Artifact BMC /P <</MCID 0>> BDC EMC EMC")),
    ("01-005", draw(b"0 0 1 1 re f")),
    ("01-005", draw(b"/P <</MCID 999>> BDC EMC")),
    ("01-005", rewrite(b"/Artifact BMC", b"/Other BMC")),
    ("01-007", lambda pdf: pdf.Root.MarkInfo.__setitem__("/Suspects", True)),
    ("02-001", rename("P", "Paragraph")),
    ("02-003", lambda pdf: roles(pdf, A=Name.B, B=Name.A)),
    ("02-004", lambda pdf: roles(pdf, P=Name.H1)),
    ("06-001", lambda pdf: pdf.Root.__delitem__("/Metadata")),
    ("06-002", packet(b"<pdfuaid:part>1<", b"<pdfuaid:part>2<")),
    ("06-003", packet(b">Offer<", b"> <")),
    ("07-001", lambda pdf: pdf.Root.__delitem__("/ViewerPreferences")),
    ("07-002", lambda pdf: pdf.Root.ViewerPreferences.__setitem__("/DisplayDocTitle", False)),
    ("09-004", rename("TR", "Div")),
    ("09-004", rename("TD", "P")),
    ("09-004", rename("H1", "TD")),
    ("09-004", rename("TBody", "THead")),
    ("09-004", rename("TBody", "TFoot")),
    ("09-005", rename("L", "Div")),
    ("09-005", rename("LBody", "P")),
    ("09-006", rename("TOC", "Div")),
    ("09-006", rename("TOCI", "P")),
    ("09-007", rename("H1", "RB")),
    ("09-008", rename("H1", "WT")),
    ("10-001", unicode(b"<0061> <0061>", b"<FFFF> <0061>")),
    ("11-001", silent),
    ("11-001", lambda pdf: element(pdf, "Span").__setitem__("/Lang", "")),
    ("11-002", silent),
    ("11-002", silent_with(draw(b"/Span <</ActualText (a)>> BDC EMC"))),
    ("11-003", silent),
    ("11-004", silent),
    ("11-005", silent_with(unlabelled)),
    ("11-006", silent),
    ("13-004", lambda pdf: element(pdf, "Figure").__delitem__("/Alt")),
    ("14-002", rename("H1", "H2")),
    ("14-003", rename("H2", "H3")),
    ("14-006", two_headings),
    ("14-007", rename("H2", "H")),
    ("15-003", lambda pdf: element(pdf, "TH").__delitem__("/A")),
    ("17-002", rename("H1", "Formula")),
    ("17-003", formula_of_unknown_characters),
    ("19-003", note(None)),
    ("19-004", note(b"a")),
    ("20-001", root("/OCProperties", Dictionary(Configs=Array([Dictionary()])))),
    ("20-002", layers),
    ("20-003", lambda pdf: layers(pdf, Name="a", AS=Array())),
    ("21-001", embed),
    (
        "25-001",
        lambda pdf: pdf.Root.__setitem__(
            "/AcroForm",
            Dictionary(
                XFA=Array(["config", pdf.make_stream(b"<dynamicRender>required</dynamicRender>")])
            ),
        ),
    ),
    ("28-002", annotate("Stamp")),
    ("28-004", annotate("Stamp", Contents="")),
    ("28-005", annotate("Widget")),
    ("28-006", annotate("Hologram")),
    ("28-007", annotate("TrapNet")),
    ("28-008", lambda pdf: pdf.pages[0].__delitem__("/Tabs")),
    ("28-009", lambda pdf: pdf.pages[0].__setitem__("/Tabs", Name.R)),
    ("28-010", annotate("Widget")),
    ("28-011", rename("Link", "Span")),
    ("28-012", annotate("Link", Contents=" ")),
    ("28-014", clip(Alt=Array(["", "a"]))),
    ("28-015", clip(CT="video/mp4")),
    ("28-016", attached),
    ("28-017", annotate("PrinterMark")),
    ("28-018", marked_by_printer),
    ("30-001", refer),
    ("30-002", draw_twice),
    ("31-001", cmap(Registry="Other")),
    ("31-002", cmap(Ordering="Japan1")),
    ("31-003", cmap(Supplement=2)),
    ("31-004", lambda pdf: inner(pdf).__setitem__("/CIDToGIDMap", Name.Other)),
    ("31-005", lambda pdf: inner(pdf).__delitem__("/CIDToGIDMap")),
    ("31-006", lambda pdf: font(pdf).__setitem__("/Encoding", Name("/Other-H"))),
    ("31-007", cmap(b"/WMode 1 def")),
    ("31-007", cmap(WMode=1)),
    ("31-008", cmap(b"/Other-H usecmap")),
    ("31-008", cmap(UseCMap=Name("/Other-H"))),
    ("31-009", unembedded),
    ("31-011", glyph(60_000)),
    ("31-012", type_1("/")),
    ("31-013", type_1("/A/B")),
    ("31-014", cid_set(b"\x00")),
    ("31-015", cid_set(b"\xff" * 20)),
    ("31-016", lambda pdf: inner(pdf).__setitem__("/W", Array([32, Array([1])]))),
    ("31-016", simple(Encoding=WIN, Widths=Array([700]))),
    ("31-017", simple(Encoding=WIN, cmaps=((3, 0),))),
    ("31-018", lambda pdf: (simple(Encoding=WIN)(pdf), draw(b"BT /Other 9 Tf (B) Tj ET")(pdf))),
    ("31-019", simple()),
    ("31-020", simple(Encoding=encoding(Differences=NAMED))),
    ("31-021", simple(Encoding=Name.StandardEncoding)),
    ("31-021", simple(Encoding=encoding(BaseEncoding=Name.MacExpertEncoding))),
    ("31-022", simple(Encoding=encoding(BaseEncoding=WIN, Differences=Array([65, Name.glyph7])))),
    ("31-023", simple(Encoding=encoding(BaseEncoding=WIN, Differences=NAMED), cmaps=((1, 0),))),
    ("31-024", simple(flags=SYMBOLIC, Encoding=WIN)),
    ("31-025", simple(flags=SYMBOLIC, cmaps=())),
    ("31-026", simple(flags=SYMBOLIC, cmaps=((1, 0), (3, 1)))),
    ("31-027", lambda pdf: font(pdf).__delitem__("/ToUnicode")),
    ("31-028", unicode(b"<0061> <0061>", b"<0061> <0000>")),
    ("31-029", unicode(b"<0061> <0061>", b"<0061> <FEFF>")),
    ("31-030", glyph(0)),
    ("6.2", lambda pdf: pdf.Root.__delitem__("/MarkInfo")),
    ("7.1", lambda pdf: pdf.Root.__delitem__("/StructTreeRoot")),
    ("7.2", lambda pdf: element(pdf, "TD").A.__setitem__("/ColSpan", 3)),
    ("structure: ParentTree and tree differ", swap_parents),
    ("structure: ParentTree lacks content", lambda pdf: pdf.pages[0].__delitem__("/StructParents")),
    (
        "structure: ParentTree and annotation differ",
        lambda pdf: pdf.pages[0].Annots[0].__delitem__("/StructParent"),
    ),
    (
        "structure: P is not the parent",
        lambda pdf: element(pdf, "H1").__setitem__("/P", element(pdf, "H2")),
    ),
    ("structure: marked content has no end", draw(b"/Artifact BMC")),
    ("structure: EMC without a beginning", draw(b"EMC")),
]


def roles(pdf: pikepdf.Pdf, **mapped: Any) -> None:
    pdf.Root.StructTreeRoot.RoleMap = Dictionary(**mapped)


def test_damage_of_nothing_is_no_damage():
    assert broken(lambda pdf: None) == []


@pytest.mark.parametrize(
    ("condition", "damage"), DAMAGE, ids=[f"{at}-{number}" for at, (number, _) in enumerate(DAMAGE)]
)
def test_each_condition_notices_its_failure(condition: str, damage: Damage):
    assert [found for found in broken(damage) if found.startswith(condition)] != []


def test_a_simple_font_for_typed_text_conforms():
    assert broken(simple(Encoding=WIN)) == []


def test_encryption_that_keeps_screen_readers_out_is_noticed():
    allow = pikepdf.Permissions(accessibility=False)
    locked = pikepdf.Encryption(owner="a", user="", allow=allow, R=3, aes=False, metadata=False)
    [found] = broken(lambda pdf: None, encryption=locked)
    assert found.startswith("26-002")


def test_encryption_without_permissions_is_noticed():
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(good())) as pdf:
        locked = pikepdf.Encryption(owner="a", user="", R=3, aes=False, metadata=False)
        pdf.save(written, encryption=locked, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    [found] = find_violations(written.getvalue().replace(b"/P -", b"/Q -"))
    assert found.startswith("26-001")


def test_every_condition_that_a_program_can_decide_has_a_file_that_fails_it():
    assert {number for number, _ in DAMAGE} | {"26-001", "26-002"} >= CONDITIONS.keys()


IRREGULAR = (
    '<h1>a</h1><table><thead><tr><th>b</th><th>c</th></tr></thead><tr><th colspan="2">d</th></tr>'
    "<tr><th>e</th><td>f</td></tr></table><table><tr><td>g</td></tr></table>"
)


def heads_of(pdf: pikepdf.Pdf) -> list[Any]:
    return [one for one in elements(pdf) if one.S == "/TH"]


def headers_of(pdf: pikepdf.Pdf) -> Any:
    return next(one.A for one in elements(pdf) if one.S == "/TD" and "/A" in one)


def names_of(pdf: pikepdf.Pdf) -> Any:
    return pdf.Root.StructTreeRoot.IDTree.Kids[0].Names


@pytest.mark.parametrize(
    ("found", "damage"),
    [
        ("a TH twice", lambda pdf: headers_of(pdf).Headers.append(headers_of(pdf).Headers[0])),
        ("no TH of the table", lambda pdf: headers_of(pdf).Headers.append(String("th"))),
        ("no TH of the table", lambda pdf: heads_of(pdf)[0].__setitem__("/S", Name.TD)),
        (
            "an ID is not unique",
            lambda pdf: heads_of(pdf)[0].__setitem__("/ID", heads_of(pdf)[1].ID),
        ),
        ("IDTree and the IDs", lambda pdf: heads_of(pdf)[0].__delitem__("/ID")),
        ("IDTree and the IDs", lambda pdf: pdf.Root.StructTreeRoot.__delitem__("/IDTree")),
        ("IDTree and the IDs", lambda pdf: names_of(pdf).__setitem__(1, names_of(pdf)[3])),
        ("Limits of the IDs", lambda pdf: names_of(pdf).__setitem__(0, String("a"))),
    ],
)
def test_headers_and_ids_that_do_not_agree_are_noticed(found: str, damage: Damage):
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(tagged(IRREGULAR))) as pdf:
        damage(pdf)
        pdf.save(written)
    assert any(found in each for each in find_violations(written.getvalue()))
