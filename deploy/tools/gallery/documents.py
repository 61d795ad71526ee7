"""Documents of the gallery: the public templates with their sample values, and the golden documents."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pikepdf

from shared.templates.public import FOLDER
from workers.engine.cli import FolderResources, LinkedFiles
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import (
    FontFile,
    NoResources,
    Payload,
    PayloadKind,
    RenderOptions,
    Resources,
)

GOLDEN: Final = Path(__file__).parents[3] / "tests/golden"
OPTIONS: Final = RenderOptions(datetime(2026, 3, 2, 9, 30, tzinfo=UTC), with_sample=True)

_PAYLOADS: Final = (
    (".json", PayloadKind.JSON, None),
    (".csv", PayloadKind.CSV, None),
    (".md", PayloadKind.MARKDOWN, None),
    (".notes.md", PayloadKind.MARKDOWN, "notes"),
    (".payload.xml", PayloadKind.XML, None),
)


@dataclass(frozen=True, slots=True)
class GalleryDocument:
    """A rendered document of the gallery."""

    name: str
    pdf: bytes


@dataclass(frozen=True, slots=True)
class CaseResources:
    """Stored images and fonts from the golden cases, by file name without suffix."""

    folder: Path

    def find_image(self, name: str) -> bytes | None:
        """Return the bytes of an image, None for an unknown name."""
        for path in sorted((self.folder / "images").iterdir()):
            if path.stem == name:
                return path.read_bytes()
        return None

    def find_remote_image(self, address: str) -> bytes | None:
        """Return the image for an address of the reserved host, None for any other."""
        host = "https://images.example/"
        return self.find_image(Path(address).stem) if address.startswith(host) else None

    def find_font(self, name: str) -> FontFile | None:
        """Return a font, None for an unknown name."""
        return FolderResources(None, self.folder / "fonts").find_font(name)

    def list_fonts(self) -> Sequence[str]:
        """Return the names of the fonts."""
        return FolderResources(None, self.folder / "fonts").list_fonts()


def render_templates() -> Iterator[GalleryDocument]:
    """Yield each public template, rendered without data and without stored images.

    Raises:
        AuthoringError: A template does not render.
    """
    for path in sorted(FOLDER.glob("service-*.xml")):
        template = prepare_template(path.read_bytes(), LinkedFiles(FOLDER))
        pdf = render(template, None, options=OPTIONS, resources=NoResources()).pdf
        yield GalleryDocument(path.stem, pdf)


def render_golden_documents() -> Iterator[GalleryDocument]:
    """Yield each golden document; those with an error or a password are skipped."""
    images = CaseResources(GOLDEN)
    for path in sorted((GOLDEN / "cases").glob("*.xml")):
        if path.stem.endswith(".payload"):
            continue
        try:
            pdf = _render(path, _find_payload(path), images)
        except AuthoringError:
            continue
        if _is_readable(pdf):
            yield GalleryDocument(path.stem, pdf)


def _render(path: Path, payload: Payload | None, images: Resources) -> bytes:
    template = prepare_template(path.read_bytes())
    return render(template, payload, options=OPTIONS, resources=images).pdf


def _is_readable(pdf: bytes) -> bool:
    try:
        pikepdf.open(io.BytesIO(pdf)).close()
    except pikepdf.PasswordError:
        return False
    return True


def _find_payload(document: Path) -> Payload | None:
    for suffix, kind, flow in _PAYLOADS:
        path = document.with_suffix(suffix)
        if path.exists():
            return Payload(kind, path.read_bytes(), flow=flow)
    return None
