"""Codes that the law prescribes for invoices: KSeF (Poland), VERI*FACTU (Spain) and ZATCA (Saudi Arabia).

They take data that another system has made: hashes, signatures and keys of the authority's certificates
are checked in their form and encoded, never computed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final
from urllib.parse import quote

from stdnum.es import nif

from workers.engine.barcodes.national_codes import read_nip
from workers.engine.barcodes.payments import InvalidPaymentError, PaymentRecord, is_moment

_SHA256: Final = 32  # bytes
_TO_BASE64: Final = str.maketrans("-_", "+/")

# --- KSeF: verification links of invoices (KOD I) and of the issuer's certificate (KOD II) ---------------

_KSEF_HOSTS: Final = {
    "production": "qr.ksef.mf.gov.pl",
    "demo": "qr-demo.ksef.mf.gov.pl",
    "test": "qr-test.ksef.mf.gov.pl",
}
_KSEF_CONTEXTS: Final = ("Nip", "InternalId", "NipVatUe", "PeppolId")
_KSEF_CONTEXT: Final = re.compile(r"[A-Za-z0-9:+*-]{1,64}")
_SERIAL: Final = re.compile(r"[0-9A-F]{16,40}")
_RSA_SIGNATURE: Final = (256, 512)  # bytes, of keys of 2048 to 4096 bits
_ECDSA_SIGNATURE: Final = (64, 72)  # bytes, IEEE P1363 or DER


def write_ksef(invoice: Mapping[str, object]) -> bytes:
    """Return the link of KOD I, by which a reader finds the invoice in KSeF.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("ksef-qr", invoice)
    members.check_members(("nip", "date", "hash", "environment"))
    issued = members.date("date", "{2}-{1}-{0}", is_required=True)
    parts = (read_nip(members, "nip", is_required=True), issued, _read_hash(members))
    host = _KSEF_HOSTS[members.choice("environment", _KSEF_HOSTS)]
    return f"https://{host}/invoice/{'/'.join(parts)}".encode()


def write_ksef_certificate(invoice: Mapping[str, object]) -> bytes:
    """Return the link of KOD II, which has the issuer's signature of all that stands before it.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("ksef-certificate-qr", invoice)
    members.check_members(
        ("nip", "hash", "context", "context_type", "serial", "signature", "environment")
    )
    kind = members.choice("context_type", _KSEF_CONTEXTS)
    seller = read_nip(members, "nip", is_required=True)
    context = members.text("context", 64) or (seller if kind == "Nip" else "")
    if not _KSEF_CONTEXT.fullmatch(context):
        raise members.error("context", f'is "{context}", not an identifier of {kind}')
    wanted = "the serial number of a certificate in hex"
    serial = members.matching("serial", _SERIAL, wanted, is_required=True)
    signature = _read_base64(members, "signature")
    size = len(signature)
    if not any(least <= size <= most for least, most in (_RSA_SIGNATURE, _ECDSA_SIGNATURE)):
        raise members.error(
            "signature", f"has {size} bytes; RSA has 256 to 512, ECDSA on P-256 has 64 to 72"
        )
    parts = (kind, context, seller, serial, _read_hash(members), _to_base64url(signature))
    host = _KSEF_HOSTS[members.choice("environment", _KSEF_HOSTS)]
    return f"https://{host}/certificate/{'/'.join(parts)}".encode()


def _read_hash(members: PaymentRecord) -> str:
    return _to_base64url(_read_base64(members, "hash", _SHA256))


# --- VERI*FACTU: the tax QR of Spanish invoices ----------------------------------------------------------

_VERIFACTU_HOSTS: Final = {"production": "www2.agenciatributaria.gob.es", "test": "prewww2.aeat.es"}
VERIFACTU_SIDES: Final = (30.0, 40.0)  # millimetres, at level M of error correction
_SERIES: Final = re.compile(r"""[ !#-&(-;?-~]+""")
_MOST_EUROS: Final = Decimal("999999999999.99")


def write_verifactu(invoice: Mapping[str, object]) -> bytes:
    """Return the link by which the tax agency confirms an invoice (Orden HAC/1177/2024, articles 20 and 21).

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("verifactu-qr", invoice)
    members.check_members(("nif", "number", "date", "amount", "verifiable", "environment"))
    number = members.compact("nif", is_required=True)
    if not nif.is_valid(number):
        raise members.error("nif", f'is "{number[:12]}", not a NIF with its check character')
    series = members.text("number", 60, is_required=True)
    if not _SERIES.fullmatch(series):
        raise members.error("number", "takes printable characters of ASCII without \" ' < = >")
    issued = members.date("date", "{2}-{1}-{0}", is_required=True)
    host = _VERIFACTU_HOSTS[members.choice("environment", _VERIFACTU_HOSTS)]
    is_verifiable = members.flag("verifiable", default=True)
    path = "ValidarQR" if is_verifiable else "ValidarQRNoVerifactu"
    values = {
        "nif": number,
        "numserie": quote(series, safe=""),
        "fecha": issued,
        "importe": _read_total(members, "amount", least=-_MOST_EUROS),
    }
    query = "&".join(f"{name}={value}" for name, value in values.items())
    return f"https://{host}/wlpl/TIKE-CONT/{path}?{query}".encode()


# --- ZATCA: fields of tag, length and value in base64 ----------------------------------------------------

_MOST_BASE64: Final = 700  # characters
_VAT_NUMBER: Final = re.compile(r"3[0-9]{13}3")
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?")
_STAMP: Final = ("hash", "signature", "public_key", "certificate_signature")


def write_zatca(invoice: Mapping[str, object]) -> bytes:
    """Return the fields of a Saudi invoice: five, or eight or nine with the cryptographic stamp.

    Raises:
        InvalidPaymentError: A member is missing or invalid.
    """
    members = PaymentRecord("zatca-qr", invoice)
    members.check_members(("seller", "vat_number", "time", "total", "vat", *_STAMP))
    wanted = "15 digits from 3 to 3"
    vat_number = members.matching("vat_number", _VAT_NUMBER, wanted, is_required=True)
    moment = members.text("time", 20, is_required=True)
    if not _MOMENT.fullmatch(moment) or not is_moment(moment):
        raise members.error("time", f'is "{moment}", not a time such as 2026-03-02T14:25:09Z')
    total, vat = (_read_total(members, name) for name in ("total", "vat"))
    if Decimal(vat) > Decimal(total):
        raise members.error("vat", f"is {vat}, more than the total of {total}")
    fields = [
        members.text("seller", 127, is_required=True).encode(),
        *(text.encode() for text in (vat_number, moment, total, vat)),
        *_read_stamp(members),
    ]
    for tag, field in enumerate(fields, 1):
        if len(field) > 255:
            raise InvalidPaymentError(
                f'field {tag} of "zatca-qr" has {len(field)} bytes, at most 255 are allowed'
            )
    content = base64.b64encode(
        b"".join(bytes((tag, len(field))) + field for tag, field in enumerate(fields, 1))
    )
    if len(content) > _MOST_BASE64:
        raise InvalidPaymentError(
            f'"zatca-qr" needs {len(content)} characters, at most {_MOST_BASE64} are allowed; shorten "seller"'
        )
    return content


def _read_stamp(members: PaymentRecord) -> list[bytes]:
    """Return tags 6 to 9: the hash and signature as their base64, the key and its signature as bytes."""
    given = [name for name in _STAMP if members.record.get(name)]
    if not given:
        return []
    if given not in (list(_STAMP[:3]), list(_STAMP)):
        raise InvalidPaymentError(
            f'"zatca-qr" takes {", ".join(_STAMP[:3])} together, and {_STAMP[3]} beside them'
        )
    texts = [
        base64.b64encode(_read_base64(members, "hash", _SHA256)),
        base64.b64encode(_read_base64(members, "signature")),
    ]
    return [*texts, *(_read_base64(members, name) for name in given[2:])]


# --- what they share -------------------------------------------------------------------------------------


def _read_base64(members: PaymentRecord, member: str, size: int | None = None) -> bytes:
    """Return the bytes of a member in base64 or base64url, with or without padding."""
    text = members.text(member, 1_000, is_required=True).rstrip("=").translate(_TO_BASE64)
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:  # binascii.Error is one
        raise members.error(member, "is not in base64 or base64url") from None
    if size is not None and len(value) != size:
        raise members.error(member, f"has {len(value)} bytes; a SHA-256 has {size}")
    return value


def _to_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _read_total(members: PaymentRecord, member: str, least: Decimal = Decimal(0)) -> str:
    text = members.text(member, 20, is_required=True)
    if not re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,2})?", text):
        raise members.error(member, f'is "{text}", not a number such as 1234.50')
    amount = Decimal(text)
    if amount < least:
        raise members.error(member, f"is {text}, it must not be below {least}")
    return f"{amount:.2f}"
