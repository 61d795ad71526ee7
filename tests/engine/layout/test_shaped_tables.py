"""Rows of tables whose text is shaped, by small capitals or other features of fonts, stand below one another."""

from __future__ import annotations

import pypdfium2
import pytest

from tests.golden.case import OPTIONS
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind, Resources

ROWS = '<tr {} for="n in range(1, 9)"><td>item {{{{ n }}}}</td><td>{{{{ n * 1.5 }}}}</td></tr>'


def lines_of(source: str) -> list[str]:
    """Return the lines of the first page from the top, by where their characters stand."""
    payload = Payload(PayloadKind.XML, source.encode())
    pdf = render(None, payload, options=OPTIONS, resources=Resources()).pdf
    lines: dict[int, list[tuple[float, str]]] = {}
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[0].get_textpage()
        for at in range(page.count_chars()):
            if (char := page.get_text_range(at, 1)).strip():
                left, bottom, _, _ = page.get_charbox(at, loose=True)
                lines.setdefault(round(bottom), []).append((left, char))
    return ["".join(char for _, char in sorted(lines[y])) for y in sorted(lines, reverse=True)]


@pytest.mark.parametrize("place", ["flow", "header"])
@pytest.mark.parametrize(
    "columns", ["", '<col/><col text-align="decimal"/>', '<col/><col text-align="end"/>']
)
@pytest.mark.parametrize(
    "shaping", ['font-variant-caps="all-small-caps"', "font-features=\"'smcp'\""]
)
@pytest.mark.parametrize("document", ["", 'profile="pdf/ua-1"'])
def test_rows_of_shaped_text_are_drawn_where_others_are(place, columns, shaping, document):
    found = []
    for style in ("", shaping):
        table = f"<table>{columns}{ROWS.format(style)}</table>"
        parts = ("", table) if place == "flow" else (f"<header>{table}</header>", "<p/>")
        found.append(
            lines_of(
                f'<document title="T" lang="en" {document}><page size="A5">{parts[0]}</page>'
                f"<flow>{parts[1]}</flow></document>"
            )
        )
    plain, shaped = found
    assert plain == [f"item{n}{n * 1.5}" for n in range(1, 9)]
    assert [each.lower() for each in shaped] == plain
