"""Write the pictures of the public templates with their sample values: `make gallery`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import ImageOps

from deploy.tools.language.examples import OPTIONS, write_png
from shared.templates.public import FOLDER
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Resources

PICTURES: Final = Path(__file__).parents[2] / "deploy/pictures/templates"
MAX_BYTES: Final = 40 * 1024

_DPI: Final = 90
_COLORS: Final = 32
_EDGE: Final = (211, 217, 225)


def render_templates() -> Iterator[tuple[str, bytes]]:
    """Yield the name and PDF of each public template, rendered without data and without stored images.

    Raises:
        AuthoringError: A template does not render.
    """
    for path in sorted(FOLDER.glob("service-*.xml")):
        template = prepare_template(path.read_bytes(), LinkedFiles(FOLDER))
        yield path.stem, render(template, None, options=OPTIONS, resources=Resources()).pdf


def draw_page(pdf: bytes) -> bytes:
    """Return the first page of a PDF as a PNG of at most 32 colours, with a thin frame."""
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[0].render(scale=_DPI / 72).to_pil().convert("RGB")
    return write_png(ImageOps.expand(page, 1, _EDGE), _COLORS)


def main() -> None:
    """Write all pictures; those without a template are removed."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    for name, pdf in render_templates():
        (PICTURES / f"{name}.png").write_bytes(draw_page(pdf))


if __name__ == "__main__":
    main()
