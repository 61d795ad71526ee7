"""The path of a document through the stages: syntax, merge, tree, layout, paint, finish."""

from __future__ import annotations

import gc
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Origin, Severity
from workers.engine.finish.finisher import FinishOptions, finish
from workers.engine.finish.metadata import describe
from workers.engine.finish.security import check_passwords
from workers.engine.layout.declared_fonts import find_fonts
from workers.engine.layout.display import LaidOut
from workers.engine.layout.elements.barcodes import encode_barcode, judge_codes
from workers.engine.layout.pages import lay_out
from workers.engine.layout.picture_checks import check_pictures
from workers.engine.layout.problems import Problem
from workers.engine.merge.payload import Merged, PreparedSource, merge_payload, prepare
from workers.engine.paint.press import print_pages
from workers.engine.ports import (
    Metadata,
    NoImages,
    NoWatch,
    Payload,
    Rendered,
    RenderOptions,
    Resources,
    Stage,
    StageWatch,
)
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.usage import check_usage
from workers.engine.tree.build import Blueprint, compile_blueprint
from workers.engine.tree.members import check_member_uses
from workers.engine.tree.nodes import Barcode, Document

# The 200 levels an element may be deep take up to 4,000 calls on top of each other; 1,000 is
# Python's own limit. Since Python 3.11 such calls do not use the stack of the machine.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))


_MAX_KNOWN: Final = 1_000  # values of bar codes that one validation remembers


class PreparedTemplate:
    """A template's text, parsed, checked and compiled once; safe to reuse for any number of renders."""

    __slots__ = ("blueprint", "source")

    def __init__(self, source: PreparedSource) -> None:
        self.source, self.blueprint = _compile_or_tell(source)


def prepare_template(source: bytes) -> PreparedTemplate:
    """Parse and compile a template. What is wrong with it is told by each render or validation."""
    return PreparedTemplate(prepare(parse_document(source, origin=Origin.TEMPLATE)))


def render(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    resources: Resources | None = None,
    watch: StageWatch | None = None,
) -> Rendered:
    """Render a document: a complete XML payload, or a template with or without a payload.

    Raises:
        AuthoringError: the document, its data or its layout has errors.
    """
    with collector_paused():
        try:
            return _render(template, payload, options, resources or NoImages(), watch or NoWatch())
        except RecursionError:
            raise AuthoringError((_TOO_DEEP,)) from None


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's cycle collector from searching a document while it is made.

    A render makes up to millions of values and hardly a cycle among them. Searching them again and
    again took a quarter of the time of 5,000 rows, a third of 50,000, and found nothing: the most
    memory held was the same without.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _render(
    template: PreparedTemplate | None,
    payload: Payload | None,
    options: RenderOptions,
    resources: Resources,
    watch: StageWatch,
) -> Rendered:
    findings = Findings()
    watch.enter(Stage.MERGE)
    document, merged = build_document(template, payload, options=options, findings=findings)
    wanted = FinishOptions(
        metadata=_describe(document, merged, options),
        security=document.security,
        spare_password=secrets.token_urlsafe(32) if document.security else "",
        profile=document.profile,
        attachments=document.attachments,
    )
    del merged  # the data are in the document now; in a long one their memory is needed
    watch.enter(Stage.LAYOUT)
    laid_out = lay_out(document, resources=resources, findings=findings)
    finished = print_finished(laid_out, wanted, findings=findings, watch=watch)
    return Rendered(
        finished,
        len(laid_out.pages),
        document.info.filename,
        findings.warnings,
        findings.left_out(Severity.WARNING),
    )


def print_finished(
    laid_out: LaidOut, options: FinishOptions, *, findings: Findings, watch: StageWatch
) -> bytes:
    """Print and finish a document. One that needs metadata alone is written once, not twice.

    Raises:
        AuthoringError: something does not fit, which is told as the pages are drawn.
    """
    pdf = print_pages(laid_out, describe(options.metadata) if options.is_plain else None)
    findings.raise_errors()
    watch.enter(Stage.FINISH)
    return pdf if options.is_plain else finish(pdf, options)


def validate(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    resources: Resources | None = None,
) -> Findings:
    """Find every problem that can be found without layout (interface.md, POST /v2/validate).

    Images at addresses elsewhere are not fetched; without `resources`, stored ones are not looked for.
    """
    findings = Findings()
    try:
        _validate(template, payload, options, resources, findings)
    except RecursionError:
        findings.add(_TOO_DEEP)
    return findings


def _validate(
    template: PreparedTemplate | None,
    payload: Payload | None,
    options: RenderOptions,
    resources: Resources | None,
    findings: Findings,
) -> None:
    merged = merge_payload(template.source if template else None, payload, findings)
    if merged is None:
        return
    blueprint = _blueprint_of(template, merged)
    if blueprint is None:
        return
    findings.extend(blueprint.findings)
    root = merged.source.root
    if root is not None:
        check_usage(root, findings)
        if not merged.is_data_sound:  # else those that are built are encoded
            judge_codes(root, findings)
    check_member_uses(blueprint.member_uses, merged.data, findings)
    if merged.is_data_sound:
        _try_build(blueprint, merged, options, resources, findings)


def build_document(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    findings: Findings,
) -> tuple[Document, Merged]:
    """Go as far as the document of the tree stage.

    Raises:
        AuthoringError: the text or the data have errors.
    """
    merged = merge_payload(template.source if template else None, payload, findings)
    blueprint = None if merged is None else _blueprint_of(template, merged)
    if blueprint is not None:
        findings.extend(blueprint.findings)
    findings.raise_errors()
    assert merged is not None, "without a tree there is an error that says why"
    assert blueprint is not None
    check_member_uses(blueprint.member_uses, merged.data, findings)
    document = blueprint.build(merged.data, options, findings)
    findings.raise_errors()
    return document, merged


def lay_out_document(
    document: Document, *, resources: Resources | None, findings: Findings
) -> LaidOut:
    """Go on to pages, all of them drawn.

    Raises:
        AuthoringError: something does not fit, or cannot be had.
    """
    laid_out = lay_out(document, resources=resources or NoImages(), findings=findings)
    drawn = laid_out.drawn()
    findings.raise_errors()
    return drawn


def _compile_or_tell(source: PreparedSource) -> tuple[PreparedSource, Blueprint | None]:
    """Give a source with its blueprint, or one without a tree whose findings say why it has none."""
    try:
        return source, _compile(source)
    except RecursionError:
        findings = Findings()
        findings.extend(source.findings)
        findings.add(_TOO_DEEP)
        return replace(source, root=None, findings=findings), None


# Flows that are inserted in flows add up to more levels than one document may have.
_TOO_DEEP: Final = Diagnostic(
    Severity.ERROR, "too-deep", "Elements are nested too deeply, with the flows that are inserted"
)


def _compile(source: PreparedSource) -> Blueprint | None:
    return None if source.root is None else compile_blueprint(source.root, source.declarations)


def _blueprint_of(template: PreparedTemplate | None, merged: Merged) -> Blueprint | None:
    """Give the template's blueprint where the payload left its tree as it is, else compile anew."""
    if template is not None and merged.source is template.source:
        return template.blueprint
    return _compile(merged.source)


def _try_build(
    blueprint: Blueprint,
    merged: Merged,
    options: RenderOptions,
    resources: Resources | None,
    findings: Findings,
) -> None:
    try:
        document = blueprint.build(merged.data, options, findings, trial=_Trial())
        check_pictures(document, resources=resources, findings=findings)
        if resources is not None:
            find_fonts(document.fonts, resources, findings)
        if document.security is not None:
            check_passwords(document.security)
    except AuthoringError as error:
        for diagnostic in error.diagnostics:
            findings.add(diagnostic)


class _Trial:
    """Encodes the bar codes of a document that will not be laid out, each value once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Problem | None] = {}

    def check_barcode(self, barcode: Barcode) -> Problem | None:
        """Return why a bar code cannot be drawn, None where it can."""
        value = barcode.value
        if not isinstance(value, str):
            return _problem_of(barcode)
        key = (barcode.symbology, barcode.level, value)
        if key not in self._known:
            if len(self._known) > _MAX_KNOWN:
                self._known.clear()
            self._known[key] = _problem_of(barcode)
        return self._known[key]


def _problem_of(barcode: Barcode) -> Problem | None:
    encoded = encode_barcode(barcode)
    return encoded if isinstance(encoded, Problem) else None


def _describe(document: Document, merged: Merged, options: RenderOptions) -> Metadata:
    info = document.info
    return Metadata(
        title=info.title,
        author=info.author,
        subject=info.subject,
        keywords=info.keywords,
        lang=info.lang,
        is_draft=options.is_draft,
        template_id=options.template_id,
        template_version=options.template_version,
        template_sha256=options.template_sha256,
        payload_sha256=merged.payload_sha256,
    )
