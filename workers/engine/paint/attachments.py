"""Embedded files as objects of the file (ISO 32000-2, 7.11.4 and 14.13)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from hashlib import md5

from workers.engine.paint.canvas_file import WrittenObject, write_deflated
from workers.engine.pdf_writer import write_name, write_text
from workers.engine.ports import Attachment


def write_attachments(attachments: Iterable[Attachment]) -> list[tuple[bytes, WrittenObject]]:
    """Return the name and the specification of each file, in the order of a tree of names."""
    ordered = sorted(attachments, key=lambda each: (not each.name.isascii(), _encode(each.name)))
    return [(write_text(each.name), _write_specification(each)) for each in ordered]


def _encode(name: str) -> bytes:
    return name.encode("utf-16-be", "replace")


def _write_specification(file: Attachment) -> WrittenObject:
    name = write_text(file.name)
    described = b" /Desc " + write_text(file.description) if file.description else b""
    content = write_deflated([_describe_content(file)], file.content)
    return WrittenObject(
        b"<< /Type /Filespec /F %b /UF %b%b /AFRelationship /%b /EF << /F "
        % (name, name, described, file.relationship.capitalize().encode("ascii")),
        content,
        b" /UF ",
        content,
        b" >> >>",
    )


def _describe_content(file: Attachment) -> bytes:
    return (
        b"/Type /EmbeddedFile /Subtype %b /Params << /Size %d /ModDate (%b) /CheckSum <%b> >>"
        % (
            write_name(file.media_type.encode("ascii")),
            len(file.content),
            write_date(file.modified).encode("ascii"),
            md5(file.content, usedforsecurity=False).hexdigest().encode("ascii"),
        )
    )


def write_date(moment: date | datetime) -> str:
    """Return a date in PDF's format (PDF 1.7, 7.9.4)."""
    if not isinstance(moment, datetime):
        return f"D:{moment:%Y%m%d}"
    offset = moment.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    if not minutes:
        return f"D:{moment:%Y%m%d%H%M%S}Z"
    sign = "-" if minutes < 0 else "+"
    hours, minutes = divmod(abs(minutes), 60)
    return f"D:{moment:%Y%m%d%H%M%S}{sign}{hours:02d}'{minutes:02d}'"
