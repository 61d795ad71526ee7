"""Warnings of the signs of a Swiss bill that are not of its accepted set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workers.engine.barcodes import adapt_signs
from workers.engine.diagnostics import SourceLocation
from workers.engine.tree.build_state import BuildState

CODE: Final = "qr-bill-value"


def warn_of_signs(name: str, value: Any, state: BuildState, location: SourceLocation) -> None:
    """Warn of the signs of a Swiss bill that are replaced by accepted ones."""
    _, replaced = adapt_signs(value) if isinstance(value, Mapping) else (value, "")
    if replaced:
        shown = ", ".join(f'"{sign}" (U+{ord(sign):04X})' for sign in replaced[:5])
        state.findings.warn(
            CODE,
            f'"{name}" holds {shown}, for which the nearest accepted signs are written',
            location,
        )
