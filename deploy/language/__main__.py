"""Rebuild LANGUAGE.md, its pictures and the schema: `make language`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from deploy.language.examples import find_examples
from deploy.language.guide import GUIDE, find_samples
from deploy.language.pictures import draw_document, draw_picture, shown_width
from deploy.language.reference import write_reference
from deploy.language.schema import write_schema

ROOT: Final = Path(__file__).parents[2]
REFERENCE: Final = ROOT / "workers/engine/LANGUAGE.md"
SCHEMA: Final = ROOT / "workers/engine/pressroom.rng"
PICTURES: Final = ROOT / "deploy/pictures/language"


def draw_all() -> dict[str, bytes]:
    """Draw every picture of the reference; gives their PNGs by file name."""
    drawn = {example.picture: draw_picture(example) for example in find_examples()}
    for sample in find_samples(GUIDE.read_text()):
        if sample.picture:
            png = draw_document(sample.document.encode(), shows_pages=sample.shows_pages)
            drawn[f"{sample.picture}.png"] = png
    return drawn


def main() -> None:
    """Write all three; a picture that nothing shows any more is removed."""
    pictures = draw_all()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        if old.name not in pictures:
            old.unlink()
    for name, png in pictures.items():
        (PICTURES / name).write_bytes(png)
    widths = {name: shown_width(png) for name, png in pictures.items()}
    REFERENCE.write_text(write_reference(GUIDE.read_text(), widths))
    SCHEMA.write_text(write_schema())


if __name__ == "__main__":
    main()
