"""No line ends inside an amount with its unit, a reference with its number, or a date."""

from __future__ import annotations

import pytest

from tests.engine.layout.builders import context, styled
from workers.engine.layout.lines.breaking import break_lines
from workers.engine.layout.lines.opportunities import find_bound_spaces
from workers.engine.tree.nodes import TextRun
from workers.engine.tree.styles.computed import TextWrap


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("sw", "5~×~80~mm 10~km 5~% 3~m² 50~km/h EUR~5 §~7 №~8 7 metres 3 kmh a km"),
        ("de-AT", "Nr.~3 Abs.~2 z.~B. oder u.~a.~O. am 24.~De\u00adzem\u00adber 5.~Jänner 24. Dez im März 5 Uhr"),
        ("en-GB", "24~December December~24 1st~May No.~7 p.~5 Nr. 3 in May z. B."),
        ("fr", "1er~mars 24~décembre n°~3 art.~5 le mars 24. und"),
        ("es", "24~de diciembre núm.~3"),
        ("en", "no expression of this kind at all"),
        ("de", "Von 12~345~678,90 bis 1~000 auf DE02~1203~0000~0000~2020~51 bei 100 200 300 400 500 600 oder 030 12 345"),
    ],
)  # fmt: skip
def test_expressions_of_a_language_are_bound(lang: str, text: str):
    words = text.replace("~", " ").split(" ")
    bound = find_bound_spaces(words, lang)
    written = "".join(
        word + ("" if at == len(words) - 1 else "~" if at in bound else " ")
        for at, word in enumerate(words)
    )
    assert written == text


@pytest.mark.parametrize("wrap", list(TextWrap))
def test_no_line_ends_inside_an_expression_and_its_characters_stay(wrap: TextWrap):
    style = styled(text_wrap=wrap)
    inlines = [TextRun("aaaa bbbb ccc 10", style.text), TextRun(" km dddd", style.text)]
    lines = break_lines(context(), inlines, base=style.text, style=style.paragraph, width=80).lines
    texts = ["".join(part.text for part in line.fragments) for line in lines]
    assert not any(text.endswith("10") for text in texts)
    assert " ".join(texts) == "aaaa bbbb ccc 10 km dddd"


def test_an_expression_wider_than_its_line_breaks_at_its_space():
    style = styled()
    inlines = [TextRun("120 kWh", style.text)]
    lines = break_lines(context(), inlines, base=style.text, style=style.paragraph, width=25).lines
    assert [line.fragments[0].text for line in lines] == ["120", "kWh"]


def test_a_grouped_number_that_breaks_is_reported_and_an_iban_is_not():
    style = styled()
    for text, first, reported in (
        ("12 345 678,90", "12 345", "12345678,90"),
        ("DE02 1203 0000 0000 2020 51", "DE02 1203", None),
    ):
        inlines = [TextRun(text, style.text)]
        lines = break_lines(context(), inlines, base=style.text, style=style.paragraph, width=45)
        assert (lines.broken.text if lines.broken else None) == reported
        assert "".join(part.text for part in lines.lines[0].fragments) == first
