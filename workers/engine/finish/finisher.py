"""Finishing: raw PDF bytes become the file that is handed out."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pikepdf

from workers.engine.finish.archive import add_output_intent, describe_conformance
from workers.engine.finish.attachments import embed_files
from workers.engine.finish.invoices import find_invoice
from workers.engine.finish.metadata import write_metadata
from workers.engine.finish.security import make_encryption
from workers.engine.finish.watermark import mark_as_draft
from workers.engine.ports import Attachment, Metadata, Profile, Security


@dataclass(frozen=True, slots=True)
class FinishOptions:
    """What finishing is told. A draft (`metadata.is_draft`) is marked and never encrypted.

    A document with a `profile` has no `security`: build refuses the two together.

    `spare_password` is a random text of the caller's that nobody keeps: the owner password of a
    document with `security` that sets none. It is needed with `security`, unused without.
    """

    metadata: Metadata
    security: Security | None = None
    spare_password: str = ""
    profile: Profile | None = None
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Tell whether the file needs metadata alone, which are written when it is printed.

        Whatever else is asked for, by a field of today or one to come, makes it differ from this.
        """
        nothing_else = FinishOptions(self.metadata, spare_password=self.spare_password)
        return self == nothing_else and not self.metadata.is_draft

    def __repr__(self) -> str:
        """Hide the password from logs and tracebacks."""
        return f"FinishOptions(metadata={self.metadata!r}, security={self.security!r})"


def finish(pdf: bytes, options: FinishOptions) -> bytes:
    """Add metadata, the draft mark or the encryption, and write the file compactly.

    Equal input gives equal bytes, except when it is encrypted: the standard asks for random salts.

    Raises:
        AuthoringError: a password of `security` cannot be used.
    """
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        write_metadata(opened, options.metadata, conformance=_describe_conformance(options))
        embed_files(opened, options.attachments)
        if options.profile is not None:
            add_output_intent(opened)
        if options.metadata.is_draft:
            mark_as_draft(opened)
            return _save(opened, None)
        if options.security is None:
            return _save(opened, None)
        return _save(
            opened, make_encryption(options.security, spare_password=options.spare_password)
        )


def finish_part(pdf: bytes, *, is_draft: bool) -> bytes:
    """Mark the pages of a PDF that is to be merged with others, if they are drafts."""
    if not is_draft:
        return pdf
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        mark_as_draft(opened)
        return _save(opened, None)


def _describe_conformance(options: FinishOptions) -> str:
    if options.profile is None:
        return ""
    return describe_conformance(options.profile, find_invoice(options.attachments))


def _save(pdf: pikepdf.Pdf, encryption: pikepdf.Encryption | None) -> bytes:
    written = io.BytesIO()
    pdf.save(
        written,
        min_version="1.7",
        fix_metadata_version=False,  # the packet is ours and right already
        preserve_pdfa=True,  # an end of line before endstream (ISO 19005-2, 6.1.7.1)
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
        encryption=encryption,
        deterministic_id=encryption is None,
    )
    return written.getvalue()
