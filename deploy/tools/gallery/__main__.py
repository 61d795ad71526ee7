"""Write the pictures of the public templates and, with a path, the gallery page: `make gallery`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from deploy.tools.gallery.documents import render_golden_documents, render_templates
from deploy.tools.gallery.page import write_page
from deploy.tools.gallery.pictures import draw_pages

PICTURES: Final = Path(__file__).parents[3] / "deploy/pictures/templates"


def main(arguments: list[str]) -> None:
    """Write all pictures, and the page to each given path; pictures without a template are removed."""
    templates = tuple(render_templates())
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        if old.stem not in {document.name for document in templates}:
            old.unlink()
    for document in templates:
        (PICTURES / f"{document.name}.png").write_bytes(draw_pages(document.pdf)[0])
    for path in map(Path, arguments):
        path.parent.mkdir(parents=True, exist_ok=True)
        golden = render_golden_documents()
        path.write_text(write_page({"Templates": templates, "Golden documents": golden}))


if __name__ == "__main__":
    main(sys.argv[1:])
