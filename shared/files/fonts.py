"""The fonts of workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.db.tables import font_reservations, fonts
from shared.files.repository import StoredFiles
from shared.limits import MAX_WORKSPACE_FONT_BYTES, MAX_WORKSPACE_FONTS


@dataclass(frozen=True, slots=True)
class FontFileProperties:
    """Properties of a font file; `faces` are JSON values as in the interface."""

    format: str
    bytes: int
    sha256: str
    faces: Sequence[Mapping[str, Any]]


FONTS: Final = StoredFiles(
    fonts,
    font_reservations,
    FontFileProperties,
    folder="fonts",
    max_bytes=MAX_WORKSPACE_FONT_BYTES,
    max_count=MAX_WORKSPACE_FONTS,
)
