"""Form fields of a PDF (ISO 32000-2, 12.7): their names, types, values and options, within limits."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import msgspec
import pikepdf

from workers.engine.pdf_pages.file import DecodedBudget, PdfFile, is_pdf
from workers.engine.pdf_pages.objects import (
    IndirectReference,
    Name,
    PdfObject,
    Stream,
    UnusablePdfError,
    damaged,
)

MAX_FIELDS: Final = 10_000  # as a document may have
MAX_NODES: Final = 200_000  # fields, groups of fields, options, and annotations of pages
MAX_DEPTH: Final = 32  # groups of fields in each other
MAX_NAME: Final = 1_000  # characters of a name with those of its groups
MAX_TEXT: Final = 2_000_000  # characters of names, labels, values and options together

_INHERITED: Final = ("FT", "Ff", "V", "Opt", "MaxLen")
_READ_ONLY, _REQUIRED = 1, 1 << 1
_RADIO, _PUSH_BUTTON = 1 << 15, 1 << 16
_DROP_DOWN, _MULTIPLE = 1 << 17, 1 << 21


class AcroFieldType(StrEnum):
    """The type of a field; `select` is a drop-down list, `list` one that shows several options."""

    TEXT = "text"
    CHECKBOX = "checkbox"
    RADIO = "radio"
    SELECT = "select"
    LIST = "list"
    BUTTON = "button"
    SIGNATURE = "signature"
    UNKNOWN = "unknown"


class AcroFieldOption(msgspec.Struct, frozen=True):
    """A value that can be chosen, and the text that is shown for it."""

    value: str
    label: str


class AcroField(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    rename={"is_required": "required", "is_read_only": "read_only", "is_signed": "signed"},
):
    """A field; `value` is None if it is not filled in, and a tuple if several options can be chosen.

    `page` is the number of the first page that shows it, None if no page does; `is_signed` is for signatures.
    """

    name: str
    type: AcroFieldType
    value: str | tuple[str, ...] | None
    is_required: bool
    is_read_only: bool
    is_signed: bool | None = None
    options: tuple[AcroFieldOption, ...] = ()
    label: str = ""
    page: int | None = None
    max_length: int | None = None


class FormReport(msgspec.Struct, frozen=True, rename={"has_xfa": "xfa"}):
    """The fields of a form in the order of its file; `has_xfa`: it has an XFA form too, which is not read."""

    fields: tuple[AcroField, ...]
    has_xfa: bool

    def to_report(self) -> dict[str, Any]:
        """Return the report as JSON."""
        report: dict[str, Any] = msgspec.to_builtins(self)
        return report


def read_form(data: bytes) -> FormReport:
    """Return the fields of a PDF; scripts, calculations and appearances are not evaluated.

    Raises:
        UnusablePdfError: the file is damaged, encrypted or over a limit, or has no fields.
    """
    if not is_pdf(data):
        raise UnusablePdfError("The file is not a PDF", advice="Send the PDF with the form.")
    file = PdfFile(data, DecodedBudget(len(data)), accepts_restricted=True)
    form = file.resolve_dictionary(file.catalog.get("AcroForm"))
    fields = _FormReader(file).read(form)
    has_xfa = file.resolve(form.get("XFA")) is not None
    if not fields and has_xfa:
        raise UnusablePdfError(
            "The form is an XFA form without form fields of PDF",
            advice="Save it as an AcroForm, or send its data as XML.",
        )
    if not fields:
        raise UnusablePdfError(
            "The PDF has no form fields",
            advice="Send the file that was filled in: printing or flattening it makes fields page content.",
        )
    return FormReport(fields, has_xfa)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the field tree with the name and depth of its parent and what it inherits."""

    value: PdfObject
    name: str = ""
    depth: int = 0
    inherited: Mapping[str, PdfObject] | None = None


@dataclass(frozen=True, slots=True)
class _Terminal:
    """A field without fields below: its attributes with the inherited ones, and its widgets."""

    name: str
    entries: Mapping[str, PdfObject]
    widgets: Sequence[PdfObject]


class _FormReader:
    """Reads the fields of one file; counts nodes and texts against the limits."""

    def __init__(self, file: PdfFile) -> None:
        self._file = file
        self._texts = TextBudget(MAX_TEXT)
        self._nodes = 0
        self._seen: set[IndirectReference] = set()

    def read(self, form: Mapping[str, PdfObject]) -> tuple[AcroField, ...]:
        widgets = self._find_widgets()
        fields: list[AcroField] = []
        for root in self._find_roots(form, widgets):
            for terminal in self._walk(_Node(root)):
                if len(fields) == MAX_FIELDS:
                    raise _too_many(f"{MAX_FIELDS:,} form fields")
                fields.append(self._read_field(terminal, widgets))
        return tuple(fields)

    def _find_roots(
        self, form: Mapping[str, PdfObject], widgets: Mapping[IndirectReference, int]
    ) -> Iterator[PdfObject]:
        """Yield the fields of the form, then those that only a page has, which viewers show too."""
        yield from self._take_list(form.get("Fields"))
        for widget in widgets:
            if widget not in self._seen and (root := self._find_root(widget)) not in self._seen:
                yield root

    def _find_root(self, widget: IndirectReference) -> IndirectReference:
        for _ in range(MAX_DEPTH):
            parent = self._file.resolve_dictionary(widget).get("Parent")
            if not isinstance(parent, IndirectReference):
                return widget
            widget = parent
        raise _too_deep()

    def _find_widgets(self) -> dict[IndirectReference, int]:
        """Return the page number of each widget that is an indirect object, as all but damaged files have."""
        found: dict[IndirectReference, int] = {}
        for number, page in enumerate(self._file.iterate_pages(), 1):
            for each in self._take_list(page.get("Annots")):
                if isinstance(each, IndirectReference) and self._is_widget(each):
                    found.setdefault(each, number)
        return found

    def _is_widget(self, value: PdfObject) -> bool:
        return self._file.resolve_dictionary(value).get("Subtype") == "Widget"

    def _walk(self, root: _Node) -> Iterator[_Terminal]:
        """Yield the terminal fields below a node in their order; a node that comes again is skipped."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node.value, IndirectReference):
                if node.value in self._seen:
                    continue
                self._seen.add(node.value)
            if node.depth > MAX_DEPTH:
                raise _too_deep()
            own = self._file.resolve_dictionary(node.value)
            if not own:  # a free object, as in files with deleted fields
                continue
            entries = {**(node.inherited or {}), **own}
            name = self._join_name(node.name, own.get("T"))
            kids = self._take_list(own.get("Kids"))
            below, widgets = self._split_kids(kids)
            self._seen.update(each for each in widgets if isinstance(each, IndirectReference))
            if not below or widgets:
                yield _Terminal(name, entries, widgets or [node.value])
            inherited: dict[str, PdfObject] = {
                key: entries[key] for key in _INHERITED if key in entries
            }
            stack.extend(_Node(each, name, node.depth + 1, inherited) for each in reversed(below))

    def _split_kids(self, kids: Sequence[PdfObject]) -> tuple[list[PdfObject], list[PdfObject]]:
        """Return the kids that are fields of their own, and those that only show their parent."""
        fields: list[PdfObject] = []
        widgets: list[PdfObject] = []
        for kid in kids:
            entries = self._file.resolve_dictionary(kid)
            (fields if "T" in entries or "Kids" in entries else widgets).append(kid)
        return fields, widgets

    def _join_name(self, parent: str, own: PdfObject) -> str:
        partial = self._read_text(own)
        name = f"{parent}.{partial}" if parent and partial else partial or parent
        if len(name) > MAX_NAME:
            raise UnusablePdfError(
                f"A field of the form has a name of more than {MAX_NAME:,} characters",
                advice="Shorten the name of the field and of its groups.",
            )
        return name

    def _take_list(self, value: PdfObject) -> list[PdfObject]:
        items = self._file.resolve_list(value)
        self._nodes += len(items)
        if self._nodes > MAX_NODES:
            raise _too_many(f"{MAX_NODES:,} form fields, options and annotations")
        return items

    def _read_field(self, terminal: _Terminal, pages: Mapping[IndirectReference, int]) -> AcroField:
        entries = terminal.entries
        flags = self._read_integer(entries.get("Ff")) or 0
        kind = _find_type(self._file.resolve(entries.get("FT")), flags)
        numbers = [pages[each] for each in terminal.widgets if each in pages]
        most = self._read_integer(entries.get("MaxLen"))
        is_filled = bool(self._file.resolve_dictionary(entries.get("V")))
        return AcroField(
            name=terminal.name,
            type=kind,
            value=self._read_value(terminal, kind, is_multiple=bool(flags & _MULTIPLE)),
            options=self._read_options(terminal, kind),
            label=self._read_text(entries.get("TU")) or "",
            page=min(numbers, default=None),
            max_length=most if kind is AcroFieldType.TEXT else None,
            is_required=bool(flags & _REQUIRED),
            is_read_only=bool(flags & _READ_ONLY),
            is_signed=is_filled if kind is AcroFieldType.SIGNATURE else None,
        )

    def _read_value(
        self, terminal: _Terminal, kind: AcroFieldType, *, is_multiple: bool
    ) -> str | tuple[str, ...] | None:
        value = self._file.resolve(terminal.entries.get("V"))
        match kind:
            case AcroFieldType.TEXT:
                return self._read_text(value)
            case AcroFieldType.CHECKBOX | AcroFieldType.RADIO:
                return self._read_state(terminal, value)
            case AcroFieldType.SELECT | AcroFieldType.LIST:
                chosen = self._read_chosen(value)
                return chosen if is_multiple else next(iter(chosen), None)
            case AcroFieldType.BUTTON | AcroFieldType.SIGNATURE | AcroFieldType.UNKNOWN:
                return None

    def _read_chosen(self, value: PdfObject) -> tuple[str, ...]:
        items = self._take_list(value) if isinstance(value, list) else [value]
        texts = [self._read_text(each) for each in items]
        return tuple(each for each in texts if each is not None)

    def _read_state(self, terminal: _Terminal, value: PdfObject) -> str | None:
        """Return the value of the state in which a button is, None if it is off."""
        own = [self._file.resolve_dictionary(each).get("AS") for each in terminal.widgets]
        states = [value] if value is not None else [self._file.resolve(each) for each in own]
        on = next((each for each in states if each not in (None, "Off", b"Off")), None)
        if on is None:
            return None
        state = self._read_text(on)
        exported = self._read_exported_values(terminal)
        shown = zip(map(self._find_state, terminal.widgets), exported, strict=False)
        return next((value for name, value in shown if name == on), state)

    def _find_state(self, widget: PdfObject) -> Name | None:
        """Return the name of the state in which the widget of a button is on."""
        entries = self._file.resolve_dictionary(widget)
        appearances = self._file.resolve_dictionary(entries.get("AP"))
        normal = self._file.resolve(appearances.get("N"))
        names = normal if isinstance(normal, dict) else {}
        return next((Name(each) for each in names if each != "Off"), None)

    def _read_exported_values(self, terminal: _Terminal) -> list[str]:
        """Return the values of a button's widgets where the names of their states are only numbers."""
        items = self._take_list(terminal.entries.get("Opt"))
        return [self._read_text(each) or "" for each in items]

    def _read_options(
        self, terminal: _Terminal, kind: AcroFieldType
    ) -> tuple[AcroFieldOption, ...]:
        match kind:
            case AcroFieldType.SELECT | AcroFieldType.LIST:
                items = self._take_list(terminal.entries.get("Opt"))
                return tuple(self._read_option(each) for each in items)
            case AcroFieldType.CHECKBOX | AcroFieldType.RADIO:
                values = self._read_exported_values(terminal)
                states = [self._find_state(each) for each in terminal.widgets]
                named = [self._read_text(each) for each in states[len(values) :]]
                found = [*values[: len(states)], *(each for each in named if each is not None)]
                return tuple(AcroFieldOption(each, each) for each in dict.fromkeys(found))
            case _:
                return ()

    def _read_option(self, item: PdfObject) -> AcroFieldOption:
        item = self._file.resolve(item)
        pair = item[:2] if isinstance(item, list) else [item]
        texts = [self._read_text(each) or "" for each in pair] or [""]
        return AcroFieldOption(texts[0], texts[-1])

    def _read_text(self, value: PdfObject) -> str | None:
        """Return a text string, a name, or a stream of text, which long values may be."""
        value = self._file.resolve(value)
        if isinstance(value, Stream):
            value = self._file.decode(value).data
        if isinstance(value, Name):
            value = _encode_name(value)
        return self._texts.decode(value) if isinstance(value, bytes) else None

    def _read_integer(self, value: PdfObject) -> int | None:
        value = self._file.resolve(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def _find_type(name: PdfObject, flags: int) -> AcroFieldType:
    match name:
        case "Tx":
            return AcroFieldType.TEXT
        case "Btn" if flags & _PUSH_BUTTON:
            return AcroFieldType.BUTTON
        case "Btn":
            return AcroFieldType.RADIO if flags & _RADIO else AcroFieldType.CHECKBOX
        case "Ch":
            return AcroFieldType.SELECT if flags & _DROP_DOWN else AcroFieldType.LIST
        case "Sig":
            return AcroFieldType.SIGNATURE
        case _:
            return AcroFieldType.UNKNOWN


def _encode_name(name: Name) -> bytes:
    """Return a name as a text string: its bytes are UTF-8 by 7.3.5, or else of an old encoding."""
    data = name.encode("latin-1")
    try:
        return b"\xef\xbb\xbf" + data.decode("utf-8").encode()
    except UnicodeDecodeError:
        return data


def _too_many(what: str) -> UnusablePdfError:
    return UnusablePdfError(f"The PDF has more than {what}", advice="Split the form.")


def _too_deep() -> UnusablePdfError:
    return damaged(f"its fields are nested more than {MAX_DEPTH} deep")


# --- text strings -----------------------------------------------------------------------------

_MARKS: Final = (
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),  # not in the standard, but viewers read it
    (codecs.BOM_UTF8, "utf-8"),
)
_LANGUAGE: Final = re.compile("\x1b[^\x1b]*\x1b")
_LINE_END: Final = re.compile(r"\r\n?")


class TextBudget:
    """Decodes texts of one file up to a number of characters in total.

    The same object may be the value of every field, so the size of the file is no limit.
    """

    def __init__(self, characters: int) -> None:
        self._limit = self._remaining = characters

    def decode(self, data: bytes) -> str:
        """Return a text string; line ends become line feeds, and invalid characters U+FFFD.

        Raises:
            UnusablePdfError: more characters than the budget.
        """
        # Before decoding: no encoding has more than four bytes a character.
        self._take(len(data) // 4)
        text = _decode(data)
        self._take(len(text) - len(data) // 4)
        return text

    def _take(self, characters: int) -> None:
        self._remaining -= characters
        if self._remaining < 0:
            raise UnusablePdfError(
                f"The texts of the form have more than {self._limit:,} characters",
                advice="Send a form with shorter values.",
            )


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _LANGUAGE.sub("", data[len(mark) :].decode(encoding, "replace"))
            break
    else:
        text = str(pikepdf.String(data))
    return _LINE_END.sub("\n", text)
