"""Names and values of form fields (ISO 32000-1, 12.7.3.2 and 12.7.4.2)."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax.values import ValueType

MAX_NAME: Final = 100  # characters
MAX_STATE: Final = 40  # characters of a name object; PDF/A allows 127 bytes
OFF: Final = "Off"  # the state of a button that is not checked


def _read_name(text: str) -> str:
    name = text.strip()
    # A period separates the names of nested fields.
    if not name or len(name) > MAX_NAME or "." in name or not name.isprintable():
        raise ValueError(text)
    return name


def _read_state(text: str) -> str:
    state = text.strip()
    # Viewers disagree on the encoding of other characters in names.
    is_name = state.isascii() and state.isprintable() and 0 < len(state) <= MAX_STATE
    if not is_name or state == OFF:
        raise ValueError(text)
    return state


FIELD_NAME: Final = ValueType(
    f"a name of at most {MAX_NAME} characters without full stops", _read_name
)
BUTTON_VALUE: Final = ValueType(
    f"a text of at most {MAX_STATE} ASCII characters, other than {OFF}", _read_state
)
