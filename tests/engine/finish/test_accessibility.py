"""PDF/UA-1: a conforming file passes every condition, and each condition notices when it fails."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pikepdf
import pytest

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind

DOCUMENT = """<document profile="{profile}" title="Offer" lang="en">
  <page size="A6" margin="8mm"><footer><p>{{{{ page.number }}}}, <a href="https://example.com/">site</a></p></footer></page>
  <flow><h1 id="a">Offer</h1><toc/><h2>Goods</h2>
    <p>To <a href="#a">the beginning</a>, <span lang="de">Guten Tag</span>.</p>
    <ul><li>screws</li></ul>
    <div opacity="0.5" background="#00539c"><p>seen through</p></div>
    <img src="logo" alt="Our logo" width="10mm"/><img src="faded" alt="" width="10mm"/>
    <table><thead><tr><th>Item</th><th>Price</th></tr></thead>
      <tr><td rowspan="2">Screw</td><td>1</td></tr><tr><td>2</td></tr></table></flow>
  <watermark text="COPY"/>
</document>"""


def made(profile: str = "pdf/ua-1", *, is_draft: bool = False) -> bytes:
    payload = Payload(PayloadKind.XML, DOCUMENT.format(profile=profile).encode())
    options = replace(OPTIONS, is_draft=is_draft)
    return render(None, payload, options=options, resources=FolderImages()).pdf


@pytest.mark.parametrize("is_draft", [False, True])
@pytest.mark.parametrize(
    "profile", ["pdf/ua-1", "pdf/a-3a pdf/ua-1", "pdf/a-3b pdf/ua-1", "pdf/ua-1 pdf/a-2b"]
)
def test_a_document_that_promises_to_conforms(profile: str, is_draft: bool):
    assert find_violations(made(profile, is_draft=is_draft)) == []


@pytest.mark.parametrize(
    ("profile", "part"), [("pdf/a-3b pdf/ua-1", 3), ("pdf/a-2b pdf/ua-1", 2), ("pdf/a-3a", 3)]
)
def test_a_document_may_conform_to_a_standard_for_archives_too(profile: str, part: int):
    assert find_archive_violations(made(profile), part) == []


@pytest.mark.parametrize(
    "attribute",
    [
        'profile="pdf/a-2b pdf/ua-1"',
        'profile="pdf/a-3a pdf/ua-1"',
        'profile="pdf/a-3b pdf/ua-1"',
        'profile="pdf/ua-1"',
        'profile="pdf/a-3a"',
    ],
)
def test_every_profile_that_requires_tags_can_be_named(attribute: str):
    source = f'<document {attribute} title="a" lang="en"><flow><p>a</p></flow></document>'
    file = render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf
    assert find_violations(file) == ([] if "ua" in attribute else ["06-002 identifier"])


@pytest.mark.parametrize("profile", ["pdf/a-2b pdf/a-3b", "pdf/ua-1 pdf/ua-1", "pdf/ua-2", ""])
def test_other_profiles_are_refused(profile: str):
    source = f'<document profile="{profile}"><flow><p>a</p></flow></document>'
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [one.code for one in found.errors] == ["wrong-value"]


def test_pdf_a_level_a_is_tagged_and_declared():
    file = made("pdf/a-3a")
    assert b"<pdfaid:conformance>A<" in file
    assert find_violations(file) == ["06-002 identifier"]


def test_a_document_that_is_only_tagged_promises_nothing():
    source = b'<document tagged="true"><flow><h3>a</h3></flow></document>'
    file = render(None, Payload(PayloadKind.XML, source), options=OPTIONS).pdf
    assert b"pdfuaid" not in file
    assert find_violations(file, promises=False) == []


def test_a_document_that_is_not_tagged_has_no_tree():
    file = render(
        None,
        Payload(PayloadKind.XML, b'<document tagged="false"><flow><p>a</p></flow></document>'),
        options=OPTIONS,
    ).pdf
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert not {"/StructTreeRoot", "/MarkInfo"} & pdf.Root.keys()


def test_equal_input_gives_equal_bytes():
    assert made() == made()


def test_encryption_leaves_the_text_to_screen_readers():
    source = (
        '<document profile="pdf/ua-1" title="a" lang="en"><flow><p>a</p></flow>'
        '<security copy="false" owner-password="secret word"/></document>'
    )
    file = render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf
    assert find_violations(file) == []


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ("<p>\U0001f701</p>", "missing-glyph"),
        ("<h2>a</h2>", "heading-level"),
        ("<h1>a</h1><h3>a</h3>", "heading-level"),
        ('<img src="logo"/>', "missing-alt"),
        ('<barcode type="qr" value="a"/>', "missing-alt"),
        ('<p>a<a href="https://example.com/">&#160;</a>b</p>', "link-text"),
        ("<table><tr><td>a</td><th>b</th></tr></table>", "missing-scope"),
        ("<div><row><ul><li><h4>a</h4></li></ul></row></div>", "heading-level"),
        ("<table><tr><td><h4>a</h4></td></tr></table>", "heading-level"),
    ],
)
@pytest.mark.parametrize("profile", ["pdf/ua-1", "pdf/a-3a"])
def test_missing_accessibility_is_an_error_at_its_element(profile: str, inside: str, code: str):
    source = f'<document profile="{profile}" title="a" lang="en"><flow>{inside}</flow></document>'
    with pytest.raises(AuthoringError) as caught:
        render(
            None,
            Payload(PayloadKind.XML, source.encode()),
            options=OPTIONS,
            resources=FolderImages(),
        )
    (reported,) = caught.value.diagnostics
    assert reported.code == code
    assert reported.location is not None


def test_a_problem_repeated_by_a_loop_is_reported_once():
    source = (
        '<document tagged="true" title="a"><flow><table><tr for="n in range(1, 50)"><td>a</td>'
        "<th>{{ n }}</th></tr></table></flow></document>"
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [one.code for one in found.warnings] == ["missing-scope"]


# --- the conditions themselves ----------------------------------------------------------------------


def broken(damage: Callable[[pikepdf.Pdf], object], **saved: Any) -> list[str]:
    with pikepdf.open(io.BytesIO(made())) as pdf:
        damage(pdf)
        written = io.BytesIO()
        pdf.save(written, **saved)
    return find_violations(written.getvalue())


def element(pdf: pikepdf.Pdf, kind: str) -> Any:
    return next(one for one in elements(pdf) if str(one.S) == f"/{kind}")


def elements(pdf: pikepdf.Pdf) -> list[Any]:
    found = [one for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/S" in one]
    return [one for one in found if "/P" in one]


def rename(pdf: pikepdf.Pdf, kind: str, other: str) -> None:
    element(pdf, kind).S = pikepdf.Name(f"/{other}")


def draw(pdf: pikepdf.Pdf, operators: bytes) -> None:
    pdf.pages[0].contents_add(pdf.make_stream(operators))


def rewrite(pdf: pikepdf.Pdf, before: bytes, after: bytes) -> None:
    page = pdf.pages[0]
    page.contents_coalesce()
    content = page.Contents.read_bytes()
    assert before in content
    page.Contents.write(content.replace(before, after, 1))


def packet(pdf: pikepdf.Pdf, before: bytes, after: bytes) -> None:
    content = pdf.Root.Metadata.read_bytes()
    assert before in content
    pdf.Root.Metadata.write(content.replace(before, after))


def font(pdf: pikepdf.Pdf) -> Any:
    return next(
        one
        for one in pdf.objects
        if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/Font"
    )


def note(pdf: pikepdf.Pdf, *, id_: bytes | None) -> None:
    for each in elements(pdf):
        if each.S == "/P":
            each.S = pikepdf.Name.Note
            if id_ is not None:
                each.ID = pikepdf.String(id_)


def embed(pdf: pikepdf.Pdf) -> None:
    stream = pdf.make_stream(b"a")
    spec = pikepdf.Dictionary(Type=pikepdf.Name.Filespec, F="a", EF=pikepdf.Dictionary(F=stream))
    pdf.Root.Extra = pdf.make_indirect(spec)


def stamp(pdf: pikepdf.Pdf) -> None:
    pdf.pages[0].Annots[0].Subtype = pikepdf.Name.Stamp


def draw_twice(pdf: pikepdf.Pdf) -> None:
    form = next(
        one for one in pdf.objects if isinstance(one, pikepdf.Stream) and "/StructParents" in one
    )
    pdf.pages[0].Resources.XObject.Twice = form
    draw(pdf, b"/Artifact BMC /Twice Do EMC")


def swap_parents(pdf: pikepdf.Pdf) -> None:
    nums = pdf.Root.StructTreeRoot.ParentTree.Nums
    nums[1][0], nums[1][1] = nums[1][1], nums[1][0]


def test_damage_of_nothing_is_no_damage():
    assert broken(lambda pdf: None) == []


@pytest.mark.parametrize(
    ("damage", "condition"),
    [
        (lambda pdf: rewrite(pdf, b"BDC\n", b"BDC /Artifact BMC EMC\n"), "01-003"),
        (lambda pdf: draw(pdf, b"/Artifact BMC /P <</MCID 0>> BDC EMC EMC"), "01-004"),
        (lambda pdf: draw(pdf, b"0 0 1 1 re f"), "01-005 f"),
        (lambda pdf: draw(pdf, b"/P <</MCID 999>> BDC EMC"), "01-005 content"),
        (lambda pdf: rewrite(pdf, b"/Artifact BMC", b"/Other BMC"), "01-005"),
        (lambda pdf: pdf.Root.__delitem__("/StructTreeRoot"), "01-005 no structure"),
        (lambda pdf: pdf.Root.__delitem__("/MarkInfo"), "01-006"),
        (lambda pdf: pdf.Root.MarkInfo.__setitem__("/Suspects", True), "01-007"),
        (lambda pdf: rename(pdf, "P", "Paragraph"), "02-001"),
        (
            lambda pdf: pdf.Root.StructTreeRoot.__setitem__(
                "/RoleMap", pikepdf.Dictionary(A=pikepdf.Name.B, B=pikepdf.Name.A)
            ),
            "02-003",
        ),
        (
            lambda pdf: pdf.Root.StructTreeRoot.__setitem__(
                "/RoleMap", pikepdf.Dictionary(P=pikepdf.Name.H1)
            ),
            "02-004",
        ),
        (lambda pdf: pdf.Root.__delitem__("/Metadata"), "06-001"),
        (lambda pdf: packet(pdf, b"<pdfuaid:part>1<", b"<pdfuaid:part>2<"), "06-002"),
        (lambda pdf: packet(pdf, b">Offer<", b"> <"), "06-003"),
        (lambda pdf: pdf.Root.__delitem__("/ViewerPreferences"), "07-001"),
        (
            lambda pdf: pdf.Root.ViewerPreferences.__setitem__("/DisplayDocTitle", False),
            "07-002",
        ),
        (lambda pdf: rename(pdf, "TR", "Div"), "09-004"),
        (lambda pdf: rename(pdf, "TD", "P"), "09-004"),
        (lambda pdf: rename(pdf, "H1", "TD"), "09-004"),
        (lambda pdf: rename(pdf, "L", "Div"), "09-005"),
        (lambda pdf: rename(pdf, "LBody", "P"), "09-005"),
        (lambda pdf: rename(pdf, "TOC", "Div"), "09-006"),
        (lambda pdf: rename(pdf, "TOCI", "P"), "09-006"),
        (lambda pdf: rename(pdf, "H1", "RB"), "09-007"),
        (lambda pdf: rename(pdf, "H1", "WT"), "09-008"),
        (lambda pdf: element(pdf, "Span").__setitem__("/Lang", ""), "11-001"),
        (lambda pdf: pdf.Root.__delitem__("/Lang"), "11-006"),
        (lambda pdf: element(pdf, "Figure").__delitem__("/Alt"), "13-004"),
        (lambda pdf: rename(pdf, "H1", "H2"), "14-002"),
        (lambda pdf: rename(pdf, "H2", "H3"), "14-003"),
        (lambda pdf: rename(pdf, "H2", "H"), "14-007"),
        (lambda pdf: element(pdf, "TH").__delitem__("/A"), "15-003"),
        (lambda pdf: rename(pdf, "H1", "Formula"), "17-002"),
        (lambda pdf: note(pdf, id_=None), "19-003"),
        (lambda pdf: note(pdf, id_=b"a"), "19-004"),
        (
            lambda pdf: pdf.Root.__setitem__(
                "/OCProperties",
                pikepdf.Dictionary(Configs=pikepdf.Array([pikepdf.Dictionary()])),
            ),
            "20-001",
        ),
        (embed, "21-001"),
        (lambda pdf: pdf.Root.__setitem__("/AcroForm", pikepdf.Dictionary(XFA=b"")), "25-001"),
        (stamp, "28-006"),
        (lambda pdf: pdf.pages[0].__delitem__("/Tabs"), "28-008"),
        (lambda pdf: pdf.pages[0].__setitem__("/Tabs", pikepdf.Name.R), "28-009"),
        (lambda pdf: rename(pdf, "Link", "Span"), "28-011"),
        (lambda pdf: pdf.pages[0].Annots[0].__delitem__("/Contents"), "28-012"),
        (draw_twice, "30-002"),
        (lambda pdf: font(pdf).__delitem__("/ToUnicode"), "31-027"),
        (lambda pdf: element(pdf, "TD").A.__setitem__("/ColSpan", 3), "7.2"),
        (swap_parents, "structure: ParentTree and tree differ"),
        (
            lambda pdf: pdf.pages[0].__delitem__("/StructParents"),
            "structure: ParentTree lacks content",
        ),
        (
            lambda pdf: pdf.pages[0].Annots[0].__delitem__("/StructParent"),
            "structure: ParentTree and annotation differ",
        ),
        (
            lambda pdf: element(pdf, "H1").__setitem__("/P", element(pdf, "H2")),
            "structure: P is not the parent",
        ),
        (lambda pdf: draw(pdf, b"/Artifact BMC"), "structure: marked content has no end"),
        (lambda pdf: draw(pdf, b"EMC"), "structure: EMC without a beginning"),
    ],
)
def test_each_condition_notices_its_failure(
    damage: Callable[[pikepdf.Pdf], object], condition: str
):
    assert any(found.startswith(condition) for found in broken(damage))


def test_encryption_that_keeps_screen_readers_out_is_noticed():
    allow = pikepdf.Permissions(accessibility=False)
    locked = pikepdf.Encryption(owner="a", user="", allow=allow, R=3, aes=False, metadata=False)
    assert "26-002 extraction for accessibility" in broken(lambda pdf: None, encryption=locked)
