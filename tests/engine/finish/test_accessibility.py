"""PDF/UA-1: a conforming file passes every condition, and each condition notices when it fails."""

from __future__ import annotations

import io
from dataclasses import replace

import pikepdf
import pytest

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.engine.finish.matterhorn import name
from tests.engine.finish.structure import write_structure
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.names import PROFILE

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
    "profile", [one for one in PROFILE.choices if one.startswith(("pdf/a-2", "pdf/a-3"))]
)
def test_a_document_may_conform_to_a_standard_for_archives_too(profile: str):
    file = made(profile)
    assert find_archive_violations(file, int(profile[6])) == []
    assert f"<pdfaid:conformance>{profile[7].upper()}<".encode() in file


@pytest.mark.parametrize(
    "attribute",
    [
        'profile="pdf/a-2a pdf/ua-1"',
        'profile="pdf/a-2b pdf/ua-1"',
        'profile="pdf/a-2u pdf/ua-1"',
        'profile="pdf/a-3a pdf/ua-1"',
        'profile="pdf/a-3b pdf/ua-1"',
        'profile="pdf/a-3u pdf/ua-1"',
        'profile="pdf/ua-1"',
        'profile="pdf/a-3a"',
        'profile="pdf/a-2a"',
    ],
)
def test_every_profile_that_requires_tags_can_be_named(attribute: str):
    source = f'<document {attribute} title="a" lang="en"><flow><p>a</p></flow></document>'
    file = render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf
    assert find_violations(file, promises=True) == ([] if "ua" in attribute else [name("06-002")])


@pytest.mark.parametrize("profile", ["pdf/a-2b pdf/a-3b", "pdf/ua-1 pdf/ua-1", ""])
def test_other_profiles_are_refused(profile: str):
    source = f'<document profile="{profile}"><flow><p>a</p></flow></document>'
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [one.code for one in found.errors] == ["wrong-value"]


def test_pdf_a_level_a_is_tagged_and_declared():
    file = made("pdf/a-3a")
    assert b"<pdfaid:conformance>A<" in file
    assert find_violations(file, promises=True) == [name("06-002")]


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
        ('<p><a href="https://example.com/"><img src="logo" alt=""/></a></p>', "link-text"),
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


@pytest.mark.parametrize(
    ("inside", "codes"),
    [
        ("<h2>a</h2><h3>b</h3>", []),
        ("<h1>a</h1><h3>b</h3>", ["heading-level"]),
        ("<h1>a</h1><h2 if='false'>b</h2><h3>c</h3>", ["heading-level"]),
    ],
)
def test_a_skipped_level_of_headings_that_are_drawn_is_a_warning(inside: str, codes: list[str]):
    source = f"<document><flow>{inside}</flow></document>"
    made = render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [warning.code for warning in made.warnings] == codes


def test_a_problem_repeated_by_a_loop_is_reported_once():
    source = (
        '<document tagged="true" title="a"><flow><table><tr for="n in range(1, 50)"><td>a</td>'
        "<th>{{ n }}</th></tr></table></flow></document>"
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [one.code for one in found.warnings] == ["missing-scope"]


def test_the_text_of_a_link_is_that_of_all_its_runs():
    inside = '<p><a href="https://example.com/">our <b>terms</b> <i>of 2026</i></a></p>'
    source = f'<document profile="pdf/ua-1" title="a" lang="en"><flow>{inside}</flow></document>'
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert found.errors == ()


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("click <b>here</b>", ["link-text"]),
        ("Read more …", ["link-text"]),
        ("こちら", ["link-text"]),
        ("Terms of 2026", []),
        ("https://example.com/", []),
    ],
)
def test_a_link_text_that_names_no_target_is_a_warning(text: str, codes: list[str]):
    source = (
        '<document profile="pdf/ua-1" title="a" lang="en"><flow>'
        f'<p>The terms are <a href="https://example.com/">{text}</a>.</p></flow></document>'
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert found.errors == ()
    assert [one.code for one in found.warnings] == codes


def test_an_image_in_a_link_is_part_of_it():
    inside = (
        '<p>See <a href="https://example.com/"><img src="logo" alt="Our site" height="5mm"/> or <b>ask</b></a>.</p>'
        '<a href="https://example.com/qr"><barcode type="qr" value="a" alt="Order again"/></a>'
    )
    source = f'<document profile="pdf/ua-1" title="a" lang="en"><flow>{inside}</flow></document>'
    payload = Payload(PayloadKind.XML, source.encode())
    file = render(None, payload, options=OPTIONS, resources=FolderImages()).pdf
    assert find_violations(file) == []
    with pikepdf.open(io.BytesIO(file)) as pdf:
        links = [(str(link.A.URI), str(link.Contents)) for link in pdf.pages[0].Annots]
    assert links == [
        ("https://example.com/", "Our site or ask"),
        ("https://example.com/", "Our site or ask"),
        ("https://example.com/", "Our site or ask"),
        ("https://example.com/qr", "Order again"),
    ]
    lines = [line.strip() for line in write_structure(file).splitlines()]
    at = lines.index("'See '")
    assert lines[at + 1 : at + 5] == [
        "Link",
        "Figure Alt='Our site' BBox=76,771,117,785",
        "''",
        "' or ask'",
    ]


def test_an_image_in_a_header_links_too():
    source = (
        '<document title="a" lang="en"><page><header><p><a href="https://example.com/">'
        '<img src="logo" alt="" height="5mm"/></a></p></header></page><flow><p>a</p></flow></document>'
    )
    payload = Payload(PayloadKind.XML, source.encode())
    file = render(None, payload, options=OPTIONS, resources=FolderImages()).pdf
    assert find_violations(file) == []
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert [str(link.A.URI) for link in pdf.pages[0].Annots] == ["https://example.com/"]
