"""The kinds of values that are about files: names, media types, dates, profiles of the PDF."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Final

from workers.engine.ports import Profile
from workers.engine.syntax.values import Kind

MAX_FILE_NAME: Final = 150

# What a file system would take for a folder or refuse, and what no reader shows.
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
    """Give the media type of a file by the ending of its name."""
    return _BY_ENDING.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def _read_file_name(text: str) -> str:
    if not text or len(text) > MAX_FILE_NAME or text.startswith(".") or _REFUSED.search(text):
        raise ValueError(text)
    return text


def _read_media_type(text: str) -> str:
    if _MEDIA_TYPE.fullmatch(text) is None:
        raise ValueError(text)
    return text.lower()


def _read_moment(text: str) -> date | datetime:
    moment = datetime.fromisoformat(text)
    if len(text) == len("YYYY-MM-DD") and moment.time() == time():
        return moment.date()
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


FILE_NAME: Final = Kind(
    rf"a file name of at most {MAX_FILE_NAME} characters, without folders and without any of "
    r'/ \ : * ? " < > |',
    _read_file_name,
)
MEDIA_TYPE: Final = Kind("a media type, such as text/xml", _read_media_type)
MOMENT: Final = Kind(
    "a date as 2026-03-02, or an instant as 2026-03-02T09:30:00+01:00", _read_moment
)
PROFILE: Final = Kind(
    "pdf/a-2b or pdf/a-3b; pdf/ua-1 is not supported yet",
    Profile,
    tuple(profile.value for profile in Profile),
)
