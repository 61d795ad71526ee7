"""Write the pictures of the public templates: `make gallery`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from deploy.tools.gallery.documents import render_templates
from deploy.tools.gallery.pictures import draw_page

PICTURES: Final = Path(__file__).parents[3] / "deploy/pictures/templates"


def main() -> None:
    """Write all pictures; those without a template are removed."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    for document in render_templates():
        (PICTURES / f"{document.name}.png").write_bytes(draw_page(document.pdf))


if __name__ == "__main__":
    main()
