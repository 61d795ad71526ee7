"""The pipeline of a document: syntax, merge, tree, layout, paint, finish."""

from __future__ import annotations

import gc
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from workers.engine import ports
from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.finish.encryption import check_passwords, encrypt
from workers.engine.finish.metadata import build_pdf_metadata
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.display import LaidOutDocument
from workers.engine.layout.document_fonts import find_fonts
from workers.engine.layout.elements.barcodes import check_barcodes, encode_barcode
from workers.engine.layout.output_intents import load_output_intent
from workers.engine.layout.pages.paper import check_marks
from workers.engine.layout.passes import lay_out
from workers.engine.layout.pictures import check_pictures
from workers.engine.merge.composition import compose_template
from workers.engine.merge.payload import MergeResult, PreparedSource, merge_payload, prepare_source
from workers.engine.paint.writer import write_pages
from workers.engine.syntax.checks import check_usage
from workers.engine.syntax.nodes import SyntaxTree
from workers.engine.tree.accessibility import check_accessibility
from workers.engine.tree.build import CompiledTemplate
from workers.engine.tree.build_state import CheckBarcode
from workers.engine.tree.document import Document
from workers.engine.tree.expressions.members import check_member_uses
from workers.engine.tree.nodes import Barcode

# 200 levels of elements need up to 4,000 nested calls; Python's default limit is 1,000. Since Python
# 3.11 calls between Python functions do not use the C stack.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))


_MAX_CACHED_RESULTS: Final = 1_000  # bar codes cached by one validation


class PreparedTemplate:
    """A parsed, checked and compiled template, reusable for any number of renders."""

    __slots__ = ("compiled", "moving_links", "source")

    def __init__(self, tree: SyntaxTree) -> None:
        self.source, self.compiled = _compile_source(prepare_source(tree))
        self.moving_links = tree.moving_links


def prepare_template(
    source: bytes, linked: Mapping[str, bytes] = MappingProxyType({})
) -> PreparedTemplate:
    """Parse and compile a template. Each render or validation reports its errors.

    `linked` has the texts of the templates that it extends or imports from, directly or not, by reference.
    """
    return PreparedTemplate(compose_template(source, linked))


@contextmanager
def rendering() -> Iterator[None]:
    """Disable cyclic garbage collection during a render, and report elements nested too deeply.

    A render creates up to millions of objects and hardly any cycles. Collection took a quarter of the
    time of 5,000 rows and a third of that of 50,000, without reducing peak memory.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    except RecursionError:
        raise AuthoringError((TOO_DEEP,)) from None
    finally:
        if was_enabled:
            gc.enable()


@rendering()
def render(
    template: PreparedTemplate | None,
    payload: ports.Payload | None,
    *,
    options: ports.RenderOptions,
    resources: ports.Resources | None = None,
    observer: ports.StageObserver = ports.ignore_stage,
) -> ports.Rendered:
    """Render a document: a complete XML payload, or a template with or without a payload.

    Raises:
        AuthoringError: the document, its data or its layout has errors.
    """
    findings = Findings()
    observer(ports.Stage.MERGE)
    document, merged = build_document(template, payload, options=options, findings=findings)
    _check_output(document, options)
    metadata = ports.Metadata(document.info, options, merged.payload_sha256)
    del merged  # frees the data, which are now in the document
    security = None if options.is_draft else document.security  # a draft is never encrypted
    if security is not None:
        check_passwords(security, findings)
    observer(ports.Stage.LAYOUT)
    resources = resources or ports.Resources()
    intent = load_output_intent(document, resources, findings)
    findings.raise_errors()
    laid_out = lay_out(document, resources=resources, findings=findings)
    description = build_pdf_metadata(
        metadata, profiles=document.profiles, attachments=document.attachments, output_intent=intent
    )
    finished = write_pdf(laid_out, description, security, findings=findings, observer=observer)
    if document.signature is not None and options.output is ports.RenderOutput.PDF:
        finished = _sign(finished, document.signature, options.signer, findings)
    if options.output is ports.RenderOutput.INVOICE:
        assert document.einvoice is not None, "checked before layout"
        finished = document.einvoice.write_alone(finished, document.info.filename)
    return ports.Rendered(
        finished,
        laid_out.page_count,
        document.info.filename,
        findings.warnings,
        findings.left_out(Severity.WARNING),
        is_archive=document.profiles.archive is not None,
    )


def _sign(
    pdf: bytes, request: ports.SignatureRequest, signer: ports.Signer | None, findings: Findings
) -> bytes:
    if signer is None:
        text = (
            "The file is not signed, as there is no signer here; sign the finished file by "
            "`pressroom sign`"
        )
        findings.warn("unsigned", text, request.location)
        return pdf
    try:
        return signer.sign(pdf, request)
    except ports.SigningRefusedError as error:
        findings.error("signature", str(error), request.location)
        raise findings.to_error() from error


def _check_output(document: Document, options: ports.RenderOptions) -> None:
    if options.output is ports.RenderOutput.PDF:
        return
    if document.einvoice is None:
        text = "The document has no `einvoice` to answer as XML; add one, or ask for the PDF"
        raise AuthoringError((Diagnostic(Severity.ERROR, "no-einvoice", text),))
    if options.is_draft:
        text = "A draft has no electronic invoice, which could not carry the DRAFT mark"
        raise AuthoringError((Diagnostic(Severity.ERROR, "einvoice-draft", text),))


def write_pdf(
    laid_out: LaidOutDocument,
    description: ports.PdfMetadata,
    security: ports.Security | None = None,
    *,
    findings: Findings,
    observer: ports.StageObserver = ports.ignore_stage,
) -> bytes:
    """Paint a document, and encrypt it if it has `security`, whose passwords are checked.

    Raises:
        AuthoringError: content does not fit, which is found while pages are drawn.
    """
    pdf = write_pages(laid_out, description)
    findings.raise_errors()
    observer(ports.Stage.FINISH)
    if security is None:
        return pdf
    return encrypt(pdf, security, fallback_owner_password=secrets.token_urlsafe(32))


def validate(
    template: PreparedTemplate | None,
    payload: ports.Payload | None,
    *,
    options: ports.RenderOptions,
    resources: ports.Resources | None = None,
) -> Findings:
    """Return all findings that need no layout.

    Remote images are not fetched; without `resources`, stored images are not checked.
    """
    findings = Findings()
    try:
        _validate(template, payload, options, resources, findings)
    except RecursionError:
        findings.add(TOO_DEEP)
    return findings


def _validate(
    template: PreparedTemplate | None,
    payload: ports.Payload | None,
    options: ports.RenderOptions,
    resources: ports.Resources | None,
    findings: Findings,
) -> None:
    merged = merge_payload(
        template.source if template else None, payload, findings, with_sample=options.has_sample
    )
    if template is not None and options.template_version is None:
        findings.add_all(template.moving_links)
    if merged is None:
        return
    compiled = _compiled_template_of(template, merged)
    if compiled is None:
        return
    findings.extend(compiled.findings)
    root = merged.source.expanded
    if root is not None:
        check_usage(root, findings)
        # What a payload replaced may be where the template uses its messages.
        if template is None or merged.source is template.source:
            compiled.messages.warn_unused(findings)
        if not merged.is_data_valid:  # otherwise the built bar codes are checked
            check_barcodes(root, findings)
    check_member_uses(compiled.member_uses, merged.data, findings)
    if merged.is_data_valid:
        _build_for_validation(compiled, merged, options, resources, findings)


def build_document(
    template: PreparedTemplate | None,
    payload: ports.Payload | None,
    *,
    options: ports.RenderOptions,
    findings: Findings,
) -> tuple[Document, MergeResult]:
    """Run the stages up to the document tree.

    Raises:
        AuthoringError: the template, the payload or the data have errors.
    """
    merged = merge_payload(
        template.source if template else None, payload, findings, with_sample=options.has_sample
    )
    compiled = None if merged is None else _compiled_template_of(template, merged)
    if compiled is not None:
        findings.extend(compiled.findings)
    findings.raise_errors()
    assert merged is not None, "a missing tree has an error"
    assert compiled is not None
    check_member_uses(compiled.member_uses, merged.data, findings)
    document = compiled.build(merged.data, options, findings)
    check_accessibility(document, findings, has_contrast=document.requires_tags)
    findings.raise_errors()
    return document, merged


def lay_out_document(
    document: Document, *, resources: ports.Resources | None, findings: Findings
) -> LaidOutDocument:
    """Lay out a document and draw all its pages.

    Raises:
        AuthoringError: content does not fit, or a resource is unavailable.
    """
    laid_out = lay_out(document, resources=resources or ports.Resources(), findings=findings)
    drawn = laid_out.draw_all()
    findings.raise_errors()
    return drawn


def _compile_source(source: PreparedSource) -> tuple[PreparedSource, CompiledTemplate | None]:
    """Return a source and its compiled template, or one without a tree if compilation fails."""
    try:
        return source, _compile(source)
    except RecursionError:
        findings = Findings()
        findings.extend(source.findings)
        findings.add(TOO_DEEP)
        return replace(source, root=None, expanded=None, findings=findings), None


# Flows inserted in flows can exceed the levels that the parser allows for one document.
TOO_DEEP: Final = Diagnostic(
    Severity.ERROR, "too-deep", "Elements are nested too deeply, including inserted flows"
)


def _compile(source: PreparedSource) -> CompiledTemplate | None:
    root = source.expanded
    return None if root is None else CompiledTemplate(root, source.declarations)


def _compiled_template_of(
    template: PreparedTemplate | None, merged: MergeResult
) -> CompiledTemplate | None:
    """Return the compiled template; compile again if the payload changed the tree."""
    if template is not None and merged.source is template.source:
        return template.compiled
    return _compile(merged.source)


def _build_for_validation(
    compiled: CompiledTemplate,
    merged: MergeResult,
    options: ports.RenderOptions,
    resources: ports.Resources | None,
    findings: Findings,
) -> None:
    try:
        document = compiled.build(merged.data, options, findings, validator=_make_validator())
        check_accessibility(document, findings, has_contrast=True)
        check_pictures(document, resources=resources, findings=findings)
        if resources is not None:
            find_fonts(document.fonts, resources, findings)
            load_output_intent(document, resources, findings)
        if document.security is not None:
            check_passwords(document.security, findings)
        if not findings.error_count:  # a mark whose place is wrong has none
            check_marks(document)
    except AuthoringError as error:
        findings.add_all(error.diagnostics)


def _make_validator() -> CheckBarcode:
    """Return a check of bar codes without layout, of those that are alike one."""

    @lru_cache(maxsize=_MAX_CACHED_RESULTS)
    def find_problem(*spec: Any) -> tuple[str, str] | None:
        encoded = encode_barcode(BarcodeSpec(*spec))
        return (encoded.code, encoded.text) if isinstance(encoded, ContentProblem) else None

    def check(barcode: Barcode) -> tuple[str, str] | None:
        is_text = isinstance(barcode.value, str)
        return (find_problem if is_text else find_problem.__wrapped__)(*barcode.key)

    return check
