"""PDF/A: a conforming file passes every rule, and each rule notices when it is broken."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pikepdf
import pytest
from PIL import Image, ImageChops, ImageCms

from tests.engine.finish.archive_rules import find_violations
from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.prepared_images import make_srgb_profile

DOCUMENT = """<document profile="pdf/a-{part}" title="Über &amp;" author="Ä" subject="S" keywords="k, l" lang="de">
  <page size="A6" margin="8mm"><footer><p>{{{{ page.number }}}}</p></footer></page>
  <flow><h1 id="a">Kopf</h1><p>Äöü <a href="#a">hin</a> <a href="https://example.com/">weg</a></p>
    <div opacity="0.5" background="#00539c"><p>durch</p></div><img src="faded" alt="" width="10mm"/>
    <barcode type="qr" value="a" alt="" width="20mm"/></flow>
  <watermark text="KOPIE"/>
</document>"""


def made(part: int | str = "2b", *, is_draft: bool = False) -> bytes:
    payload = Payload(PayloadKind.XML, DOCUMENT.format(part=part).encode())
    options = replace(OPTIONS, is_draft=is_draft)
    return render(None, payload, options=options, resources=FolderImages()).pdf


@pytest.mark.parametrize("part", ["2b", "2u", "3b", "3u"])
@pytest.mark.parametrize("is_draft", [False, True])
def test_a_document_with_a_profile_conforms(part, is_draft):
    assert find_violations(made(part, is_draft=is_draft), int(part[0])) == []


def test_equal_input_gives_equal_bytes():
    assert made() == made()


def test_a_document_without_a_profile_does_not_claim_to_conform():
    payload = Payload(PayloadKind.XML, b"<document><flow><p>a</p></flow></document>")
    pdf = render(None, payload, options=OPTIONS).pdf
    assert b"pdfaid" not in pdf
    assert {"6.2.3 output intent", "6.6.4 identification"} <= set(find_violations(pdf, 2))


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ('<p color="cmyk(0 0 0 100)">a</p>', "profile-color"),
        ("<p color=\"{{ 'cmyk(0 0 0 100)' }}\">a</p>", "profile-color"),
        ('<p color="ink">a</p>', "profile-color"),
        ('<hr border="1pt solid cmyk(0 100 0 0)"/>', "profile-color"),
        ("<p>\U0001f701</p>", "missing-glyph"),
        ('<div overflow="hidden" height="20mm">' * 27 + "a" + "</div>" * 27, "profile-depth"),
    ],
)
def test_a_feature_forbidden_by_the_profile_is_an_error_at_its_element(inside, code):
    document = (
        '<document profile="pdf/a-2b"><color name="ink" value="cmyk(0 0 0 100)"/>'
        '<color name="unused" value="cmyk(0 0 100 0)"/><style name="red" color="red"/>'
        f"<flow>{inside}</flow></document>"
    )
    with pytest.raises(AuthoringError) as caught:
        render(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    (reported,) = caught.value.diagnostics
    assert reported.code == code
    assert code == "profile-depth" or reported.location is not None


@pytest.mark.parametrize("alt", ["b", ""])
def test_an_image_in_cmyk_is_an_error(alt: str):
    stored = io.BytesIO()
    Image.new("CMYK", (4, 4), (0, 255, 0, 0)).save(stored, "JPEG")

    class Images(FolderImages):
        def find_image(self, name: str) -> bytes | None:
            return stored.getvalue()

    document = (
        f'<document profile="pdf/a-2b"><flow><img src="photo" alt="{alt}"/></flow></document>'
    )
    payload = Payload(PayloadKind.XML, document.encode())
    with pytest.raises(AuthoringError, match="an image in CMYK; store it in RGB") as caught:
        render(None, payload, options=OPTIONS, resources=Images())
    assert caught.value.diagnostics[0].location.tag_name == "img"


def test_security_and_a_profile_exclude_each_other_before_layout():
    document = '<document profile="pdf/a-3b"><flow/><security/></document>'
    found = validate(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    assert [(one.code, one.location.tag_name) for one in found.errors] == [
        ("profile-security", "security")
    ]


# --- the rules themselves -------------------------------------------------------------------------------


def broken(damage: Callable[[pikepdf.Pdf], object], part: str = "2b", **saved: Any) -> list[str]:
    with pikepdf.open(io.BytesIO(made(part))) as pdf:
        damage(pdf)
        written = io.BytesIO()
        generate = pikepdf.ObjectStreamMode.generate
        options = {"deterministic_id": True, "object_stream_mode": generate, **saved}
        pdf.save(written, **options)
    return find_violations(written.getvalue(), int(part[0]))


def first(pdf: pikepdf.Pdf, kind: str) -> Any:
    return next(
        one
        for one in pdf.objects
        if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == kind
    )


def action(pdf: pikepdf.Pdf) -> Any:
    return next(one.A for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/A" in one)


def image(pdf: pikepdf.Pdf) -> Any:
    return next(
        one
        for one in pdf.objects
        if isinstance(one, pikepdf.Stream) and one.get("/Subtype") == "/Image"
    )


def packet(pdf: pikepdf.Pdf, before: bytes, after: bytes) -> None:
    content = pdf.Root.Metadata.read_bytes()
    assert before in content
    pdf.Root.Metadata.write(content.replace(before, after))


def draw(pdf: pikepdf.Pdf, operators: bytes) -> None:
    pdf.pages[0].contents_add(pdf.make_stream(operators))


def test_damage_of_nothing_is_no_damage():
    assert broken(lambda pdf: None) == []


def forget_characters(pdf: pikepdf.Pdf) -> None:
    for one in pdf.objects:
        if isinstance(one, pikepdf.Dictionary) and "/ToUnicode" in one:
            del one.ToUnicode


def name_private_characters(pdf: pikepdf.Pdf) -> None:
    for one in pdf.objects:
        if isinstance(one, pikepdf.Dictionary) and "/ToUnicode" in one:
            content = one.ToUnicode.read_bytes()
            one.ToUnicode.write(re.sub(rb"<[0-9A-Fa-f]{4}>(?=\s*\n)", b"<E000>", content))


@pytest.mark.parametrize(
    ("part", "damage", "clause"),
    [
        ("2u", forget_characters, "6.2.11.7.2"),
        ("3a", forget_characters, "6.2.11.7.2"),
        ("2a", name_private_characters, "6.2.11.7.3"),
    ],
)
def test_levels_u_and_a_need_the_characters_of_all_text(part, damage, clause):
    assert any(one.startswith(clause) for one in broken(damage, part))
    assert not any(one.startswith("6.2.11.7") for one in broken(damage))


@pytest.mark.parametrize(
    ("damage", "clause"),
    [
        (lambda pdf: pdf.Root.__delitem__("/OutputIntents"), "6.2.3"),
        (lambda pdf: pdf.Root.OutputIntents[0].DestOutputProfile.__setitem__("/N", 4), "6.2.3"),
        (lambda pdf: pdf.Root.__delitem__("/Metadata"), "6.6.2.1"),
        (lambda pdf: packet(pdf, b"<pdfaid:part>2", b"<pdfaid:part>1"), "6.6.4"),
        (lambda pdf: packet(pdf, b">S<", b">T<"), "6.6.3 /Subject"),
        (lambda pdf: packet(pdf, b"k, l", b"k"), "6.6.3 /Keywords"),
        (
            lambda pdf: packet(pdf, b"<pdfaProperty:name>draft<", b"<pdfaProperty:name>x<"),
            "6.6.2.3",
        ),
        (lambda pdf: draw(pdf, b"0 1 0 0 k 0 0 9 9 re f"), "6.2.4.3"),
        (lambda pdf: draw(pdf, b"q " * 29 + b"Q " * 29), "6.1.13"),
        (lambda pdf: draw(pdf, b"BT /F1 9 Tf <FFFD> Tj ET"), "6.2.11.8"),
        (lambda pdf: first(pdf, "/FontDescriptor").__delitem__("/FontFile2"), "6.2.11.4"),
        (lambda pdf: first(pdf, "/Annot").__delitem__("/F"), "6.3.2"),
        (lambda pdf: action(pdf).__setitem__("/S", pikepdf.Name.Launch), "6.5.1"),
        (lambda pdf: image(pdf).__setitem__("/ColorSpace", pikepdf.Name.DeviceCMYK), "6.2.4"),
        (lambda pdf: image(pdf).__setitem__("/Interpolate", True), "6.2.8.1"),
        (lambda pdf: pdf.Root.__setitem__("/OpenAction", pikepdf.Dictionary(S="x")), "6.5"),
        (lambda pdf: pdf.attachments.__setitem__("a", b"1"), "6.8"),
        (lambda pdf: pdf.pages[0].__setitem__("/MediaBox", [0, 0, 2, 2]), "6.1.13"),
    ],
)
def test_each_rule_notices(damage, clause):
    assert any(violation.startswith(clause) for violation in broken(damage))


def test_the_widths_of_fonts_are_compared_with_their_programs():
    def widen(pdf: pikepdf.Pdf) -> None:
        for one in pdf.objects:
            if isinstance(one, pikepdf.Dictionary) and one.get("/Subtype") == "/CIDFontType2":
                one.W = pikepdf.Array([0, 65535, 777])

    assert any(violation.startswith("6.2.11.5") for violation in broken(widen))


def test_encryption_is_noticed():
    assert "6.1.3 trailer" in broken(
        lambda pdf: None, encryption=pikepdf.Encryption(owner="a", user=""), deterministic_id=False
    )


# --- the colour profile ---------------------------------------------------------------------------------


def test_the_colour_profile_is_srgb():
    profile = ImageCms.ImageCmsProfile(io.BytesIO(make_srgb_profile()))
    assert profile.profile.profile_description.startswith("sRGB")
    ramp = Image.new("RGB", (256, 3))
    for value in range(256):
        ramp.putpixel((value, 0), (value, value, value))
        ramp.putpixel((value, 1), (value, 255 - value, 0))
        ramp.putpixel((value, 2), (0, value // 2, 255 - value))
    turned = ImageCms.profileToProfile(ramp, profile, ImageCms.createProfile("sRGB"))
    assert max(high for _, high in ImageChops.difference(ramp, turned).getextrema()) <= 1


def test_the_colour_profile_states_its_size_and_is_small():
    content = make_srgb_profile()
    assert int.from_bytes(content[:4]) == len(content) < 3000
