"""Reader of electronic invoices embedded in any PDF, with limits on their size."""

from __future__ import annotations

import io
import zlib
from typing import Any, Final

import pikepdf

from workers.engine.einvoices import INVOICE_NAMES

MAX_INVOICE: Final = 20 * 1024 * 1024
MAX_FILES: Final = 1_000  # embedded files whose names are read


class UnreadablePdfError(Exception):
    """The invoice of a PDF cannot be read; the message has the reason."""


def read_embedded_invoice(content: bytes) -> tuple[str, bytes]:
    """Return the file name and XML of the invoice in a PDF.

    Raises:
        UnreadablePdfError: the PDF is damaged or encrypted, contains no invoice or several, or one
            that exceeds the limits.
    """
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            return _find_invoice(pdf)
    except pikepdf.PasswordError:
        raise UnreadablePdfError("the PDF is encrypted") from None
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, AttributeError):
        raise UnreadablePdfError("the PDF is damaged and cannot be read") from None


def _find_invoice(pdf: pikepdf.Pdf) -> tuple[str, bytes]:
    names = [name for name, _ in zip(pdf.attachments, range(MAX_FILES), strict=False)]
    found = [name for name in names if name.lower() in INVOICE_NAMES]
    if not found:
        raise UnreadablePdfError(f"the PDF contains no file named {', '.join(INVOICE_NAMES)}")
    if len(found) > 1:
        raise UnreadablePdfError(f"the PDF contains {len(found)} invoices, accepted is one")
    return found[0], _read_bounded(pdf.attachments[found[0]].get_file().obj)


def _read_bounded(stream: Any) -> bytes:
    """Return the decoded bytes of a stream; reject more than `MAX_INVOICE` bytes."""
    filters = stream.get("/Filter")
    if isinstance(filters, pikepdf.Array):
        filters = filters[0] if len(filters) == 1 else (filters or None)
    raw: bytes = stream.read_raw_bytes()
    if filters is None:
        unpacked = raw
    elif filters == pikepdf.Name.FlateDecode:
        try:
            unpacked = zlib.decompressobj().decompress(raw, MAX_INVOICE + 1)
        except zlib.error:
            raise UnreadablePdfError("the embedded invoice cannot be decompressed") from None
    else:
        raise UnreadablePdfError("the embedded invoice has a filter other than FlateDecode")
    if len(unpacked) > MAX_INVOICE:
        raise UnreadablePdfError(f"the invoice has more than {MAX_INVOICE:,} bytes")
    return unpacked
