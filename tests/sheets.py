"""`make gallery`: pages of pictures of every public template, with little, sample and much data in six languages.

Writes build/gallery/NAME.png: a column a language, a row each for little, sample, and the first and last page of much.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from PIL import Image, ImageOps

from deploy.tools.gallery import OPTIONS
from tests.deploy.test_public_templates import (
    EMPTY,
    FULL,
    TEMPLATES,
    make_little,
    make_much,
    prepare,
)
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind, Resources

SHEETS = Path(__file__).parents[1] / "build/gallery"
LANGUAGES = ("en", "de", "fr", "ar", "ja", "th")
WIDTH, HEIGHT = 420, 594  # of a page, in pixels


def draw_sheet(template: str, languages: Sequence[str] = LANGUAGES) -> Image.Image:
    """Return the pages of a template side by side, on grey."""
    little = EMPTY[template] if template in EMPTY else make_little(template)
    much = FULL[template] if template in FULL else make_much(template)
    sheet = Image.new("RGB", (WIDTH * len(languages), HEIGHT * 4), "#d3d9e1")
    for column, lang in enumerate(languages):
        drawn = [_draw(template, lang, data) for data in (little, {}, much)]
        for row, page in enumerate((drawn[0][0], drawn[1][0], *drawn[2])):
            sheet.paste(page, (column * WIDTH + 4, row * HEIGHT + 4))
    return sheet


def _draw(template: str, lang: str, data: dict) -> list[Image.Image]:
    """Return the first and the last page."""
    body = Payload(PayloadKind.JSON, json.dumps({**data, "lang": lang}, default=str).encode())
    pdf = render(prepare(template), body, options=OPTIONS, resources=Resources()).pdf
    with pypdfium2.PdfDocument(pdf) as document:
        pages = [document[number].render().to_pil() for number in (0, len(document) - 1)]
    return [ImageOps.contain(page.convert("RGB"), (WIDTH - 8, HEIGHT - 8)) for page in pages]


def main() -> None:
    """Write the sheets of all templates."""
    SHEETS.mkdir(parents=True, exist_ok=True)
    for template in TEMPLATES:
        draw_sheet(template).save(SHEETS / f"{template}.png", optimize=True)


if __name__ == "__main__":
    main()
