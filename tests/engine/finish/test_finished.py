"""Finishing: what the file says of itself, how it is marked, and who may open it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pikepdf
import pytest

from tests.engine.paint.drawing import OWNER, extracted, opened, page, printed, rendered, text
from tests.soundness import note_pdf
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.finish.encryption import check_passwords, encrypt
from workers.engine.finish.metadata import build_pdf_metadata
from workers.engine.layout.display import Fill, LaidOutDocument, LaidOutPage, Restore, Save
from workers.engine.paint.writer import write_pages
from workers.engine.pipeline import render, write_pdf
from workers.engine.ports import (
    UNDATED,
    DocumentInfo,
    Metadata,
    Payload,
    PayloadKind,
    PdfMetadata,
    RenderOptions,
    Security,
)
from workers.engine.units import Color, ColorSpace

METADATA = Metadata(
    DocumentInfo(
        title="Rechnung <Nr. 1> & Größe",
        author="A. Author",
        subject="Subject",
        keywords="one, two",
        lang="de-DE",
    ),
    RenderOptions(
        UNDATED,
        template_id="invoice",
        template_version=3,
        template_sha256="ab" * 32,
        built_on={"parts@live": "01" * 32, "base@1": "ef" * 32},
    ),
    payload_sha256="cd" * 32,
)
DRAFT = replace(METADATA, options=replace(METADATA.options, is_draft=True))
LOCKED = Security(user_password="geheim漢", owner_password=None)


def raw() -> bytes:
    return printed(page(text(10, 20, "content"), width=200, height=300))


def finished(metadata: Metadata = METADATA, security: Security | None = None) -> bytes:
    laid_out = LaidOutDocument([page(text(10, 20, "content"), width=200, height=300)], [])
    file = write_pdf(laid_out, build_pdf_metadata(metadata), security, findings=Findings())
    return note_pdf(file, password=(security and security.user_password) or "")


def drafted(*pages: LaidOutPage) -> bytes:
    return note_pdf(write_pages(LaidOutDocument(list(pages), []), PdfMetadata(is_draft=True)))


def test_file_is_sound_and_keeps_its_text():
    with opened(finished()) as pdf:
        assert pdf.check_pdf_syntax() == []
    assert extracted(finished()) == "content"


def test_document_information_and_language_are_set():
    with opened(finished()) as pdf:
        assert str(pdf.docinfo.Title) == METADATA.info.title
        assert str(pdf.docinfo.Author) == "A. Author"
        assert str(pdf.docinfo.Subject) == "Subject"
        assert str(pdf.docinfo.Keywords) == "one, two"
        assert str(pdf.docinfo.Producer) == "Pressroom"
        assert str(pdf.Root.Lang) == "de-DE"


def test_provenance_is_in_the_xmp_packet():
    with opened(finished()) as pdf, pdf.open_metadata() as packet:
        assert packet["dc:title"] == METADATA.info.title
        assert packet["{urn:pressroom:provenance:1}template"] == "invoice"
        assert packet["{urn:pressroom:provenance:1}templateVersion"] == "3"
        assert packet["{urn:pressroom:provenance:1}templateSha256"] == "ab" * 32
        assert packet["{urn:pressroom:provenance:1}builtOn"] == {
            f"base@1 {'ef' * 32}",
            f"parts@live {'01' * 32}",
        }
        assert packet["{urn:pressroom:provenance:1}payloadSha256"] == "cd" * 32
        assert packet["{urn:pressroom:provenance:1}draft"] == "false"


def test_empty_values_and_dates_are_left_out():
    with opened(finished(Metadata())) as pdf:
        assert set(pdf.docinfo.keys()) == {"/Producer"}


def test_characters_xml_forbids_do_not_break_the_packet():
    with (
        opened(finished(Metadata(DocumentInfo("a\x01]]>b\ud800")))) as pdf,
        pdf.open_metadata() as packet,
    ):
        assert packet["dc:title"] == "a\ufffd]]>b\ufffd"


def test_a_draft_is_marked_in_the_document_information():
    with opened(finished(DRAFT)) as pdf, pdf.open_metadata() as packet:
        assert str(pdf.docinfo["/PressroomDraft"]) == "true"
        assert packet["{urn:pressroom:provenance:1}draft"] == "true"


def test_draft_mark_is_on_every_page_and_adds_no_text():
    file = drafted(*(page(text(5, 20, "x")) for _ in range(3)))
    for number in range(3):
        assert extracted(file, number) == "x"
        assert has_mark(rendered(file, number))


@pytest.mark.parametrize(("width", "height"), [(595, 842), (842, 595), (50, 500), (180, 108)])
def test_draft_mark_fits_any_paper(width, height):
    file = drafted(page(width=width, height=height))
    image = rendered(file)
    assert has_mark(image)
    edge = [image.getpixel((x, y)) for x in range(image.width) for y in (0, image.height - 1)]
    assert set(edge) == {(255, 255, 255)}


def test_draft_mark_is_painted_above_the_page_content():
    black = Fill(0, 0, 100, 100, Color(ColorSpace.RGB, (0.0, 0.0, 0.0)), OWNER)
    image = rendered(drafted(page(black)))
    assert any(blue > 10 for _, (_, _, blue) in image.getcolors(100_000))


def test_draft_mark_is_not_moved_by_a_template():
    plain = drafted(page())
    turned = drafted(page(Save(clip=(0, 0, 1, 1), rotate=(45, 0, 0)), Restore()))
    assert rendered(plain).tobytes() == rendered(turned).tobytes()


def test_draft_mark_is_an_artifact():
    with opened(finished(DRAFT)) as pdf:
        content = pdf.pages[0].Contents.read_bytes()
    assert content.count(b"BDC") == content.count(b"EMC") == 1
    assert content.startswith(b"q\n")


@pytest.mark.parametrize("is_draft", [False, True])
def test_draft_is_never_encrypted(is_draft):
    source = (
        b'<document><security owner-password="x" print="none"/><flow><p>a</p></flow></document>'
    )
    options = RenderOptions(UNDATED, is_draft=is_draft)
    rendered_file = render(None, Payload(PayloadKind.XML, source), options=options)
    with opened(rendered_file.pdf) as pdf:
        assert pdf.is_encrypted is not is_draft


@pytest.mark.parametrize(("encryption", "revision"), [("aes-256", 6), ("aes-128", 4)])
def test_password_opens_the_file(encryption, revision):
    security = replace(LOCKED, user_password="secret", encryption=encryption)
    file = finished(security=security)
    with pytest.raises(pikepdf.PasswordError):
        opened(file)
    with opened(file, password="secret") as pdf:
        assert revision == pdf.encryption.R
        assert pdf.user_password_matched
        assert not pdf.owner_password_matched
    assert METADATA.info.title.encode() not in file


def test_without_a_user_password_the_file_opens_restricted():
    with opened(finished(security=Security(None, None, modify=False))) as pdf:
        assert pdf.is_encrypted
        assert not pdf.allow.modify_other
        assert not pdf.owner_password_matched


def test_owner_password_of_the_document_lifts_the_restrictions():
    file = finished(security=replace(LOCKED, owner_password="master"))
    with opened(file, password="master") as pdf:
        assert pdf.owner_password_matched


@pytest.mark.parametrize(
    ("change", "denied"),
    [
        ({}, set()),
        ({"copy": False}, {"extract"}),
        ({"modify": False}, {"modify_other"}),
        ({"annotate": False}, {"modify_annotation"}),
        ({"fill_forms": False}, {"modify_form"}),
        ({"assemble": False}, {"modify_assembly"}),
        ({"print": "low"}, {"print_highres"}),
        ({"print": "none"}, {"print_highres", "print_lowres"}),
    ],
)
def test_each_permission_is_its_own(change, denied):
    with opened(finished(security=Security(None, None, **change))) as pdf:
        assert {name for name, allowed in pdf.allow._asdict().items() if not allowed} == denied


CHOICES = {
    "print": ("high", "low", "none"),
    **dict.fromkeys(("copy", "modify", "annotate", "fill_forms", "assemble"), (True, False)),
}
# Bits of the standard's P entry (ISO 32000-2, table 22), counted from 1, with what each allows.
BITS = {3: "print", 4: "modify", 5: "copy", 6: "annotate", 9: "fill_forms", 11: "assemble"}


@pytest.mark.long
@pytest.mark.parametrize("encryption", ["aes-256", "aes-128"])
def test_all_96_sets_of_permissions_are_written_as_requested(encryption):
    raw_pdf = raw()
    for values in product(*CHOICES.values()):
        asked = dict(zip(CHOICES, values, strict=True))
        security = Security(None, None, encryption, **asked)
        file = encrypt(raw_pdf, security, fallback_owner_password="spare")
        with opened(file) as pdf:
            assert pdf.encryption.P is not None
            bits = pdf.encryption.P
            allowed = {name for bit, name in BITS.items() if bits >> (bit - 1) & 1}
            wanted = {name for name in BITS.values() if asked[name] not in (False, "none")}
            assert allowed == wanted, asked
            assert bits >> 9 & 1, "reading by assistive technology is always allowed"
            assert bool(bits >> 11 & 1) == (asked["print"] == "high")
            assert pdf.check_pdf_syntax() == []


@pytest.mark.parametrize(
    ("security", "message"),
    [
        (Security("漢", None, "aes-128"), "characters that cannot be used"),
        (Security("x" * 33, None, "aes-128"), "uses the first 32 only"),
        (Security("ok", "x" * 128), "uses the first 127 only"),
        (Security("\ud800", None), "characters that cannot be used"),
    ],
)
def test_password_that_would_not_work_is_an_authoring_error(security, message):
    findings = Findings()
    check_passwords(security, findings)
    with pytest.raises(AuthoringError, match=message) as caught:
        findings.raise_errors()
    assert "xxx" not in str(caught.value)


def test_a_file_that_needs_no_password_is_never_returned():
    with pytest.raises(AssertionError):
        finished(security=Security("", None))
    with pytest.raises(AssertionError):
        encrypt(raw(), Security("x", None), fallback_owner_password="")


def test_passwords_are_not_shown():
    assert "geheim" not in repr(LOCKED)


PROGRAM = """
import sys
from tests.engine.finish.test_finished import DRAFT, METADATA, finished
sys.stdout.buffer.write(finished(METADATA) + finished(DRAFT))
"""


@pytest.mark.long
def test_equal_input_gives_equal_bytes_in_other_processes():
    root = Path(__file__).parents[3]

    def printed_with(seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            check=True,
            capture_output=True,
        ).stdout

    here = finished(METADATA) + finished(DRAFT)
    assert printed_with("1") == printed_with("2") == here


def has_mark(image) -> bool:
    colors = [color for _, color in image.getcolors(1_000_000)]
    return any(blue > green + 2 > red + 4 for red, green, blue in colors)
