"""The kinds of form fields, and their options."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class FieldKind(StrEnum):
    """The kinds of form fields."""

    TEXT = "text"
    MULTILINE = "multiline"
    CHECKBOX = "checkbox"
    RADIO = "radio"
    CHOICE = "choice"
    SIGNATURE = "signature"

    @property
    def is_button(self) -> bool:
        """Whether it is checked instead of filled with text."""
        return self is FieldKind.CHECKBOX or self is FieldKind.RADIO


class FieldOption(NamedTuple):
    """An option of a choice field: its value and the text shown."""

    value: str
    text: str
