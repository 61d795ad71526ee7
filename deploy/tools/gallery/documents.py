"""Documents of the gallery: the public templates with their sample values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from shared.templates.public import FOLDER
from workers.engine.cli import LinkedFiles
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import (
    NoResources,
    RenderOptions,
)

OPTIONS: Final = RenderOptions(datetime(2026, 3, 2, 9, 30, tzinfo=UTC), with_sample=True)


@dataclass(frozen=True, slots=True)
class GalleryDocument:
    """A rendered document of the gallery."""

    name: str
    pdf: bytes


def render_templates() -> Iterator[GalleryDocument]:
    """Yield each public template, rendered without data and without stored images.

    Raises:
        AuthoringError: A template does not render.
    """
    for path in sorted(FOLDER.glob("service-*.xml")):
        template = prepare_template(path.read_bytes(), LinkedFiles(FOLDER))
        pdf = render(template, None, options=OPTIONS, resources=NoResources()).pdf
        yield GalleryDocument(path.stem, pdf)
