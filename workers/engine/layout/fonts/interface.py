"""The interface of a font face to layout and painting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class FontFace(Protocol):
    """The metrics and encoding of a font face, as layout needs them; metrics in em."""

    name: str  # as in the font file
    ascent: float
    descent: float
    cap_height: float
    underline_position: float
    underline_thickness: float
    strike_position: float
    shapes: bool  # whether the face supports shaping
    is_ideographic: bool  # whether justification expands between all characters

    def measure(self, text: str) -> float:
        """Return the width of `text`, in em."""

    def measure_all(self, texts: Sequence[str]) -> list[float]:
        """Return the widths of texts that mostly differ in their digits, such as cells, in em."""

    def measure_words(self, words: Sequence[str]) -> list[float]:
        """Return the widths of words, which recur, in em."""

    def kern(self, first: str, second: str) -> float:
        """Return the kerning between two characters, in em."""

    def depth(self, text: str) -> float:
        """Return how far the ink of a text reaches below the baseline, in em."""

    def draws_simply(self, text: str) -> bool:
        """Return whether the face draws all of `text` itself, a glyph for each character from left to right."""

    def encode(self, text: str) -> bytes:
        """Return `text` as the operand of a text-showing operator (ISO 32000-1, 9.4.3)."""

    def encode_all(self, texts: Sequence[str]) -> list[bytes]:
        """Return the operands of many texts."""

    def encode_justified(self, text: str, adjustment: float) -> bytes:
        """Return `text` as an operand whose spaces are wider by `adjustment` thousandths of an em."""

    def append_space(self, operand: bytes) -> bytes:
        """Return the operand of a text with a space at its end."""
