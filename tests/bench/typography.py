"""Set the same text with Pressroom and Typst, in the same fonts and measure, and draw both side by side.

`python -m tests.bench.typography` writes the pictures of deploy/docs/typography.md, at 150 dpi, and
prints its table.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import pypdfium2
import pypdfium2.raw as pdfium
import typst
from PIL import Image, ImageChops

from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render
from workers.engine.units import POINTS_PER_MM

ROOT: Final = Path(__file__).parents[2]
TYPEFACES: Final = ROOT / "workers" / "engine" / "fonts" / "typefaces"
PICTURES: Final = ROOT / "deploy" / "docs" / "typography"
DPI: Final = 150
SIZE, LEADING = 9.0, 12.0  # points
MARGIN = 4.0  # mm
GUTTER = 30  # pixels between the two

ENGLISH: Final = (
    "The officer in charge of the first office found it difficult to offer a definite figure. “Affairs of this kind,” "
    "she said, “are settled by those who keep the files, not by those who fill them.” A reflective silence followed; "
    "no one flinched. Outside, the ferry left for the island with its freight of flour, coffee and unread newspapers, "
    "and the harbour-master, an indefatigable correspondent, began his seventeenth letter of complaint about the "
    "misrepresentation of tide tables in the municipal almanac."
)
GERMAN: Final = (
    "Die Auflage des Flugblatts war häufig höher als die der Zeitung, denn auf der Schifffahrt nach Helgoland wurde es "
    "unentgeltlich verteilt. Stoffliche Einwände gegen das Geschäft mit der Öffentlichkeit blieben aus; trefflich "
    "stritt man nur über die Auffassung, ob das Kaufhaus an der Hafenstraße eine Rechtsschutzversicherung brauche. "
    "Die Donaudampfschifffahrtsgesellschaft hielt sich heraus."
)
JAPANESE: Final = (
    "請求書は、毎月末日に発行します。お支払い期限は、発行日から三十日以内です。「期限を過ぎた場合」は、年率3.0%の遅延損害金を申し受けます。"
    "ご不明な点がございましたら、お客様窓口（電話 03-1234-5678、平日9時〜17時）までお問い合わせください。PDFでの再発行は、Webサイトの"
    "「マイページ」から、いつでも無料でお申し込みいただけます。"
)
ARABIC: Final = (
    "تُرسل الفاتورة في نهاية كل شهر، ويُستحق السداد خلال ثلاثين يومًا من تاريخ إصدارها. وإذا تأخر السداد عن الموعد المحدد، "
    "تُحتسب فائدة قدرها 3.5 في المئة عن كل سنة. وللاستفسار يُرجى الاتصال بخدمة العملاء على الرقم 555-0147 أو الكتابة إلى "
    "support-desk مع ذكر رقم العقد A-2041 ورقم الفاتورة."
)
THAI: Final = (
    "ใบแจ้งหนี้จะออกให้ทุกสิ้นเดือน และต้องชำระเงินภายในสามสิบวันนับจากวันที่ออกเอกสาร หากชำระล่าช้ากว่ากำหนด บริษัทจะคิดดอกเบี้ยร้อยละสามต่อปี "
    "หากมีข้อสงสัยโปรดติดต่อฝ่ายบริการลูกค้าโดยระบุเลขที่สัญญาและเลขที่ใบแจ้งหนี้ทุกครั้งเพื่อความรวดเร็วในการตรวจสอบ"
)
FINNISH: Final = (
    "Vakuutuksenottajan on ilmoitettava vahingosta viivytyksettä, viimeistään kuitenkin vuoden kuluessa siitä, kun hän sai tiedon "
    "korvausmahdollisuudestaan. Henkilövakuutuksissa lääkärintodistusten ja asiakirjajäljennösten kustannukset korvataan kohtuullisuusarvion "
    "perusteella. Vakuutusmaksutilitykset lähetetään neljännesvuosittain."
)
# Japanese and Thai write none between words; the lines of Arabic are not in the order of their characters.
WITHOUT_SPACES: Final = ("ja", "th", "ar")


@dataclass(frozen=True)
class Comparison:
    """A text, and its style in the words of both."""

    name: str
    texts: tuple[str, ...]
    width: float  # of the text, in mm
    lang: str = "en"
    family: str = "Noto Serif"
    ours: str = ""  # attributes of each paragraph
    theirs: str = ""  # before the text
    columns: int = 1
    style: str = ""  # of our document
    height: float = 200.0  # of the page, in mm
    heading: str = ""


COMPARISONS: Final = (
    Comparison("justified", (ENGLISH,), 80, ours='text-align="justify" hyphens="auto"', theirs="#set par(justify: true)"),
    Comparison("narrow", (GERMAN,), 48, "de", ours='text-align="justify" hyphens="auto"', theirs="#set par(justify: true)"),
    Comparison("narrow-en", (ENGLISH,), 48, ours='text-align="justify" hyphens="auto" hanging-punctuation="optical"', theirs="#set par(justify: true)"),
    Comparison("finnish", (FINNISH,), 48, "fi", ours='text-align="justify" hyphens="auto" hanging-punctuation="optical"', theirs="#set par(justify: true)"),
    Comparison("ragged", (ENGLISH,), 80, ours='text-wrap="pretty"', theirs='#set text(hyphenate: false)\n#set par(linebreaks: "optimized")'),
    Comparison(
        "hanging", (ENGLISH,), 60, family="Noto Sans",
        ours='text-align="justify" hyphens="auto" hanging-punctuation="optical"', theirs="#set par(justify: true)\n#set text(overhang: true)",
    ),
    Comparison(
        "columns", (ENGLISH, ENGLISH[ENGLISH.index("A reflective") :], ENGLISH), 90, columns=2, height=66, heading="A heading between paragraphs",
        ours='text-align="justify" hyphens="auto"', theirs="#set par(justify: true)", style=f'line-grid="{LEADING:g}pt"',
    ),
    Comparison("japanese", (JAPANESE,), 70, "ja", family="Noto Sans JP", ours='text-align="justify"', theirs="#set par(justify: true)"),
    Comparison("arabic", (ARABIC,), 70, "ar", family="Noto Sans Arabic", ours='text-align="justify"', theirs="#set par(justify: true)"),
    Comparison("thai", (THAI,), 70, "th", family="Noto Sans Thai", ours='text-align="justify"', theirs="#set par(justify: true)"),
)  # fmt: skip


def main() -> None:
    """Draw the comparisons."""
    PICTURES.mkdir(exist_ok=True)
    print("| | | lines | hyphens | spaces, in em: mean | widest | deviation |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for comparison in COMPARISONS:
        files = {"Pressroom": set_ours(comparison), "Typst": set_theirs(comparison)}
        pictures = [crop(draw(file)) for file in files.values()]
        join(*pictures).save(PICTURES / f"{comparison.name}.png", optimize=True)
        for name, file in files.items():
            print(f"| {comparison.name} | {name} | {describe(file, comparison.lang)} |")


# --- setting ------------------------------------------------------------------------------------------


def set_ours(comparison: Comparison) -> bytes:
    """Return the text as set by Pressroom."""
    one = comparison
    parts = [f"<p {one.ours}>{escape(text)}</p>" for text in one.texts]
    if one.heading:
        parts.insert(1, f'<h3 font-size="11pt" margin-bottom="2pt">{escape(one.heading)}</h3>')
    area = f'<area columns="{one.columns}" column-gap="6mm"/>' if one.columns > 1 else ""
    document = (
        f'<document lang="{one.lang}"><page size="{one.width + 2 * MARGIN}mm {one.height}mm" margin="{MARGIN}mm">{area}</page>'
        f'<style element="document" font-family="{one.family}" font-size="{SIZE}pt" line-height="{LEADING}pt" {one.style}/>'
        f'<style element="p" margin-bottom="0"/><flow>{"".join(parts)}</flow></document>'
    )
    return render(prepare_template(document.encode()), None, options=OPTIONS).pdf


def set_theirs(comparison: Comparison) -> bytes:
    """Return the text as set by Typst."""
    one = comparison
    parts = [text.replace("#", "\\#") for text in one.texts]
    if one.heading:
        parts.insert(1, f"#heading(level: 3)[{one.heading}]")
    columns = f", columns: {one.columns}" if one.columns > 1 else ""
    gap = "#set columns(gutter: 6mm)\n" if one.columns > 1 else ""
    source = (
        f"#set page(width: {one.width + 2 * MARGIN}mm, height: {one.height}mm, margin: {MARGIN}mm{columns})\n{gap}"
        f'#set text(font: "{one.family}", size: {SIZE}pt, lang: "{one.lang}", hyphenate: true, top-edge: 0.75em, bottom-edge: -0.25em)\n'
        f"#set par(leading: {LEADING - SIZE}pt, spacing: {LEADING - SIZE}pt)\n"
        f"#show heading: set text(size: 11pt)\n{one.theirs}\n" + "\n\n".join(parts)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.typ"
        path.write_text(source, encoding="utf-8")
        file: bytes = typst.compile(
            str(path), font_paths=[str(TYPEFACES)], ignore_system_fonts=True
        )
    return file


# --- pictures -----------------------------------------------------------------------------------------


def draw(file: bytes) -> Image.Image:
    """Return the first page in grey."""
    document = pypdfium2.PdfDocument(file)
    return document[0].render(scale=DPI / 72, grayscale=True).to_pil()


def crop(page: Image.Image) -> Image.Image:
    """Return a page without the empty paper below its text."""
    ink = ImageChops.invert(page.convert("L")).getbbox()
    edge = round(MARGIN * POINTS_PER_MM * DPI / 72)
    return page.crop((0, 0, page.width, (ink[3] if ink else 0) + edge // 2))


def join(left: Image.Image, right: Image.Image) -> Image.Image:
    """Return two pictures side by side, a line between them, in few colours."""
    size = left.width + GUTTER + right.width, max(left.height, right.height)
    sheet = Image.new("RGB", size, "white")
    sheet.paste(left.convert("RGB"), (0, 0))
    line = left.width + GUTTER // 2
    sheet.paste((160, 160, 160), (line, 0, line + 1, sheet.height))
    sheet.paste(right.convert("RGB"), (left.width + GUTTER, 0))
    return sheet.quantize(16)


# --- figures ------------------------------------------------------------------------------------------


def describe(file: bytes, lang: str) -> str:
    """Return lines, hyphens at their ends, and the word spaces of all lines but the last of each column."""
    lines = list(_lines(file))
    spaces = [space / SIZE for _, gaps in lines[:-1] for space in gaps]
    hyphens = sum(text.rstrip().endswith(("-", "\u2010", "\ufffe", "\x02")) for text, _ in lines)
    if lang in WITHOUT_SPACES:
        return f"{len(lines)} | {hyphens} | – | – | –"
    deviation = statistics.pstdev(spaces)
    return f"{len(lines)} | {hyphens} | {statistics.mean(spaces):.3f} | {max(spaces):.2f} | {deviation:.3f}"


def _lines(file: bytes) -> Iterator[tuple[str, list[float]]]:
    """Yield the text of each line of the first page and the widths of its word spaces, in points."""
    page = pypdfium2.PdfDocument(file)[0].get_textpage()
    x, y = ctypes.c_double(), ctypes.c_double()
    line, gaps, last, pending = "", [], None, False
    for at in range(page.count_chars()):
        char = page.get_text_range(at, 1)
        left, _, right, _ = page.get_charbox(at, loose=True)
        pdfium.FPDFText_GetCharOrigin(page.raw, at, ctypes.byref(x), ctypes.byref(y))
        baseline = y.value
        if not char.strip():
            pending = pending or char == " "
            continue
        if last is not None and abs(baseline - last[2]) > LEADING / 2:
            yield line, gaps
            line, gaps, pending, last = "", [], False, None
        if pending and last is not None:
            gaps.append(left - last[1])
        line, last, pending = line + (" " if pending else "") + char, (left, right, baseline), False
    yield line, gaps


JUSTIFIED: Final = 'text-align="justify" hyphens="auto"'


def vary(text: str, number: int) -> str:
    """Return a text with other words at its start, so that no two paragraphs are the same."""
    words = re.split(" ", text)
    turn = number % len(words)
    return f"{number} " + " ".join((*words[turn:], *words[:turn]))


if __name__ == "__main__":
    main()
