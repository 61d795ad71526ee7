"""Rebuild LANGUAGE.md, its pictures, the schema and the Studio's vocabulary: `make language`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from deploy.tools.language.editor import write_vocabulary
from deploy.tools.language.examples import display_width, draw_document, draw_picture, find_examples
from deploy.tools.language.markdown import find_samples, read_guide
from deploy.tools.language.reference import write_reference
from deploy.tools.language.schema import write_schema

ROOT: Final = Path(__file__).parents[3]
REFERENCE: Final = ROOT / "workers/engine/LANGUAGE.md"
SCHEMA: Final = ROOT / "workers/engine/pressroom.rng"
VOCABULARY: Final = ROOT / "api/studio/source/vocabulary.json"
PICTURES: Final = ROOT / "workers/engine/pictures"


def draw_all() -> dict[str, bytes]:
    """Return the PNG of every picture in the reference, by file name."""
    drawn = {example.picture: draw_picture(example) for example in find_examples()}
    for sample in find_samples(read_guide()):
        if sample.picture:
            png = draw_document(sample.document.encode(), shows_pages=sample.shows_pages)
            drawn[f"{sample.picture}.png"] = png
    return drawn


def main() -> None:
    """Write all files, and remove pictures that are no longer used."""
    pictures = draw_all()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.png"):
        if old.name not in pictures:
            old.unlink()
    for name, png in pictures.items():
        (PICTURES / name).write_bytes(png)
    widths = {name: display_width(png) for name, png in pictures.items()}
    REFERENCE.write_text(write_reference(read_guide(), widths))
    SCHEMA.write_text(write_schema())
    VOCABULARY.write_text(write_vocabulary())


if __name__ == "__main__":
    main()
