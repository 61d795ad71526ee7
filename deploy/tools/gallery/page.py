"""The gallery as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from typing import Final

from deploy.tools.gallery.documents import GalleryDocument
from deploy.tools.gallery.pictures import draw_pages

_MAX_PAGES: Final = 3
_DPI: Final = 60
_HEAD: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Gallery</title><style>
body { margin: 24px; font: 14px/1.4 sans-serif; color: #17202b; background: #f4f6f9 }
section { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start }
figure { margin: 0 } figcaption { color: #5b6675; margin-bottom: 4px }
img { background: white; margin-right: 4px; vertical-align: top }
</style></head><body>
"""


def write_page(chapters: dict[str, Iterable[GalleryDocument]]) -> str:
    """Return the page: the documents of each chapter, with up to three pages each."""
    parts = [_HEAD]
    for title, documents in chapters.items():
        figures = "\n".join(_write_figure(document) for document in documents)
        parts.append(f"<h1>{html.escape(title)}</h1>\n<section>\n{figures}\n</section>\n")
    parts.append("</body></html>\n")
    return "".join(parts)


def _write_figure(document: GalleryDocument) -> str:
    pictures = "".join(
        f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}" alt="">'
        for png in draw_pages(document.pdf, max_pages=_MAX_PAGES, dpi=_DPI)
    )
    return f"<figure><figcaption>{html.escape(document.name)}</figcaption>{pictures}</figure>"
