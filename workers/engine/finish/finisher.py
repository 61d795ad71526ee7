"""The finish stage: turns the bytes of paint into the final file."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pikepdf

from workers.engine.finish.attachments import embed_files
from workers.engine.finish.conformance import add_output_intent, describe_conformance
from workers.engine.finish.invoices import find_invoice
from workers.engine.finish.metadata import write_metadata
from workers.engine.finish.security import make_encryption
from workers.engine.finish.watermark import mark_as_draft
from workers.engine.ports import ArchiveProfile, Attachment, Metadata, Security


@dataclass(frozen=True, slots=True)
class FinishOptions:
    """Options of the finish stage. A draft (`metadata.is_draft`) is marked and never encrypted.

    `profile` and `security` exclude each other; the tree stage rejects documents with both.

    `fallback_owner_password` is random and never stored: the owner password if `security` has none.
    It is required with `security`, and unused without.
    """

    metadata: Metadata
    security: Security | None = None
    fallback_owner_password: str = ""
    profile: ArchiveProfile | None = None
    attachments: tuple[Attachment, ...] = ()
    is_accessible: bool = False  # conforms to PDF/UA-1

    @property
    def conformance(self) -> str:
        """The RDF descriptions of the standards that the file conforms to."""
        invoice = None if self.profile is None else find_invoice(self.attachments)
        return describe_conformance(self.profile, invoice, is_accessible=self.is_accessible)

    @property
    def needs_metadata_only(self) -> bool:
        """Whether the file needs only metadata, which paint can write itself.

        Compares all fields, so that a new option is covered without a change here.
        """
        nothing_else = FinishOptions(
            self.metadata,
            fallback_owner_password=self.fallback_owner_password,
            is_accessible=self.is_accessible,
        )
        return self == nothing_else and not self.metadata.is_draft

    def __repr__(self) -> str:
        """Hide the password from logs and tracebacks."""
        return f"FinishOptions(metadata={self.metadata!r}, security={self.security!r})"


def finish(pdf: bytes, options: FinishOptions) -> bytes:
    """Return the PDF with metadata, attachments and the draft mark or encryption, compressed.

    Deterministic, except for encrypted files, whose salts are random (ISO 32000-2, 7.6.4).

    Raises:
        AuthoringError: a password of `security` is not usable.
    """
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        write_metadata(opened, options.metadata, conformance=options.conformance)
        embed_files(opened, options.attachments)
        if options.profile is not None:
            add_output_intent(opened)
        if options.metadata.is_draft:
            mark_as_draft(opened)
            return _save(opened, None)
        if options.security is None:
            return _save(opened, None)
        return _save(
            opened,
            make_encryption(
                options.security, fallback_owner_password=options.fallback_owner_password
            ),
        )


def finish_part(pdf: bytes, *, is_draft: bool) -> bytes:
    """Return a PDF that is to be merged, with the draft mark on its pages if it is a draft."""
    if not is_draft:
        return pdf
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        mark_as_draft(opened)
        return _save(opened, None)


def _save(pdf: pikepdf.Pdf, encryption: pikepdf.Encryption | None) -> bytes:
    written = io.BytesIO()
    pdf.save(
        written,
        min_version="1.7",
        fix_metadata_version=False,  # the packet is complete already
        preserve_pdfa=True,  # an end of line before endstream (ISO 19005-2, 6.1.7.1)
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
        encryption=encryption,
        deterministic_id=encryption is None,
    )
    return written.getvalue()
