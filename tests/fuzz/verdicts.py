"""Whether validation and rendering agree about a document, and what only a render can find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workers.engine.diagnostics import Diagnostic, Findings, Severity

# What depends on where things are placed, or on the finished file.
ONLY_BY_RENDERING: Final = frozenset(
    {
        # Sizes and places.
        *("body-too-low", "columns-too-wide", "content-overflows", "max-pages", "nested-columns"),
        *(
            "no-area", "no-progress", "no-room", "not-settled", "no-page", "outside-paper",
            "page-values-too-long",
        ),
        *("running-too-tall", "taller-than-area", "too-many-pages", "wider-than-container"),
        *(
            "chart-too-dense", "chart-too-small", "field-overflow", "field-rotated",
            "qr-bill-columns", "qr-bill-footer", "qr-bill-paper",
        ),
        "marks-value",  # of a set of more sheets than one
        "barcode-module",  # which the room of a code decides
        "barcode-text",  # no text below a code, or too narrow a one
        # What is drawn in the end, of which less may be written.
        *("missing-glyph", "profile-color", "profile-depth", "profile-font", "profile-page"),
    }
)  # fmt: skip


def find_disagreement(found: Findings, errors: Sequence[Diagnostic]) -> str | None:
    """Return how a validation and the errors of a render contradict each other, None where they agree.

    Each error of a render is an error of the validation too, except for what only a render can
    find. Without one the document is valid.
    """
    if found.left_out(Severity.ERROR):
        return None if errors else "has errors for validate, but renders"
    told = {(error.code, error.location) for error in found.errors}
    # An image that may not be shown anywhere is a warning of the validation.
    maybe = {
        (each.code, each.location) for each in found.warnings if each.code.startswith("image-")
    }
    for error in errors:
        if (
            not is_of_rendering(error.code, error.text)
            and (error.code, error.location) not in told | maybe
        ):
            return f"render alone finds: {error.text}"
    if told and not errors:
        return f"has errors for validate, but renders: {found.errors[0].text}"
    return None


def is_of_rendering(code: str, text: str) -> bool:
    """Whether only a render can find an error: validation fetches no image from elsewhere."""
    is_elsewhere = code == "image-missing" and text.startswith('The image at "http')
    return is_elsewhere or code in ONLY_BY_RENDERING
