"""What the engine asks of the world around it, and what it is given: the only seam to the farm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from workers.engine.diagnostics import Diagnostic


class PayloadKind(StrEnum):
    """How a payload's bytes are read."""

    XML = "xml"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Payload:
    """The body of a request. `charset` is the Content-Type's, for CSV and Markdown; `flow` names
    the flow a Markdown body replaces (`body` unless given).
    """

    kind: PayloadKind
    body: bytes
    charset: str | None = None
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What one render is told: the instant it happens at, draft or not, and which template this is."""

    now: datetime
    is_draft: bool = False
    template_id: str | None = None
    template_version: int | None = None
    template_sha256: str | None = None


class Stage(StrEnum):
    """The stages whose time is told to the client in `Server-Timing` (contract.md 5)."""

    MERGE = "merge"
    LAYOUT = "layout"
    FINISH = "finish"


class ImageAwayError(Exception):
    """The image at an address cannot be had; the text says why and may be told to the author."""


@dataclass(frozen=True, slots=True)
class FontFile:
    """A stored font by the SHA-256 of its bytes; they are read only where no process has it yet."""

    sha256: str
    read: Callable[[], bytes]


class Resources(Protocol):
    """Where images and fonts come from. The engine itself opens no file and no socket."""

    def find_image(self, name: str) -> bytes | None:
        """Give the bytes of a stored image, None when the workspace has none of that name."""

    def find_remote_image(self, address: str) -> bytes | None:
        """Give the bytes at an http or https address, None where nothing outside is reached.

        Raises:
            ImageAwayError: they cannot be had.
        """

    def find_font(self, name: str) -> FontFile | None:
        """Return a stored font, None when the workspace has none of that name."""

    def list_fonts(self) -> Sequence[str]:
        """Return the names of stored fonts, for suggestions; not all of very many."""


class StageWatch(Protocol):
    """Told when the engine enters a stage; the clock is the caller's."""

    def enter(self, stage: Stage) -> None:
        """Note that `stage` begins now and the one before ended."""


class NoImages:
    """Resources of a render that has no stored images and fonts and reaches nothing outside."""

    def find_image(self, name: str) -> bytes | None:
        """Give None."""
        return None

    def find_remote_image(self, address: str) -> bytes | None:
        """Give None."""
        return None

    def find_font(self, name: str) -> FontFile | None:
        """Return None."""
        return None

    def list_fonts(self) -> Sequence[str]:
        """Return nothing."""
        return ()


class NoWatch:
    """A watch nobody reads."""

    def enter(self, stage: Stage) -> None:
        """Note nothing."""


@dataclass(frozen=True, slots=True)
class Security:
    """Encryption and permissions of a PDF (language.md 1.10); passwords are never logged or echoed.

    An `owner_password` of None means a random one that nobody keeps.
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


class Profile(StrEnum):
    """The standards for keeping that a PDF can promise to conform to (ISO 19005-2 and -3)."""

    PDF_A_2B = "pdf/a-2b"
    PDF_A_3B = "pdf/a-3b"

    @property
    def part(self) -> int:
        """Give the part of ISO 19005."""
        return 2 if self is Profile.PDF_A_2B else 3


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside the PDF. `relationship` is a word of language.md 1.6, such as `source`.

    `modified` comes from the data: the engine has no clock. An `invoice_level` says that the file
    is an electronic invoice, and of which level of Factur-X.
    """

    name: str
    content: bytes
    media_type: str
    relationship: str = "unspecified"
    description: str = ""
    modified: date | datetime | None = None
    invoice_level: str = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Document information and provenance for the file; every date in it comes from the data."""

    title: str = ""
    author: str = ""
    subject: str = ""
    keywords: str = ""
    lang: str = "en"
    is_draft: bool = False
    template_id: str | None = None
    template_version: int | None = None
    template_sha256: str | None = None
    payload_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """The metadata as they stand in a file: document information, language and XMP packet."""

    information: Mapping[str, str]
    lang: str
    packet: bytes


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished PDF, the number of its pages, the file name the document gives itself, its warnings."""

    pdf: bytes
    pages: int
    filename: str | None = None
    warnings: tuple[Diagnostic, ...] = field(default=())
    warnings_left_out: int = 0  # found, but not among those listed
