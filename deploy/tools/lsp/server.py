"""The language server: completion, hover, diagnostics and formatting for editors with LSP support."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from shared import clock
from workers.engine.assist import CompletionKind, complete, hover
from workers.engine.diagnostics import Diagnostic, Severity, SourceLocation
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import RenderOptions
from workers.engine.syntax.formatter import FormattingError, format_template

PAUSE_SECONDS: Final = 0.2  # pause after the last change before a document is checked
MAX_CHARACTERS: Final = 2_000_000  # longer documents are not checked: each check would take seconds
_KINDS: Final = {
    CompletionKind.ELEMENT: lsp.CompletionItemKind.Class,
    CompletionKind.ATTRIBUTE: lsp.CompletionItemKind.Property,
    CompletionKind.VALUE: lsp.CompletionItemKind.EnumMember,
    CompletionKind.FILTER: lsp.CompletionItemKind.Function,
}
_SEVERITIES: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A finding as an LSP diagnostic, and the edits of its correction with their title, if it has one."""

    diagnostic: lsp.Diagnostic
    title: str = ""
    edits: tuple[lsp.TextEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class _CheckedText:
    """The findings of a text."""

    source: str
    found: tuple[Checked, ...]


def make_server() -> LanguageServer:
    """Return the server; its `start_io` runs it on standard input and output."""
    server = LanguageServer("pressroom", version("pressroom"))
    features = _LanguageFeatures(server)
    triggers = lsp.CompletionOptions(trigger_characters=["<", "/", " ", '"', "|"])
    # Each as a `partial`, as pygls sets attributes on its handlers, and methods have none.
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(partial(features.did_open))
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(partial(features.did_change))
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(partial(features.did_close))
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, triggers)(partial(features.complete))
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(partial(features.hover))
    server.feature(lsp.TEXT_DOCUMENT_FORMATTING)(partial(features.format))
    fixes = lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, fixes)(partial(features.fix))
    return server


class _LanguageFeatures:
    """Request handlers of the server, and the delayed check of changed documents."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._checked: dict[str, _CheckedText] = {}

    async def did_open(self, parameters: lsp.DidOpenTextDocumentParams) -> None:
        self._schedule_check(parameters.text_document.uri)

    async def did_change(self, parameters: lsp.DidChangeTextDocumentParams) -> None:
        self._schedule_check(parameters.text_document.uri)

    async def did_close(self, parameters: lsp.DidCloseTextDocumentParams) -> None:
        uri = parameters.text_document.uri
        if uri in self._checks:
            self._checks.pop(uri).cancel()
        self._checked.pop(uri, None)
        self._publish(uri, [])

    def complete(self, parameters: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document = self._find(parameters.text_document.uri)
        found = complete(document.source, document.offset_at_position(parameters.position))
        return [
            lsp.CompletionItem(
                each.label,
                sort_text=f"{index:04}",  # in their order: attributes of the element before styles
                kind=_KINDS[each.kind],
                insert_text=each.insert_text,
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, each.documentation),
            )
            for index, each in enumerate(found)
        ]

    def hover(self, parameters: lsp.HoverParams) -> lsp.Hover | None:
        document = self._find(parameters.text_document.uri)
        found = hover(document.source, document.offset_at_position(parameters.position))
        if found is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text))

    def format(self, parameters: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return format_document(self._find(parameters.text_document.uri))

    def fix(self, parameters: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Return the corrections of the findings in a range; none if the text has changed since its check."""
        uri = parameters.text_document.uri
        checked = self._checked.get(uri)
        if checked is None or checked.source != self._find(uri).source:
            return []
        return [
            lsp.CodeAction(
                each.title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[each.diagnostic],
                is_preferred=True,
                edit=lsp.WorkspaceEdit({uri: list(each.edits)}),
            )
            for each in checked.found
            if each.edits and _touch(each.diagnostic.range, parameters.range)
        ]

    def _find(self, uri: str) -> TextDocument:
        return self._server.workspace.get_text_document(uri)

    def _schedule_check(self, uri: str) -> None:
        """Check a document once it has not changed for `PAUSE_SECONDS`."""
        if uri in self._checks:
            self._checks[uri].cancel()
        self._checks[uri] = asyncio.ensure_future(self._check(uri))

    async def _check(self, uri: str) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        document = self._find(uri)
        found = check_document(document)
        self._checked[uri] = _CheckedText(document.source, tuple(found))
        self._publish(uri, [each.diagnostic for each in found])
        self._checks.pop(uri, None)

    def _publish(self, uri: str, found: list[lsp.Diagnostic]) -> None:
        parameters = lsp.PublishDiagnosticsParams(uri, found)
        self._server.text_document_publish_diagnostics(parameters)


def check_document(document: TextDocument) -> list[Checked]:
    """Return the findings of a template that need no layout."""
    source = document.source
    if len(source) > MAX_CHARACTERS:
        return []
    text = source.encode("utf-8", "replace")
    linked = LinkedFiles(Path(document.path).parent)
    found = validate(
        prepare_template(text, linked), None, options=RenderOptions(clock.now(), with_sample=True)
    )
    return [_check(diagnostic, document) for diagnostic in found]


def format_document(document: TextDocument) -> list[lsp.TextEdit]:
    """Return the edit that formats a template; empty where it is formatted already or invalid."""
    source = document.source
    try:
        written = format_template(source.encode("utf-8", "replace")).decode()
    except FormattingError:
        return []  # its errors are among the diagnostics
    if written == source:
        return []
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines), 0))
    return [lsp.TextEdit(whole, written)]


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


def _check(diagnostic: Diagnostic, document: TextDocument) -> Checked:
    place = diagnostic.location
    if place is None:
        return Checked(_to_lsp_diagnostic(diagnostic, document, (0, 0)))
    begin, end = _span_of(place.in_own_text, document)
    element = document.source[begin:end]
    # Only the text itself can be edited, not a template that it links to.
    correction = (
        find_correction(diagnostic.message, element, place.tag_name) if not place.linkage else None
    )
    if correction is None:
        marked = (begin, begin + _start_tag_length(element))
        return Checked(_to_lsp_diagnostic(diagnostic, document, marked))
    written, meant = correction.written, correction.meant
    places = [(begin + offset, begin + offset + len(written)) for offset in correction.offsets]
    edits = [lsp.TextEdit(_range(each, document), meant) for each in places]
    shown = _to_lsp_diagnostic(diagnostic, document, places[0])
    return Checked(shown, f"Change to {meant}", tuple(edits))


def _span_of(place: SourceLocation, document: TextDocument) -> tuple[int, int]:
    span = place.span
    begin = _offset((span.line_start, span.column_start), document)
    return begin, _offset((span.line_end, span.column_end), document)


def _start_tag_length(element: str) -> int:
    """Return what is marked of an element whose finding names no word in it."""
    end = element.find(">")
    return len(element) if end < 0 else end + 1


def _offset(at: tuple[int, int], document: TextDocument) -> int:
    """Return the offset of a position of the engine in the text."""
    line, column = at
    return sum(len(each) for each in document.lines[: line - 1]) + column - 1


def _position_at(offset: int, document: TextDocument) -> lsp.Position:
    before = document.source[:offset]
    line = before.count("\n")
    return _position((line + 1, offset - (before.rfind("\n") + 1) + 1), document)


def _to_lsp_diagnostic(
    diagnostic: Diagnostic, document: TextDocument, marked: tuple[int, int]
) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        _range(marked, document),
        diagnostic.located_message,
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source="pressroom",
    )


def _range(marked: tuple[int, int], document: TextDocument) -> lsp.Range:
    return lsp.Range(*(_position_at(each, document) for each in marked))


def _position(at: tuple[int, int], document: TextDocument) -> lsp.Position:
    """Return a position of the engine, whose columns are characters, in the units of the client."""
    line, column = at
    counted = lsp.Position(line - 1, column - 1)
    return document.position_codec.position_to_client_units(document.lines, counted)


# A message ends with the suggestion; the name it replaces is the last quoted one before it.
_SUGGESTION: Final = re.compile(r'["`]([^"`]{1,60})["`][^"`]*; did you mean "([^"]+)"\?')


@dataclass(frozen=True, slots=True)
class Correction:
    """A misspelled name, the known name that is meant, and its offsets in the text of its element."""

    written: str
    meant: str
    offsets: tuple[int, ...]


def find_correction(message: str, element: str, tag_name: str) -> Correction | None:
    """Return the correction that a finding suggests; None if it has none, or the name is not in the element."""
    found = _SUGGESTION.search(message)
    if found is None:
        return None
    written, meant = found[1], found[2]
    offsets = _find_offsets(element, tag_name, written)
    return Correction(written, meant, offsets) if offsets else None


def _find_offsets(element: str, tag_name: str, name: str) -> tuple[int, ...]:
    """Return the places of both tags, or that of an attribute or a word."""
    if name == tag_name:
        end = element.rfind(f"</{tag_name}")
        return (1,) if end < 0 else (1, end + 2)
    word = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", element)
    return () if word is None else (word.start(),)
