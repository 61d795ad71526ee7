"""The finish stage: turns the bytes of paint into the final file.

A draft is marked across each page, above all content, which templates cannot affect. Encryption and
permissions are those of the `security` element (ISO 32000-2, 7.6).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import atan2, cos, hypot, sin
from typing import Final, Literal

import pikepdf

from workers.engine.diagnostics import AuthoringError, Diagnostic, Severity
from workers.engine.finish.metadata import add_output_intent, describe_conformance
from workers.engine.ports import NO_PROFILES, Attachment, ConformanceProfiles, Metadata, Security

_RELATIONSHIPS: Final = {  # ISO 32000-2, table 43
    "unspecified": "/Unspecified",
    "source": "/Source",
    "data": "/Data",
    "alternative": "/Alternative",
    "supplement": "/Supplement",
}


def embed_files(pdf: pikepdf.Pdf, attachments: Sequence[Attachment]) -> None:
    """Embed files in the document: in the name tree, and as associated files.

    The names must be unique.
    """
    for each in sorted(attachments, key=lambda one: bytes(pikepdf.String(one.name))):
        pdf.attachments[each.name] = pikepdf.AttachedFileSpec(  # type: ignore[call-arg] # the stub lacks `relationship`
            pdf,
            each.content,
            filename=each.name,
            description=each.description,
            mime_type=each.media_type,
            mod_date=write_date(each.modified),  # ISO 32000-2, 14.13.2
            relationship=pikepdf.Name(_RELATIONSHIPS[each.relationship]),
        )
    if attachments:
        pdf.Root.AF = pikepdf.Array([file.obj for file in pdf.attachments.values()])


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


# ISO 32000-2, 7.6.4.1, and the maximum password length of each revision: the rest is ignored.
_REVISIONS: Final[dict[str, Literal[4, 6]]] = {"aes-256": 6, "aes-128": 4}
_MAX_BYTES: Final = {6: 127, 4: 32}


def make_encryption(security: Security, *, fallback_owner_password: str) -> pikepdf.Encryption:
    """Return the encryption of a document.

    `fallback_owner_password` is used if the document sets none: with an empty owner password every
    reader could remove the restrictions.

    Raises:
        AuthoringError: a password is not usable with the encryption.
    """
    check_passwords(security)
    owner = security.owner_password or fallback_owner_password
    # The tree stage rejects an empty password, with which the file would open for every reader.
    assert security.user_password != ""
    assert owner
    return pikepdf.Encryption(
        owner=owner,
        user=security.user_password or "",
        R=_REVISIONS[security.encryption],
        allow=_permissions(security),
        aes=True,
        metadata=True,
    )


def check_passwords(security: Security) -> None:
    """Check the characters and length of the passwords of a document.

    Raises:
        AuthoringError: a password is not usable with the encryption.
    """
    for name in ("user", "owner"):
        _check_password(security, name)


def _check_password(security: Security, name: str) -> None:
    password = security.user_password if name == "user" else security.owner_password
    revision = _REVISIONS[security.encryption]
    try:
        size = len((password or "").encode("pdfdoc" if revision == 4 else "utf-8"))
    except UnicodeEncodeError:
        advice = 'use encryption="aes-256" or Latin letters' if revision == 4 else "change them"
        raise _password_error(
            f"{name}-password has characters that cannot be used; {advice}"
        ) from None
    if size > _MAX_BYTES[revision]:
        raise _password_error(
            f"{name}-password has {size} bytes; {security.encryption} uses the first "
            f"{_MAX_BYTES[revision]} only: shorten it"
        )


def _password_error(message: str) -> AuthoringError:
    return AuthoringError((Diagnostic(Severity.ERROR, "security-password", message),))


def _permissions(security: Security) -> pikepdf.Permissions:
    return pikepdf.Permissions(
        accessibility=True,  # assistive technology may always read
        extract=security.copy,
        modify_other=security.modify,
        modify_annotation=security.annotate,
        modify_form=security.fill_forms,
        modify_assembly=security.assemble,
        print_lowres=security.print != "none",
        print_highres=security.print == "high",
    )


# The word as outlines of Noto Sans Bold in em/1000, so that the mark needs no font.
_WORD: Final = b"""\
682 364 m 682 243 648 152 579 91 c 511 30 415 0 292 0 c 90 0 l 90 714 l 314 714 l
389 714 454 701 508 674 c 564 647 606 608 636 556 c 667 505 682 441 682 364 c h
525 360 m 525 439 508 498 473 534 c 438 572 388 590 322 590 c 241 590 l 241 125 l 306 125 l
452 125 525 203 525 360 c h
1038 714 m 1135 714 1207 696 1253 661 c 1300 626 1323 572 1323 500 c 1323 467 1317 439 1304 414 c
1292 390 1276 370 1255 352 c 1235 336 1213 322 1190 311 c 1400 0 l 1232 0 l 1062 274 l 981 274 l
981 0 l 830 0 l 830 714 l 1038 714 l h
1027 590 m 981 590 l 981 397 l 1030 397 l 1080 397 1116 405 1137 422 c
1159 439 1170 463 1170 496 c 1170 530 1158 554 1135 568 c 1112 583 1076 590 1027 590 c h
1927 0 m 1875 170 l 1615 170 l 1563 0 l 1400 0 l 1652 717 l 1837 717 l 2090 0 l 1927 0 l h
1787 463 m 1784 474 1779 489 1774 506 c 1769 523 1763 541 1758 559 c 1753 577 1748 593 1745 606 c
1742 593 1737 576 1731 556 c 1726 537 1720 518 1715 500 c 1710 483 1707 470 1704 463 c
1653 297 l 1839 297 l 1787 463 l h
2329 0 m 2180 0 l 2180 714 l 2589 714 l 2589 590 l 2329 590 l 2329 406 l 2571 406 l 2571 282 l
2329 282 l 2329 0 l h
3004 0 m 2853 0 l 2853 588 l 2659 588 l 2659 714 l 3198 714 l 3198 588 l 3004 588 l 3004 0 l h
f
"""
_LEFT, _RIGHT, _HEIGHT = 90, 3198, 717
_SHARE_OF_DIAGONAL: Final = 0.44  # clearly visible, and most figures remain beside it
_SHARE_OF_PAPER: Final = 0.95  # in both directions, so that no letter is clipped
_NAME: Final = "/PressroomDraft"
_OPACITY: Final = 0.14  # black text under it keeps its contrast
_COLOR: Final = b"0.28 0.36 0.46 rg\n"  # grey-blue: red would look like a warning about the figures

_INK: Final = b"0 0 0 0.65 k\n"  # of a file for print


def mark_as_draft(pdf: pikepdf.Pdf, color: bytes = _COLOR) -> None:
    """Draw DRAFT along the diagonal of every page, as an artifact after the page's content.

    The content is enclosed in `q … Q`, so that its graphics state does not affect the mark.
    """
    word = _add_word(pdf, color)
    before = pdf.make_stream(b"q\n")
    after: dict[tuple[float, float, float, float], pikepdf.Stream] = {}
    for page in pdf.pages:
        box = _media_box(page)
        if box not in after:
            after[box] = pdf.make_stream(_write_placement(*box))
        page.contents_add(before, prepend=True)
        page.contents_add(after[box])
        page.add_resource(word, pikepdf.Name.XObject, pikepdf.Name(_NAME))


def _add_word(pdf: pikepdf.Pdf, color: bytes) -> pikepdf.Object:
    state = pikepdf.Dictionary(ca=_OPACITY)
    return pdf.make_stream(
        b"/Mark gs\n" + color + _WORD,
        {
            "/Type": pikepdf.Name.XObject,
            "/Subtype": pikepdf.Name.Form,
            "/BBox": pikepdf.Array([0, 0, _RIGHT + _LEFT, _HEIGHT]),
            "/Resources": pikepdf.Dictionary(ExtGState=pikepdf.Dictionary(Mark=state)),
        },
    )


def _media_box(page: pikepdf.Page) -> tuple[float, float, float, float]:
    left, bottom, right, top = (float(edge) for edge in page.mediabox)
    return left, bottom, right, top


def _write_placement(left: float, bottom: float, right: float, top: float) -> bytes:
    """Return the operators that draw the word centred on the page, along the rising diagonal."""
    width, height = right - left, top - bottom
    angle = atan2(height, width)
    scale = _fitting_scale(width, height, angle)
    across, up = scale * cos(angle), scale * sin(angle)
    middle_x, middle_y = (_LEFT + _RIGHT) / 2, _HEIGHT / 2
    x = left + width / 2 - across * middle_x + up * middle_y
    y = bottom + height / 2 - up * middle_x - across * middle_y
    return (
        b"\nQ\n/Artifact << /Type /Pagination /Subtype /Watermark >> BDC\n"
        b"q %.5f %.5f %.5f %.5f %.3f %.3f cm %b Do Q\nEMC\n"
        % (across, up, -up, across, x, y, _NAME.encode("ascii"))
    )


def _fitting_scale(width: float, height: float, angle: float) -> float:
    """Return the scale at which the rotated word has its share of the diagonal and fits on the paper."""
    length = _RIGHT - _LEFT
    wide = length * cos(angle) + _HEIGHT * sin(angle)
    high = length * sin(angle) + _HEIGHT * cos(angle)
    share = hypot(width, height) * _SHARE_OF_DIAGONAL / length
    return min(share, _SHARE_OF_PAPER * width / wide, _SHARE_OF_PAPER * height / high)


@dataclass(frozen=True, slots=True)
class FinishOptions:
    """Options of the finish stage. A draft (`metadata.options.is_draft`) is marked and never encrypted.

    An archive profile and `security` exclude each other; the tree stage rejects documents with both.

    `fallback_owner_password` is random and never stored: the owner password if `security` has none.
    It is required with `security`, and unused without.
    """

    metadata: Metadata
    security: Security | None = None
    fallback_owner_password: str = ""
    profiles: ConformanceProfiles = NO_PROFILES
    attachments: tuple[Attachment, ...] = ()

    @property
    def conformance(self) -> str:
        """The RDF descriptions of the standards that the file conforms to."""
        return describe_conformance(self.profiles, self.attachments)

    @property
    def needs_metadata_only(self) -> bool:
        """Whether the file needs only metadata, which paint writes.

        Compares all fields, so that a new option is covered without a change here.
        """
        nothing_else = FinishOptions(
            self.metadata,
            fallback_owner_password=self.fallback_owner_password,
            profiles=self.profiles._replace(archive=None),
        )
        return self == nothing_else and not self.metadata.options.is_draft

    def __repr__(self) -> str:
        """Hide the password from logs and tracebacks."""
        return f"FinishOptions(metadata={self.metadata!r}, security={self.security!r})"


def finish(pdf: bytes, options: FinishOptions) -> bytes:
    """Return the PDF with attachments and the draft mark or encryption, compressed.

    Deterministic, except for encrypted files, whose salts are random (ISO 32000-2, 7.6.4).

    Raises:
        AuthoringError: a password of `security` is not usable.
    """
    encryption = None
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        embed_files(opened, options.attachments)
        if options.profiles.archive is not None:
            add_output_intent(opened)
        if options.metadata.options.is_draft:
            mark_as_draft(opened, _INK if options.profiles.print else _COLOR)
        elif options.security is not None:
            encryption = make_encryption(
                options.security, fallback_owner_password=options.fallback_owner_password
            )
        return _save(opened, encryption)


def finish_part(pdf: bytes, *, is_draft: bool, is_print: bool) -> bytes:
    """Return a PDF that is to be merged, with the draft mark on its pages if it is a draft."""
    if not is_draft:
        return pdf
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        mark_as_draft(opened, _INK if is_print else _COLOR)
        return _save(opened, None)


def _save(pdf: pikepdf.Pdf, encryption: pikepdf.Encryption | None) -> bytes:
    written = io.BytesIO()
    pdf.save(
        written,
        min_version="1.6",  # paint writes 1.7, and 1.6 for print
        fix_metadata_version=False,  # the packet is complete already
        preserve_pdfa=True,  # an end of line before endstream (ISO 19005-2, 6.1.7.1)
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
        encryption=encryption,
        deterministic_id=encryption is None,
    )
    return written.getvalue()
