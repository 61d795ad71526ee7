"""Value types of files: names, media types, dates and PDF profiles."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Final

from workers.engine.ports import PDF_UA_1, ArchiveProfile, ConformanceProfiles
from workers.engine.syntax.values import ValueType

MAX_FILE_NAME: Final = 150

# Path separators, characters that file systems reject, and invisible characters.
_REFUSED: Final = re.compile(r"""[/\\:*?"<>|\x00-\x1f\x7f\u2028-\u202e\u2066-\u2069]""")
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


def _read_file_name(text: str) -> str:
    if not text or len(text) > MAX_FILE_NAME or text.startswith(".") or _REFUSED.search(text):
        raise ValueError(text)
    return text


def _read_media_type(text: str) -> str:
    if _MEDIA_TYPE.fullmatch(text) is None:
        raise ValueError(text)
    return text.lower()


def _read_profiles(text: str) -> ConformanceProfiles:
    names = text.split()
    archives = [ArchiveProfile(name) for name in names if name != PDF_UA_1]
    if not names or len(set(names)) < len(names) or len(archives) > 1:
        raise ValueError(text)
    return ConformanceProfiles(archives[0] if archives else None, PDF_UA_1 in names)


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
    _read_file_name,
)
MEDIA_TYPE: Final = ValueType("a media type, such as text/xml", _read_media_type)
DATE_OR_INSTANT: Final = ValueType(
    "a date as 2026-03-02, or an instant as 2026-03-02T09:30:00+01:00", _read_date_or_instant
)
_ARCHIVES: Final = tuple(profile.value for profile in ArchiveProfile)
PROFILE: Final = ValueType(
    "pdf/a-2b, pdf/a-3a, pdf/a-3b or pdf/ua-1, or one of the first three and pdf/ua-1 with a space "
    "between them",
    _read_profiles,
    (*_ARCHIVES, PDF_UA_1, *(f"{archive} {PDF_UA_1}" for archive in _ARCHIVES)),
)
