"""Spacing of East Asian text: beside other scripts, and between full-width punctuation (CSS Text 4)."""

from __future__ import annotations

import pypdfium2
import pytest

from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Resources

SIZE = 20.0
SPACE, TRIM = 0.09, -0.5
OFF = 'text-autospace="no-autospace" text-spacing-trim="space-all"'


def advances(content: str, lang: str) -> dict[str, float]:
    """Return the distance between the starts of each two characters of a line, in em."""
    template = prepare_template(
        f'<document lang="{lang}"><page size="A4" margin="20mm"/>'
        f'<style element="document" font-size="{SIZE}pt"/><flow>{content}</flow></document>'.encode()
    )
    pdf = render(template, None, options=OPTIONS, resources=Resources()).pdf
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[0].get_textpage()
        text = page.get_text_range().strip()
        starts = [page.get_charbox(at, loose=True)[0] for at in range(len(text))]
    return {text[at : at + 2]: (starts[at + 1] - starts[at]) / SIZE for at in range(len(text) - 1)}


def changes(content: str, lang: str = "ja") -> dict[str, float]:
    """Return by how much distances differ from those without gaps, in em, where they do."""
    before, after = (advances(content.format(each), lang) for each in (OFF, ""))
    differences = {pair: far - before[pair] for pair, far in after.items()}
    return {pair: each for pair, each in differences.items() if abs(each) > 0.02}


@pytest.mark.parametrize(
    ("lang", "text", "gaps"),
    [
        ("ja", "第3章はPDFを", {"第3": SPACE, "3章": SPACE, "はP": SPACE, "Fを": SPACE}),
        ("ja", "値 A と（B）、Ｃも", {"）、": TRIM}),
        ("ja", "カナé々Я", {"ナé": SPACE, "é々": SPACE, "々Я": SPACE}),
        ("ja", "「あ」（「い」）、『う』。", dict.fromkeys(["」（", "（「", "」）", "）、", "、『", "』。"], TRIM)),
        ("ja", "あ」・「い", {"」・": TRIM, "・「": TRIM}),
        ("zh-Hant", "甲」。（乙），丙", {"」。": TRIM, "），": TRIM}),
        ("ko", "제3장 PDF문서", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("family", ["Noto Sans", "Noto Sans JP"])
def test_gaps_stand_between_characters_of_certain_classes(lang, text, gaps, family):
    found = changes(f'<p font-family="{family}" {{}}>{text}</p>', lang)
    assert found == pytest.approx(gaps, abs=0.02)


@pytest.mark.parametrize(
    "block",
    [
        "<p {}>第<b>3</b>章</p>",
        "<p {}>第<span color='red'>3</span>章</p>",
        "<table {}><tr><td>第3章</td></tr></table>",
        '<table font-family="Noto Sans JP" {}><tr><td>第3章</td></tr></table>',
    ],
)
def test_gaps_stand_between_runs_and_in_cells(block):
    assert changes(block) == pytest.approx({"第3": SPACE, "3章": SPACE}, abs=0.02)


def test_a_gap_ends_with_its_line():
    template = prepare_template(
        '<document lang="ja"><page size="A4" margin="20mm"/>'
        '<flow font-size="20pt"><p width="40.5pt">日本AB</p></flow></document>'.encode()
    )
    pdf = render(template, None, options=OPTIONS, resources=Resources()).pdf
    with pypdfium2.PdfDocument(pdf) as document:
        assert document[0].get_textpage().get_text_range().split() == ["日本", "AB"]


@pytest.mark.parametrize(
    ("text", "strict", "normal"),
    [
        ("コンピューター", ["コン", "ピュー", "ター"], ["コンピ", "ュータ", "ー"]),
        ("あきゃっきゃ", ["あ", "きゃっ", "きゃ"], ["あきゃ", "っきゃ"]),
        ("三〜五時〜", ["三〜五", "時〜"], ["三〜五", "時〜"]),
        ("かきく<b>ゃ</b>", ["かき", "くゃ"], ["かきく", "ゃ"]),
        ("日本、々", ["日", "本、々"], ["日", "本、々"]),
    ],
)
@pytest.mark.parametrize("place", ["p", "table"])
def test_lines_begin_with_small_kana_where_that_is_asked_for(text, strict, normal, place):
    """CSS Text 3, 5.2: what is of class CJ in UAX #14 begins a line under normal, and under strict does not."""
    for value, lines in (
        ('line-break="strict"', strict),
        ('line-break="normal"', normal),
        ("", strict),
    ):
        block = (
            f"<p>{text}</p>"
            if place == "p"
            else f"<table><tr><td padding='0'>{text}</td></tr></table>"
        )
        source = (
            '<document lang="ja"><page size="100mm 100mm" margin="10mm"/><flow>'
            f'<div width="11.2mm" font-size="10pt" {value}>{block}</div></flow></document>'
        )
        payload = Payload(PayloadKind.XML, source.encode())
        pdf = render(None, payload, options=OPTIONS, resources=Resources()).pdf
        with pypdfium2.PdfDocument(pdf) as document:
            found = document[0].get_textpage().get_text_range().split()
        assert found == lines, value


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("一二三四五六七八九十百", ["一二三四五六七八九", "十百"]),
        ("一二三四五六七八九十百千", ["一二三四五六七八九十", "百千"]),
        # The line before the last would have a hole.
        ("一二三四 abcdefghijklm", ["一二三四", "abcdefghijklm"]),
    ],
)
def test_pretty_lines_of_ideographs_leave_two_for_the_last_line(text, lines):
    template = prepare_template(
        f'<document lang="ja"><page size="201pt auto" margin="0"/><style element="p" font-size="{SIZE}pt"/>'
        f'<flow><p text-wrap="pretty">{text}</p><p>{text}</p></flow></document>'.encode()
    )
    pdf = render(template, None, options=OPTIONS, resources=Resources()).pdf
    with pypdfium2.PdfDocument(pdf) as document:
        assert document[0].get_textpage().get_text_range().split()[: len(lines)] == lines
