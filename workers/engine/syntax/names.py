"""Value types of names: parameters, keys, form fields, business terms, files, media types and profiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from itertools import product, starmap
from typing import Final

from workers.engine.einvoices import BY_NUMBER
from workers.engine.ports import (
    AccessibilityProfile,
    ArchiveProfile,
    ConformanceProfiles,
    PrintProfile,
)
from workers.engine.syntax.lexer import read_brackets
from workers.engine.syntax.nodes import PartParameter
from workers.engine.syntax.values import VARIABLE, ValueType, matching

MAX_PARAMETERS: Final = 30
# Attributes of `use`; VARIABLE rejects the other reserved words.
_RESERVED_NAMES: Final = frozenset({"part", "for"})


def _read_parameters(text: str) -> tuple[PartParameter, ...]:
    found: dict[str, PartParameter] = {}
    for written in _split(text):
        name, equals, default = written.partition("=")
        name = VARIABLE.read(name.strip())
        if name in _RESERVED_NAMES or name in found or (equals and not default.strip()):
            raise ValueError(text)
        found[name] = PartParameter(name, default.strip() if equals else None)
    if len(found) > MAX_PARAMETERS:
        raise ValueError(text)
    return tuple(found.values())


def _split(text: str) -> list[str]:
    """Split at the commas outside of string literals and brackets."""
    commas = [at for at, sign, depth in read_brackets(text) if sign == "," and not depth]
    ends = zip([0, *(at + 1 for at in commas)], [*commas, len(text)], strict=True)
    return [text[begin:end] for begin, end in ends] if text.strip() else []


PARAMETERS: Final = ValueType(
    f"at most {MAX_PARAMETERS} names separated by commas, each of them once and none of them `part`, "
    "`for` or a word of the language; a default follows an equals sign, as in who, heading='Bill to'",
    _read_parameters,
)
MESSAGE_KEY: Final = ValueType(
    "text of at most 200 characters in one line", matching(re.compile(r"[^\x00-\x1f\x7f]{1,200}"))
)


# --- form fields (ISO 32000-1, 12.7.3.2 and 12.7.4.2) ---------------------------------------------------

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


# --- business terms of EN 16931 --------------------------------------------------------------------------


BUSINESS_TERM: Final = ValueType(
    "a business term of EN 16931, such as BT-112", BY_NUMBER.__getitem__
)


MAX_FILE_NAME: Final = 150

# Without path separators, characters that file systems reject, and invisible characters.
_FILE_NAME: Final = re.compile(
    rf"""(?!\.)[^/\\:*?"<>|\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069]{{1,{MAX_FILE_NAME}}}"""
)
_MEDIA_TYPE: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,63}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,63}"
)
_BY_ENDING: Final = {
    "csv": "text/csv",
    "gif": "image/gif",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "webp": "image/webp",
    "xml": "text/xml",
    "zip": "application/zip",
}


def guess_media_type(name: str) -> str:
    """Return the media type for the extension of a file name."""
    return _BY_ENDING.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def _read_profiles(text: str) -> ConformanceProfiles:
    return _PROFILES[" ".join(sorted(text.split()))]


def _read_date_or_instant(text: str) -> date | datetime:
    moment = datetime.fromisoformat(text)
    if len(text) == len("YYYY-MM-DD") and moment.time() == time():
        return moment.date()
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


FILE_NAME: Final = ValueType(
    rf"a file name of at most {MAX_FILE_NAME} characters, without folders and without any of "
    r'/ \ : * ? " < > |',
    matching(_FILE_NAME),
)
MEDIA_TYPE: Final = ValueType(
    "a media type, such as text/xml", lambda text: matching(_MEDIA_TYPE)(text).lower()
)
DATE_OR_INSTANT: Final = ValueType(
    "a date as 2026-03-02, or an instant as 2026-03-02T09:30:00+01:00", _read_date_or_instant
)
_PROFILES: Final = {
    str(profiles): profiles
    for profiles in starmap(
        ConformanceProfiles, product((None, *ArchiveProfile), (None, *AccessibilityProfile))
    )
    if any(profiles) and profiles.are_of_one_version
} | {profile.value: ConformanceProfiles(print=profile) for profile in PrintProfile}
PROFILE: Final = ValueType(
    f"{', '.join([name for name in _PROFILES if ' ' not in name])}, or an archive profile and one of "
    "accessibility with a space between them: pdf/ua-2 with those of pdf/a-4, pdf/ua-1 with the others",
    _read_profiles,
    tuple(_PROFILES),
)


# --- marks of sheets -----------------------------------------------------------------------------------

_MARK_FIELD: Final = re.compile(r"\{(?:(job|inserts)|(set|sheet|count)(?::0([1-9]))?)\}")
_MAX_MARK_FORMAT: Final = 80


def _read_mark_format(text: str) -> str:
    rest = _MARK_FIELD.sub("", text)
    if not text or len(text) > _MAX_MARK_FORMAT or "{" in rest or "}" in rest:
        raise ValueError(text)
    return text


def _read_feeders(text: str) -> frozenset[int]:
    feeders = frozenset(map(int, text.replace(",", " ").split()))
    if not feeders <= {1, 2, 3, 4}:
        raise ValueError(text)
    return feeders


def fill_mark_format(text: str, values: Mapping[str, str | int]) -> tuple[str, tuple[str, ...]]:
    """Return a format of marks filled with values, and the names of numbers too large for their width, of
    which the last digits remain.
    """
    wrapped: list[str] = []

    def fill(match: re.Match[str]) -> str:
        name, width = match[1] or match[2], int(match[3] or 0)
        shown = str(values[name]).zfill(width)
        if width and len(shown) > width:
            wrapped.append(name)
        return shown[-width:]

    return _MARK_FIELD.sub(fill, text), tuple(wrapped)


FEEDERS: Final = ValueType("numbers of feeders from 1 to 4, such as 1 3", _read_feeders)
MARK_FORMAT: Final = ValueType(
    "a text of at most 80 characters with {job}, {set}, {sheet}, {count} and {inserts}; a number may have "
    "a width, as in {set:06}",
    _read_mark_format,
)
