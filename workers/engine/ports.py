"""Ports of the engine: its inputs and outputs, and the Protocols that callers implement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from workers.engine.diagnostics import Diagnostic, SourceLocation
from workers.engine.einvoices import InvoiceJudge


class PayloadKind(StrEnum):
    """Formats of payloads."""

    XML = "xml"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Payload:
    """The body of a request.

    `charset` is that of the Content-Type; `flow` is the flow that a Markdown
    body replaces, by default `body`.
    """

    kind: PayloadKind
    body: bytes
    charset: str | None = None
    flow: str | None = None


class RenderOutput(StrEnum):
    """The file that a render writes."""

    PDF = "pdf"
    INVOICE = "invoice"  # the XML of its electronic invoice


@dataclass(frozen=True, slots=True)
class SignatureRequest:
    """The signature of a file by `security`: the name of a certificate, and the field to sign.

    Without a `field`, it is the only signature field of the file, or a new one that no page shows.
    """

    certificate: str
    field: str | None
    location: SourceLocation


class SigningRefusedError(Exception):
    """A file cannot be signed; the message has the reason, for the author."""


class Signer(Protocol):
    """Signs finished files with the certificates of one account."""

    def sign(self, pdf: bytes, request: SignatureRequest) -> bytes:
        """Return the signed file.

        Raises:
            SigningRefusedError: the certificate or the field cannot be used.
        """


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Options of one render: its time, whether it is a draft, its output, and the template's identity.

    `with_sample` makes the document with the sample values of its template, as a draft always is.
    `built_on` has the SHA-256 of each template that it extends or imports, by the reference as written.
    `reserved_zones` of fronts, as x, y, width and height in points from the upper left corner, are those
    of marks that an output plan draws later. Without a `judge`, invoices of others are held against their XML schema only. Without a `signer`, a file that is to be signed is written without a signature, with a warning.
    """

    now: datetime
    is_draft: bool = False
    with_sample: bool = False
    template_id: str | None = None
    template_version: int | None = None
    template_sha256: str | None = None
    built_on: Mapping[str, str] = field(default_factory=dict)
    output: RenderOutput = RenderOutput.PDF
    signer: Signer | None = None
    judge: InvoiceJudge | None = None
    is_duplex: bool | None = None  # by the document unless an output plan says
    reserved_zones: Sequence[Sequence[float]] = ()

    @property
    def has_sample(self) -> bool:
        """Whether sample values are used; a production render never does."""
        return self.is_draft or self.with_sample

    @property
    def embeds_invoice(self) -> bool:
        """Whether the PDF contains the electronic invoice; a draft must not pass for the invoice."""
        return self.output is RenderOutput.PDF and not self.is_draft


class Stage(StrEnum):
    """The stages that `Server-Timing` reports."""

    MERGE = "merge"
    LAYOUT = "layout"
    FINISH = "finish"


# Is told each stage that starts, which ends the one before, to measure their times.
StageObserver = Callable[[Stage], object]


def ignore_stage(_: Stage) -> None:
    """Observe nothing."""


class ImageUnavailableError(Exception):
    """A remote image is unavailable; the message has the reason, for the author."""


@dataclass(frozen=True, slots=True)
class FontFile:
    """A stored font: the SHA-256 of its bytes, and a function that reads them, for cache misses."""

    sha256: str
    read: Callable[[], bytes]


class Resources:
    """Source of images and fonts: one that has none, unless a class of it finds some.

    The engine itself opens no files or sockets.
    """

    def find_image(self, name: str) -> bytes | None:
        """Return the bytes of a stored image, None if the workspace has none of that name."""
        return None

    def find_remote_image(self, address: str) -> bytes | None:
        """Return the bytes at an http or https URL, None without network access.

        Raises:
            ImageUnavailableError: the image cannot be fetched.
        """
        return None

    def find_font(self, name: str) -> FontFile | None:
        """Return a stored font, None if the workspace has none of that name."""
        return None

    def list_fonts(self) -> Sequence[str]:
        """Return names of stored fonts for suggestions, possibly not all."""
        return ()


@dataclass(frozen=True, slots=True)
class Security:
    """Encryption and permissions of a PDF; passwords are never logged or echoed.

    An `owner_password` of None means a random one, which is not stored.
    """

    user_password: str | None
    owner_password: str | None
    encryption: str = "aes-256"  # or aes-128
    print: str = "high"  # high, low, none
    copy: bool = True
    modify: bool = True
    annotate: bool = True
    fill_forms: bool = True
    assemble: bool = True

    def __repr__(self) -> str:
        """Hide the passwords from logs and tracebacks."""
        return f"Security(encryption={self.encryption!r})"


class ArchiveProfile(StrEnum):
    """The supported conformance levels of PDF/A (ISO 19005-2, -3 and -4)."""

    PDF_A_2A = "pdf/a-2a"
    PDF_A_2B = "pdf/a-2b"
    PDF_A_2U = "pdf/a-2u"
    PDF_A_3A = "pdf/a-3a"
    PDF_A_3B = "pdf/a-3b"
    PDF_A_3U = "pdf/a-3u"
    PDF_A_4 = "pdf/a-4"
    PDF_A_4E = "pdf/a-4e"
    PDF_A_4F = "pdf/a-4f"

    @property
    def part(self) -> int:
        """The part of ISO 19005."""
        return int(self.value[len("pdf/a-")])

    @property
    def takes_files(self) -> bool:
        """Whether a file may have attachments of any type."""
        return self.part == 3 or self.level in ("E", "F")

    @property
    def level(self) -> str:
        """The conformance level: B is basic, U names the characters of all text, A has a structure tree too.

        PDF/A-4 has none but E, for files of engineering, and F, for files with attachments.
        """
        return self.value[len("pdf/a-4") :].upper()


class AccessibilityProfile(StrEnum):
    """The supported parts of PDF/UA (ISO 14289)."""

    PDF_UA_1 = "pdf/ua-1"
    PDF_UA_2 = "pdf/ua-2"

    @property
    def part(self) -> int:
        """The part of ISO 14289."""
        return int(self.value[-1])


class PrintProfile(StrEnum):
    """The supported parts of PDF/X (ISO 15930)."""

    PDF_X_4 = "pdf/x-4"


class ConformanceProfiles(NamedTuple):
    """The standards of the attribute `profile`: one of print, or others of the same version of PDF."""

    archive: ArchiveProfile | None = None
    accessibility: AccessibilityProfile | None = None
    print: PrintProfile | None = None

    def __str__(self) -> str:
        """Return the standards as in the attribute."""
        return " ".join([profile.value for profile in self if profile is not None])

    @property
    def is_tagged(self) -> bool:
        """Whether the standards require a structure tree."""
        is_level_a = self.archive is not None and self.archive.level == "A"
        return self.accessibility is not None or is_level_a

    @property
    def is_pdf2(self) -> bool:
        """Whether files are of PDF 2.0 (ISO 32000-2)."""
        return any(self._versions)

    @property
    def are_of_one_version(self) -> bool:
        """Whether one file can conform to all of them."""
        return len(set(self._versions)) < 2

    @property
    def _versions(self) -> list[bool]:
        """Whether the files of each standard are of PDF 2.0."""
        archive, accessibility, _ = self
        archives = [] if archive is None else [archive.part >= 4]
        return archives if accessibility is None else [*archives, accessibility.part >= 2]


NO_PROFILES: Final = ConformanceProfiles()

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)  # of files whose date the data do not say


@dataclass(frozen=True, slots=True)
class Attachment:
    """An embedded file. `relationship` is a keyword of the language, such as `source`.

    `modified` comes from the data; without one it is `UNDATED`, since the same input gives the same bytes.
    `invoice_level` is the conformance level of Factur-X, empty for a file that is not an electronic
    invoice.
    """

    name: str
    content: bytes
    media_type: str
    modified: date | datetime
    relationship: str = "unspecified"
    description: str = ""
    invoice_level: str = ""


class StandaloneInvoice(Protocol):
    """An electronic invoice that can be written as a file of its own."""

    def write_alone(self, pdf: bytes, filename: str | None) -> bytes:
        """Return its XML; in UBL it contains the PDF under the file name."""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What a document says of itself."""

    title: str = ""
    author: str = ""
    subject: str = ""
    keywords: str = ""
    lang: str = "en"
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """Document information and provenance of a file."""

    info: DocumentInfo = DocumentInfo()
    options: RenderOptions = RenderOptions(UNDATED)
    payload_sha256: str | None = None


class OutputIntent(NamedTuple):
    """The colours of a file: an ICC profile, of press and paper or of an archive, and its description.

    A file for print has the profile of RGB pictures too. Profiles are compressed, for FlateDecode.
    """

    profile: bytes
    description: str
    srgb: bytes | None = None


@dataclass(frozen=True, slots=True)
class PdfMetadata:
    """What a PDF says beside its pages: document information, language, XMP packet, colours and embedded files.

    A part of a file has no packet. The names of attachments are unique; a draft is marked on each page.
    """

    information: Mapping[str, str] = field(default_factory=dict)
    lang: str = ""
    packet: bytes = b""
    is_pdf2: bool = False  # a file of PDF 2.0 has the title in `packet` only
    output_intent: OutputIntent | None = None  # of a file for print or an archive
    attachments: Sequence[Attachment] = ()
    is_draft: bool = False


PART: Final = PdfMetadata()  # of a file


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished file with its number of pages, its file name if the document sets one, and warnings.

    A blank back that ends a duplex document is no page of it. `pdf` is the XML of the invoice where `RenderOptions.output` asks for it.
    """

    pdf: bytes
    pages: int
    filename: str | None = None
    warnings: tuple[Diagnostic, ...] = field(default=())
    warnings_left_out: int = 0  # number of warnings not listed
    is_archive: bool = False  # it claims a profile of PDF/A
