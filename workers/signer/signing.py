"""Signatures of PDFs (PAdES B-B, B-T and B-LTA) by the optional library pyHanko (decision 395)."""

from __future__ import annotations

import asyncio
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Final
from urllib.parse import SplitResult, urlsplit
from xml.sax.saxutils import escape

import aiohttp
from asn1crypto import core, tsp
from asn1crypto.x509 import Certificate
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12
from pkcs11 import exceptions as pkcs11
from pyhanko.config.pkcs11 import PKCS11SignatureConfig
from pyhanko.keys import load_certs_from_pemder_data
from pyhanko.pdf_utils.generic import NameObject, TextStringObject
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.metadata.model import VENDOR
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.sign.fields import (
    InvisSigSettings,
    SigFieldSpec,
    SigSeedSubFilter,
    enumerate_sig_fields,
)
from pyhanko.sign.general import SigningError
from pyhanko.sign.pkcs11 import PKCS11SigningContext
from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner, Signer, SimpleSigner
from pyhanko.sign.timestamps import TimeStamper, TimestampRequestError
from pyhanko.stamp import StaticStampStyle
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import InsufficientRevinfoError, ValidationError

from workers.engine.characters import NOT_XML
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources

TIMEOUT_SECONDS: Final = 15
MAX_RESPONSE_BYTES: Final = 256 * 1024  # a token with a chain of certificates has some 10 KB
_REQUEST: Final = "application/timestamp-query"
_RESPONSE: Final = "application/timestamp-reply"


class HttpTimeStamper(TimeStamper):
    """Requests time stamps over HTTP (RFC 3161, 3.4), without redirects, up to a size and a time."""

    def __init__(self, url: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self._url = check_timestamp_url(url)

    async def async_request_tsa_response(self, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
        """Return the response of the authority, which stamps what was sent.

        Raises:
            TimestampRequestError: the authority cannot be reached, or its answer is not for the request.
        """
        answer = await _post(self._url, req.dump())
        try:
            return _read_response(answer, req)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise TimestampRequestError("the answer of the time-stamp server is damaged") from error


def _read_response(content: bytes, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
    # The library's response needs a token, which a refusal has not (RFC 3161, 2.4.2).
    status = tsp.PKIStatusInfo.load(core.Sequence.load(content)[0].dump())["status"].native
    if status != "granted":
        raise TimestampRequestError(f"the time-stamp server refused the request ({status})")
    response = tsp.TimeStampResp.load(content)
    info = response["time_stamp_token"]["content"]["encap_content_info"]["content"].parsed
    # The library compares the nonce alone.
    for member in ("message_imprint", "nonce"):
        if info[member].dump() != req[member].dump():
            raise TimestampRequestError("the time stamp is for another request")
    return response


def check_timestamp_url(url: str) -> str:
    """Return a URL that time stamps can be requested from.

    Raises:
        SigningFailedError: it is no http or https URL, or has a password, which others who list
            the processes of the machine would see.
    """
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise SigningFailedError(
            f"the URL of the time-stamp server must begin with http:// or https://: {url[:200]!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise SigningFailedError("the URL of the time-stamp server must have no name or password")
    return url


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:  # half an address of IPv6
        return None


async def _post(url: str, content: bytes) -> bytes:
    headers = {"Content-Type": _REQUEST, "Accept": _RESPONSE}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.post(url, data=content, headers=headers, allow_redirects=False) as answer,
        ):
            media = answer.content_type
            if answer.status != HTTPStatus.OK or media != _RESPONSE:
                raise TimestampRequestError(
                    f"the time-stamp server answered {answer.status} with {media[:100]}, "
                    f"not 200 with {_RESPONSE}"
                )
            return await _read(answer)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise TimestampRequestError(
            f"the time-stamp server cannot be reached: {type(error).__name__}"
        ) from error


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    content = b""
    async for chunk in answer.content.iter_chunked(16 * 1024):
        content += chunk
        if len(content) > MAX_RESPONSE_BYTES:
            raise TimestampRequestError(
                f"the answer of the time-stamp server has more than {MAX_RESPONSE_BYTES:,} bytes"
            )
    return content


MAX_PDF_BYTES: Final = 256 * 1024 * 1024
_NEW_FIELD: Final = "Signature"
# What a field shows: made by our engine, since PDF/A needs complete fonts, and names any script.
_STAMP: Final = """<document tagged="false"><page size="80mm 24mm" margin="2mm"/>
<flow><p font-size="11pt" margin="0" overflow-wrap="anywhere">{name}</p><p font-size="8pt" margin="0">{time}</p></flow></document>"""
_NO_EXPRESSION: Final = str.maketrans("{}", "()")  # the text of a document is evaluated
# What the library raises about damaged files; zlib's error is of no other kind.
UNREADABLE: Final = (
    *(PdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RecursionError, NotImplementedError, AssertionError, zlib.error),
)
_LONGEST_NAME: Final = 60  # characters of the stamp
DEVICE_SUFFIX: Final = ".toml"
_DEVICES: Final = Lock()  # one session at a time; see `_DeviceSigner`
_DRAWING: Final = Lock()  # the engine renders one document of a process at a time


class SigningFailedError(Exception):
    """The PDF or the certificate cannot be used; the message has the reason and the advice."""


class StampingFailedError(SigningFailedError):
    """The time-stamp server has no time stamp for the signature; a later attempt may have one."""


class DeviceFailedError(Exception):
    """The device of a key does not answer as it should; a later attempt may sign."""


class _DeviceSigner(Signer):
    """Signs by a key that does not leave its device (PKCS#11).

    A login is that of all sessions of a process with the device, and ends with any of them (PKCS#11 3.0,
    5.6.9): a session is opened for each signature, and one at a time.
    """

    def __init__(self, setup: PKCS11SignatureConfig, pin: str | None) -> None:
        self._setup, self._pin = setup, pin
        with self._session() as device:
            super().__init__(
                prefer_pss=setup.prefer_pss,
                signature_mechanism=setup.signature_mechanism,
                signing_cert=device.signing_cert,
                cert_registry=device.cert_registry,
            )

    async def async_sign_raw(
        self, data: bytes, digest_algorithm: str, dry_run: bool = False
    ) -> bytes:
        """Return the signature of bytes; of a dry run, as many bytes as it may have.

        Raises:
            DeviceFailedError: the device fails.
        """
        with self._session() as device:
            return await device.async_sign_raw(data, digest_algorithm, dry_run)

    @contextmanager
    def _session(self) -> Iterator[Signer]:
        try:
            with _DEVICES, PKCS11SigningContext(self._setup, self._pin) as device:
                yield device
        except (pkcs11.PKCS11Error, SigningError) as error:
            # It is not tried again, which would lock the device.
            if isinstance(error.__cause__, _WRONG_PIN):
                raise SigningFailedError("the device of the key refuses the PIN") from error
            reason = str(error)[:200] or type(error).__name__  # that of the device alone
            raise DeviceFailedError(f"the device of the key fails: {reason}") from error


_WRONG_PIN: Final = (
    *(pkcs11.PinIncorrect, pkcs11.PinInvalid, pkcs11.PinLenRange, pkcs11.PinLocked),
    pkcs11.PinExpired,
)


@dataclass(frozen=True, slots=True)
class OpenedCertificate:
    """A certificate with its key, ready to sign."""

    signer: Signer
    certificate: x509.Certificate

    def check(self, now: datetime) -> None:
        """Check whether it may be used.

        Raises:
            SigningFailedError: it is not valid now, or not meant for signatures.
        """
        _check_certificate(self.certificate, now)


@dataclass(frozen=True, slots=True)
class SignatureOptions:
    """The field to sign, chosen unless given, and what viewers show about the signature.

    With `timestamp_url`, a time-stamp authority attests when the file was signed (PAdES B-T). With the `roots`
    of both authorities, lists of revocations are fetched and stamped too (B-LTA).
    """

    field: str | None = None
    reason: str | None = None
    location: str | None = None
    timestamp_url: str | None = None
    roots: Sequence[Certificate] = ()


def open_certificate(content: bytes, password: bytes | None) -> OpenedCertificate:
    """Return the certificate and key of a PKCS#12 file.

    Raises:
        SigningFailedError: the file is no PKCS#12, or the password is wrong.
    """
    try:
        key, certificate, _ = pkcs12.load_key_and_certificates(content, password)
    except (ValueError, TypeError):  # of a password that is missing, or not needed
        raise SigningFailedError(
            "the certificate cannot be opened: the password is wrong, or it is not a PKCS#12 file"
        ) from None
    if key is None or certificate is None:
        raise SigningFailedError("the certificate file has no private key or no certificate for it")
    signer: SimpleSigner | None = SimpleSigner.load_pkcs12_data(
        content, other_certs=(), passphrase=password
    )
    if signer is None:
        raise SigningFailedError("the key of the certificate is of a kind that cannot sign PDFs")
    return OpenedCertificate(signer, certificate)


def open_key(file: Path, content: bytes, password: bytes | None) -> OpenedCertificate:
    """Return the certificate and key of a file: of a device if its name ends in `.toml`, else of PKCS#12.

    Raises:
        SigningFailedError: it cannot be opened.
        DeviceFailedError: the device fails, or has no such key.
    """
    opener = open_device if file.suffix == DEVICE_SUFFIX else open_certificate
    return opener(content, password)


def open_device(content: bytes, pin: bytes | None) -> OpenedCertificate:
    """Return the certificate and key of a device; `content` is TOML with the setup of pyHanko for PKCS#11.

    Raises:
        SigningFailedError: the setup is not one, or the device refuses the PIN.
        DeviceFailedError: the device fails, or has no such key.
    """
    try:
        described = tomllib.loads(content.decode())
        setup = PKCS11SignatureConfig.from_config(described)  # type: ignore[no-untyped-call]
        signer = _DeviceSigner(setup, None if pin is None else pin.decode())
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise SigningFailedError(f"the setup of the device is wrong: {str(error)[:200]}") from error
    assert signer.signing_cert is not None, "loaded from the device, or named by the setup"
    certificate = x509.load_der_x509_certificate(signer.signing_cert.dump())
    return OpenedCertificate(signer, certificate)


def read_certificates(content: bytes) -> Sequence[Certificate]:
    """Return the certificates of a PEM or DER file.

    Raises:
        SigningFailedError: it has none.
    """
    try:
        found = list(load_certs_from_pemder_data(content))
    except UNREADABLE:
        found = []
    if not found:
        raise SigningFailedError("the file of authorities has no certificate in PEM or DER")
    return found


def sign_pdf(pdf: bytes, signer: Signer, options: SignatureOptions, *, now: datetime) -> bytes:
    """Return a PDF with a signature; the bytes of the given one come first, unchanged.

    The signature is written into an empty signature field of the file. A file without one gets a
    field that no page shows.

    Raises:
        SigningFailedError: the PDF is damaged or encrypted, or has no such empty field, or there is
            no time stamp.
        DeviceFailedError: the device of the key fails.
    """
    url = options.timestamp_url
    timestamper = None if url is None else HttpTimeStamper(url)
    if len(pdf) > MAX_PDF_BYTES:
        raise SigningFailedError(f"the PDF has more than {MAX_PDF_BYTES:,} bytes")
    try:
        writer = IncrementalPdfFileWriter(BytesIO(pdf), strict=False)
        if writer.prev.encrypted:
            raise SigningFailedError("the PDF is encrypted; sign it without `security`")
        _name_producer(writer)
        metadata = PdfSignatureMetadata(
            field_name=_choose_field(writer, options.field),
            md_algorithm="sha256",
            reason=options.reason,
            location=options.location,
            subfilter=SigSeedSubFilter.PADES,
            embed_validation_info=bool(options.roots),
            use_pades_lta=bool(options.roots),
            validation_context=_make_context(options) if options.roots else None,
            signer_key_usage=set(),  # `_check_certificate` has looked
        )
        with _drawn_stamp(signer, now) as style:
            signing = PdfSigner(
                metadata,
                signer,
                timestamper=timestamper,
                stamp_style=style,
                new_field_spec=_describe_new_field(str(metadata.field_name)),
            )
            return asyncio.run(_sign(signing, writer))
    except TimestampRequestError as error:
        raise StampingFailedError(f"{error}; the file was not signed") from error
    except (*UNREADABLE, ValidationError) as error:
        # Where a certificate cannot be validated, the library says why in the cause.
        cause = error.__cause__ if isinstance(error.__cause__, ValidationError) else error
        if isinstance(cause, InsufficientRevinfoError):  # its list cannot be had now
            raise StampingFailedError(f"{str(cause)[:200]}; the file was not signed") from error
        raise SigningFailedError(f"the PDF cannot be signed: {str(cause)[:200]}") from error


async def _sign(signing: PdfSigner, writer: IncrementalPdfFileWriter) -> bytes:
    try:
        content: bytes = (await signing.async_sign_pdf(writer)).getvalue()
    finally:
        if signing.signature_meta.validation_context is not None:
            await signing.signature_meta.validation_context.aclose()  # type: ignore[no-untyped-call]
    return content


def _check_certificate(certificate: x509.Certificate, now: datetime) -> None:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begins <= now <= ends:
        raise SigningFailedError(
            f"the certificate is valid from {begins:%Y-%m-%d} to {ends:%Y-%m-%d}, not now"
        )
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return
    if not (usage.digital_signature or usage.content_commitment):
        raise SigningFailedError("the certificate is not meant for signatures (key usage)")


def _choose_field(writer: IncrementalPdfFileWriter, wanted: str | None) -> str:
    """Return the name of an empty signature field, or of a new one if the file has none."""
    names = [name for name, _, _ in enumerate_sig_fields(writer.prev)]
    empty = [name for name, _, _ in enumerate_sig_fields(writer.prev, filled_status=False)]
    if wanted is not None:
        if wanted in empty:
            return wanted
        state = "is signed already" if wanted in names else "does not exist"
        raise SigningFailedError(f'the field "{wanted[:100]}" {state}; {_list_fields(empty)}')
    if len(empty) > 1:
        raise SigningFailedError(f"several fields can be signed; {_list_fields(empty)}")
    return empty[0] if empty else _name_new_field(names)


def _list_fields(empty: Sequence[str]) -> str:
    shown = ", ".join(name[:100] for name in empty[:20])
    return f"empty signature fields: {shown or 'none'}"


def _name_new_field(taken: Sequence[str]) -> str:
    number = 1
    while f"{_NEW_FIELD}{number}" in taken:
        number += 1
    return f"{_NEW_FIELD}{number}"


def _make_context(options: SignatureOptions) -> ValidationContext:
    if options.timestamp_url is None:
        raise SigningFailedError("a signature that lasts (B-LTA) needs a time-stamp server")
    return ValidationContext(
        trust_roots=options.roots, allow_fetching=True, revocation_mode="hard-fail"
    )


def _describe_new_field(name: str) -> SigFieldSpec:
    # A field beyond the page is printed nowhere, and needs no tag (ISO 14289-1, 7.18.1).
    return SigFieldSpec(name, invis_sig_settings=InvisSigSettings(box_out_of_bounds=True))


@contextmanager
def _drawn_stamp(signer: Signer, now: datetime) -> Iterator[StaticStampStyle]:
    """Provide the stamp of a visible field; pyHanko reads it from a file."""
    with TemporaryDirectory() as folder:
        stamp = Path(folder, "stamp.pdf")
        stamp.write_bytes(_draw_stamp(signer, now))
        yield StaticStampStyle.from_pdf_file(str(stamp), border_width=0)


def _name_producer(writer: IncrementalPdfFileWriter) -> None:
    """Replace the producer by the library, which writes itself into the XMP: PDF/A wants both equal."""
    if "/Info" in writer.trailer and "/Metadata" in writer.root:
        information = writer.trailer["/Info"]
        information[NameObject("/Producer")] = TextStringObject(VENDOR)
        writer.update_container(information)


def _draw_stamp(signer: Signer, now: datetime) -> bytes:
    name = NOT_XML.sub("", signer.subject_name or "")[:_LONGEST_NAME].translate(_NO_EXPRESSION)
    source = _STAMP.format(name=escape(name), time=now.strftime("%Y-%m-%d %H:%M UTC"))
    payload = Payload(PayloadKind.XML, source.encode())
    with _DRAWING:
        return render(None, payload, options=RenderOptions(now), resources=Resources()).pdf
