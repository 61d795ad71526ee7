"""Text copied from a page is the text of the document, in every script, as another program reads it."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import unicodedata

import pikepdf
import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.finish.cmaps import Encoding, read_encoding
from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Resources

TEXTS = {
    "en": "Text with “AVAST” and figures, 1,234.50 €",
    "el": "Ελληνικό κείμενο με τόνους",
    "ru": "Русский текст, ещё один",
    "hi": "हिन्दी में लिखा गया पाठ और क्षत्रिय",
    "bn": "বাংলায় লেখা কোনো পাঠ ক্ষমা",
    "ta": "தமிழில் எழுதப்பட்ட உரை கொடு",
    "th": "ภาษาไทยเขียนติดกันน้ำใจ",
    "ja": "日本語の「文章」は、空白なしに書きます。",
    "zh-Hans": "中文没有空格，价格为￥123元。",
    "zh-Hant": "繁體中文也沒有空格。",
    "ko": "한국어 문단은 띄어쓰기가 있습니다.",
    "ar": "مرحبا بالعالم لا إله",
    "he": "שָׁלוֹם עולם טוב",
    "fa": "می‌خواهم این را بخوانم",
}


def rendered(text: str, lang: str, attributes: str = "") -> bytes:
    template = prepare_template(
        f'<document lang="{lang}"><page size="A4" margin="20mm"/>'
        f"<flow><p {attributes}>{{{{ text }}}}</p></flow></document>".encode()
    )
    return render(template, payload_of(text), options=OPTIONS, resources=Resources()).pdf


def payload_of(text: str) -> Payload:
    return Payload(PayloadKind.JSON, json.dumps({"text": text}).encode())


def extracted(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(pdf)
    page = document[0].get_textpage()
    return page.get_text_bounded().replace("\r\n", "\n")


def extracted_by_poppler(pdf: bytes) -> str:
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")
    done = subprocess.run([program, "-", "-"], input=pdf, capture_output=True, check=True)
    return done.stdout.decode().rstrip("\f")


def same(text: str) -> str:
    """Return a text normalised for comparison: NFC, each space as U+0020."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize("spacing", ["6pt", "-1pt"])
@pytest.mark.parametrize("align", ["start", "justify"])
@pytest.mark.parametrize("lang", ["en", "ru", "ko", "ar"])
def test_words_with_word_spacing_are_copied_as_words(spacing: str, align: str, lang: str):
    text = " ".join([TEXTS[lang]] * 9)
    pdf = rendered(text, lang, f'word-spacing="{spacing}" text-align="{align}"')
    assert same(extracted(pdf)) == same(text)


def test_word_spacing_widens_the_spaces_of_texts_cells_and_justified_lines():
    def gap(attributes: str, content: str) -> float:
        template = prepare_template(
            f'<document><page size="A4" margin="20mm"/><flow {attributes}>'
            f"{content}</flow></document>".encode()
        )
        pdf = render(template, None, options=OPTIONS, resources=Resources()).pdf
        with pypdfium2.PdfDocument(pdf) as document:
            page = document[0].get_textpage()
            at = page.get_text_range().index("ab cd")
            left, right = page.get_charbox(at + 1), page.get_charbox(at + 3)
            return float(right[0] - left[2])

    contents = ("<p>ab cd</p>", "<table><tr><td>ab cd</td></tr></table>", "<p>ab <b>cd</b></p>")
    for content in contents:
        wide, plain = gap('word-spacing="7pt"', content), gap("", content)
        assert wide - plain == pytest.approx(7.0, abs=0.1)


@pytest.mark.parametrize("lang", TEXTS)
def test_extracted_text_equals_the_written_text(lang: str):
    assert same(extracted(rendered(TEXTS[lang], lang))) == same(TEXTS[lang])


@pytest.mark.parametrize("lang", TEXTS)
def test_bold_text_extracts_to_the_same_text(lang: str):
    pdf = rendered(TEXTS[lang], lang, 'font-weight="bold"')
    assert same(extracted(pdf)) == same(TEXTS[lang])


@pytest.mark.parametrize("lang", ["ja", "zh-Hans", "th"])
def test_text_without_spaces_is_broken_and_nothing_is_lost(lang: str):
    text = TEXTS[lang] * 6
    lines = extracted(rendered(text, lang, 'width="50mm"'))
    assert lines.count("\n") > 2
    assert lines.replace("\n", "") == text


@pytest.mark.parametrize("lang", ["ar", "he"])
def test_lines_from_right_to_left_follow_each_other(lang: str):
    text = " ".join([TEXTS[lang]] * 5)
    pdf = rendered(text, lang, 'width="50mm" text-align="justify"')
    assert same(extracted(pdf)) == same(text)


def test_list_numbers_from_right_to_left_are_read_with_their_dot():
    template = prepare_template(
        '<document lang="he"><page size="A4" margin="20mm"/>'
        "<flow><ol><li>שלום</li></ol></flow></document>".encode()
    )
    pdf = render(template, None, options=OPTIONS, resources=Resources()).pdf
    assert said_by_codes(pdf).startswith("1.")


def said_by_codes(pdf: bytes) -> str:
    """Return the text of a file by its fonts' ToUnicode maps, code by code in the order shown."""
    with pikepdf.open(io.BytesIO(pdf)) as file:
        return "".join(_said_on(page) for page in file.pages)


def _said_on(page: pikepdf.Page) -> str:
    maps: dict[str, dict[int, str]] = {}
    encodings: dict[str, Encoding] = {}
    font = ""
    said = []
    for operands, operator in pikepdf.parse_content_stream(page):
        match str(operator):
            case "Tf":
                font = str(operands[0])
                if font not in maps:
                    maps[font] = _read_cmap(page.resources.Font[font].ToUnicode.read_bytes())
                    encodings[font] = read_encoding(page.resources.Font[font])
            case "Tj" | "TJ":
                strings = operands[0] if str(operator) == "TJ" else [operands[0]]
                codes = b"".join(bytes(one) for one in strings if isinstance(one, pikepdf.String))
                said += [maps[font][int.from_bytes(code)] for code in encodings[font].split(codes)]
    return "".join(said)


def _read_cmap(cmap: bytes) -> dict[int, str]:
    def text(code: str) -> str:
        return bytes.fromhex(code).decode("utf-16-be")

    found: dict[int, str] = {}
    cmap = cmap.partition(b"endcodespacerange")[2]
    for low, high, first in re.findall(r"<(\w+)> <(\w+)> <(\w+)>", cmap.decode()):
        for number in range(int(low, 16), int(high, 16) + 1):
            found[number] = chr(int(first, 16) + number - int(low, 16))
    for code, said in re.findall(r"^<(\w+)> <(\w+)>$", cmap.decode(), re.MULTILINE):
        found[int(code, 16)] = text(said)
    return found


UNDRAWN = re.compile("[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), min_size=1, max_size=40))
def test_any_text_is_set_and_extracts_to_its_characters(text: str):
    pdf = rendered(text, "en", 'white-space="nowrap" overflow-wrap="normal" font-size="2pt"')
    # Which way lines read is another test's: here each character is there as often as it was given.
    assert sorted(shown(said_by_codes(pdf))) == sorted(shown(text))


def shown(text: str) -> str:
    return "".join(UNDRAWN.sub("", text).split())


@pytest.mark.parametrize("family", ["Noto Sans", "Noto Serif"])
@pytest.mark.parametrize(
    ("lang", "text", "attributes"),
    [
        ("en", "office fluff affine fjord", 'font-variant-ligatures="common-ligatures"'),
        ("en", "Small Capitals of NATO", 'font-variant-caps="small-caps"'),
        ("en", "All Small Capitals", 'font-variant-caps="all-small-caps"'),
        ("en", "mix 1/2 cup and 3/4 spoon", 'font-variant-numeric="diagonal-fractions"'),
        ("en", "in 1987 and 2026", 'font-variant-numeric="oldstyle-nums"'),
        ("en", "Tel \uf0b7 0123, \u3400", ""),  # private use, and a character of no font
        ("ar", "مرحبا بالعالم", ""),
        ("hi", "हिन्दी में लिखा गया पाठ और क्षत्रिय", ""),
    ],
)
def test_two_programs_extract_the_text_as_written(
    family: str, lang: str, text: str, attributes: str
):
    pdf = rendered(text, lang, f'font-family="{family}" {attributes}')
    assert same(extracted(pdf)) == same(text)
    assert same(_CONTROLS.sub("", extracted_by_poppler(pdf))) == same(text)


_CONTROLS = re.compile(
    "[\u200e\u200f\u202a-\u202e]"
)  # that poppler writes around right-to-left text
