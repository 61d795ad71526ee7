"""What the signatures of a PDF say: who signed, when, whether the file is intact, and the level of PAdES (ETSI EN 319 142-1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any, Final

from asn1crypto.x509 import Certificate
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.fields import SigSeedSubFilter
from pyhanko.sign.validation import validate_pdf_signature, validate_pdf_timestamp
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext

from workers.signer.signing import UNREADABLE, SigningFailedError

_USAGE: Final = KeyUsageConstraints(
    key_usage={"digital_signature", "non_repudiation"}, match_all_key_usages=False
)


@dataclass(frozen=True, slots=True)
class SignatureReport:
    """One signature of a file, which is intact if nothing was changed since but what it allows.

    `is_trusted` is None without authorities. Unless `is_stamped`, the time is what the signer says. `level` is empty without PAdES.
    """

    field: str
    signer: str
    signed_at: datetime | None
    is_stamped: bool
    is_intact: bool
    is_trusted: bool | None
    level: str


def verify_pdf(pdf: bytes, roots: Sequence[Certificate] = ()) -> Sequence[SignatureReport]:
    """Return what each signature of a PDF says, in the order of signing. Nothing is fetched.

    Raises:
        SigningFailedError: the file is damaged or encrypted.
    """
    try:
        reader = PdfFileReader(BytesIO(pdf), strict=False)
        if reader.encrypted:
            raise SigningFailedError("the PDF is encrypted; its signatures cannot be read")
        return list(_report(reader, roots))
    except UNREADABLE as error:
        raise SigningFailedError(f"the PDF cannot be read: {str(error)[:200]}") from error


def _report(reader: PdfFileReader, roots: Sequence[Certificate]) -> Iterator[SignatureReport]:
    context = ValidationContext(trust_roots=roots, allow_fetching=False)
    if "/DSS" in reader.root:  # the certificates and revocations that the file has itself
        store = DocumentSecurityStore.read_dss(reader)
        context = store.as_validation_context({"trust_roots": roots})
    # An authority's time stamp of the whole file counts for all that was signed before it.
    stamps = [
        (stamp, checked.timestamp)
        for stamp in reader.embedded_timestamp_signatures
        if (checked := validate_pdf_timestamp(stamp, context)).intact and checked.valid
    ]
    for signature in reader.embedded_regular_signatures:
        status = validate_pdf_signature(signature, context, context, key_usage_settings=_USAGE)
        later = [each for each in stamps if each[0].signed_revision > signature.signed_revision]
        moments = [moment for _, moment in later]
        own = status.timestamp_validity
        if own is not None and own.intact and own.valid:
            moments.insert(0, own.timestamp)
        level = ""
        if signature.sig_object.get("/SubFilter") == SigSeedSubFilter.PADES.value:
            is_lasting = any(
                _has_revocations(reader.get_historical_root(stamp.signed_revision))
                for stamp, _ in later
            )
            level = "B-T" if moments else "B-B"
            if moments and _has_revocations(reader.root):
                level = "B-LTA" if is_lasting else "B-LT"
        yield SignatureReport(
            signature.field_name,
            status.signing_cert.subject.human_friendly,
            moments[0] if moments else status.signer_reported_dt,
            bool(moments),
            bool(status.intact and status.valid and status.docmdp_ok),
            status.trusted if roots else None,
            level,
        )


def _has_revocations(root: Any) -> bool:
    return "/DSS" in root and bool({"/CRLs", "/OCSPs"} & root["/DSS"].keys())
