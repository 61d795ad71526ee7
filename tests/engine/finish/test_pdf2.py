"""PDF 2.0: PDF/A-4, PDF/A-4f and PDF/UA-2, and every profile before the eyes of veraPDF."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import pikepdf
import pytest

from tests.engine.finish import verapdf
from tests.engine.finish.archive_rules import find_violations
from tests.golden.case import OPTIONS, FolderImages
from tests.golden.test_grammar import find_wrong_objects
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.names import PROFILE

DOCUMENT = """<document profile="{profile}" title="Über &amp;" author="Ä" subject="S" keywords="k" lang="de">
  {file}<page size="A6" margin="8mm"><footer><p>{{{{ page.number }}}} <a href="#a">hin</a></p></footer></page>
  <flow><toc/><h1 id="a">Kopf</h1><p>Text<footnote>Eine <i>Note</i></footnote>
      <a href="#cell">zur Zelle</a> <a href="https://example.com/">weg</a></p>
    <div opacity="0.5" background="#00539c"><p>durch</p></div><img src="faded" alt="f" width="10mm"/>
    <ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>
    <table><thead><tr><th>A</th><th>B</th></tr></thead><tr><td id="cell">1</td><td>2</td></tr></table>
    <h2>Zwei</h2><blockquote><p>Zitat</p></blockquote><code>x = 1</code>
    <input name="n" label="Name"/></flow>
  <watermark text="KOPIE"/>
</document>"""
FILE = '<attachment name="n.txt">hello</attachment>'
PDF2 = ["pdf/a-4", "pdf/a-4e", "pdf/a-4f", "pdf/ua-2", "pdf/a-4 pdf/ua-2", "pdf/a-4f pdf/ua-2"]


def made(profile: str) -> bytes:
    file = FILE if re.match("pdf/a-4[ef]", profile) or profile.startswith("pdf/a-3") else ""
    source = DOCUMENT.format(profile=profile, file=file).encode()
    payload = Payload(PayloadKind.XML, source)
    return render(None, payload, options=OPTIONS, resources=FolderImages()).pdf


def elements(root: Any) -> Iterator[Any]:
    kids = root.get("/K", [])
    for kid in kids if isinstance(kids, pikepdf.Array) else [kids]:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield kid
            yield from elements(kid)


@pytest.mark.services
def test_verapdf_finds_nothing_in_a_file_of_any_profile():
    judged = [profile for profile in PROFILE.choices if not profile.startswith("pdf/x")]
    files = [(profile, made(profile)) for profile in judged]
    assert dict(zip(judged, verapdf.judge(files), strict=True)) == {
        profile: [] for profile in judged
    }


@pytest.mark.services
def test_verapdf_notices_what_a_file_lacks():
    (as_archive, as_accessible) = verapdf.judge(
        [("pdf/a-4", made("pdf/a-2a")), ("pdf/ua-2", made("pdf/a-4"))]
    )
    assert [one.split()[0] for one in as_archive][:2] == ["6.1.2-1", "6.1.3-4"]
    assert [one.split()[0] for one in as_accessible][:2] == ["5-1", "6.1.3-1"]


@pytest.mark.parametrize("profile", [one for one in PDF2 if "pdf/a" in one])
def test_an_archive_of_pdf_2_keeps_our_own_rules_too(profile):
    file = made(profile)
    assert find_violations(file, 4) == []
    assert re.findall(b"<pdfaid:conformance>(.)<", file) == [
        level.upper().encode() for level in re.findall("4([ef])", profile)
    ]


@pytest.mark.parametrize("profile", PDF2)
def test_a_file_of_pdf_2_has_nothing_that_is_deprecated(profile):
    file = made(profile)
    assert find_wrong_objects(file) == []
    assert file.startswith(b"%PDF-2.0\n")
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert "/Info" not in pdf.trailer
        assert all("/ProcSet" not in page.obj.Resources for page in pdf.pages)


def test_destinations_of_pdf_2_are_elements_of_the_tree():
    with pikepdf.open(io.BytesIO(made("pdf/ua-2"))) as pdf:
        links = [one.Dest for page in pdf.pages for one in page.obj.Annots if "/Dest" in one]
        outline = pdf.Root.Outlines.First
        places = [*links, outline.Dest, outline.First.Dest, *list(pdf.Root.Names.Dests.Names)[1::2]]
        assert {str(place[0].Type) for place in places if "/Type" in place[0]} <= {"/StructElem"}
        assert [str(place[0].S) for place in places[-4:]] == ["/H1", "/H2", "/H1", "/TR"]


def test_a_footnote_of_pdf_2_and_the_link_that_cites_it_name_each_other():
    with pikepdf.open(io.BytesIO(made("pdf/ua-2"))) as pdf:
        root = pdf.Root.StructTreeRoot
        found = list(elements(root))
        assert str(root.Namespaces[0].NS) == "http://iso.org/pdf2/ssn"
        (note,) = [one for one in found if one.S == "/FENote"]
        (call,) = note.Ref
        assert found[0].S == "/Document"
        assert found[0].NS.objgen == note.NS.objgen == root.Namespaces[0].objgen
        assert (str(note.A.NoteType), str(call.S)) == ("/Footnote", "/Link")
        assert [one.objgen for one in call.Ref] == [note.objgen]
        entries = [one for one in found if one.S == "/TOCI"]
        assert [str(next(elements(next(elements(one)))).get("/S", "")) for one in entries]


@pytest.mark.parametrize(
    ("attributes", "inside", "code"),
    [
        ('profile="pdf/a-2b pdf/ua-2"', "", "wrong-value"),
        ('profile="pdf/a-4 pdf/ua-1"', "", "wrong-value"),
        ('profile="pdf/a-4 pdf/ua-2"', FILE, "profile-attachment"),
        ('profile="pdf/a-4f pdf/ua-2"', "", "profile-attachment"),
        ('profile="pdf/ua-2"', '<security encryption="aes-128"/>', "profile-security"),
        ('profile="pdf/a-4"', "<security/>", "profile-security"),
        ('profile="pdf/a-4e"', "<security/>", "profile-security"),
        ('profile="pdf/a-4e pdf/ua-2"', "<security/>", "profile-security"),
    ],
)
def test_what_a_profile_of_pdf_2_does_not_take_is_an_error(attributes, inside, code):
    source = f'<document {attributes} title="t" lang="en">{inside}<flow><p>a</p></flow></document>'
    with pytest.raises(AuthoringError) as caught:
        render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [one.code for one in caught.value.diagnostics] == [code]
