"""The electronic invoice of a document: checked, compared with its pages, and written."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from workers.engine import einvoices
from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.ports import UNDATED, ArchiveProfile, Attachment, ConformanceProfiles
from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.context import CompileContext

_MEDIA_TYPE: Final = "text/xml"
_DESCRIPTION: Final = "Electronic invoice"
_SHORT: Final = 4  # characters; the codes that rules compare are no longer
_COMPARED: Final = frozenset(
    ("vatRate", "rate", "description")
)  # with lists of rates and of kinds of files
_MOST_SOUND: Final = 1_000
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class StatedInvoice:
    """The invoice that a document states: its record, profile and syntax, and the element."""

    record: einvoices.Record
    profile: einvoices.InvoiceProfile
    syntax: str
    location: SourceLocation

    def make_attachment(self) -> Attachment:
        """Return its XML as a file of the PDF."""
        is_cii = self.syntax == "cii"
        return Attachment(
            self.profile.file_name if is_cii else einvoices.UBL_FILE_NAME,
            einvoices.write_invoice(self.record, self.profile, self.syntax),
            _MEDIA_TYPE,
            self.record.get("issueDate") or UNDATED,
            "data" if self.profile.is_partial else "alternative",
            _DESCRIPTION,
            self.profile.conformance if is_cii else "",  # UBL has no level of Factur-X
        )

    def write_alone(self, pdf: bytes, filename: str | None) -> bytes:
        """Return its XML; in UBL it contains the PDF under the file name."""
        if self.syntax == "cii":
            return einvoices.write_invoice(self.record, self.profile, self.syntax)
        document = {
            "id": self.record.get("number", ""),
            "fileName": self._choose_name(filename or "invoice.pdf"),
            "mediaType": "application/pdf",
            "content": pdf,
        }
        return einvoices.write_invoice(self.record, self.profile, self.syntax, documents=[document])

    def _choose_name(self, wanted: str) -> str:
        """Return a name that no document of the record has (BR-DE-22)."""
        taken = {one.get("fileName") for one in self.record.get("documents", ())}
        name, count = wanted, 1
        while name in taken:
            count += 1
            name = f"{wanted.removesuffix('.pdf')}-{count}.pdf"
        return name


class CompiledInvoice:
    """An `einvoice` of a template."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        self._profile = context.compile_attribute(element, "profile")
        self._syntax = context.compile_attribute(element, "syntax")
        self._rules = context.compile_attribute(element, "rules")
        self._source = context.compile_expression(
            element.attributes.get("from", "none"), element.location
        )
        self._condition = context.compile_condition(element)
        self.location = element.location
        self._sound: set[Hashable] = set()  # forms of invoices that broke no rule of their country

    def is_wanted(self, scope: Scope) -> bool:
        """Return whether its `if` holds."""
        return bool(self._condition.evaluate(scope))

    def build(self, scope: Scope) -> StatedInvoice | None:
        """Read and check the invoice.

        Return None if its data or syntax are wrong, which is reported.
        """
        state = scope.state
        profile = einvoices.PROFILES[self._profile.read(scope)]
        syntax = self._syntax.read(scope) or profile.syntaxes[0]
        if syntax not in profile.syntaxes:
            state.findings.error(
                "einvoice-syntax",
                f'The profile {profile.name} has no syntax="{syntax}"; '
                f"use {' or '.join(profile.syntaxes)}, or leave `syntax` out",
                self.location,
            )
            return None
        errors_before = state.findings.error_count
        record, errors = einvoices.read_record(self._source.evaluate(scope))
        if state.findings.error_count > errors_before:  # the expression failed, which is reported
            return None
        for error in errors:
            state.findings.error(
                "einvoice-data", f"The invoice's {error.path} {error.message}", self.location
            )
        if errors:
            return None
        selected = einvoices.select_terms(record, profile.level)
        stated = StatedInvoice(record, profile, syntax, self.location)
        broken = einvoices.check_invoice(selected, profile, syntax)
        report_findings(broken, state, self.location)
        if all(one.severity == "warning" for one in broken):
            self._check_officially(stated, scope, {one.rule for one in broken})
        return stated

    def _check_officially(self, stated: StatedInvoice, scope: Scope, told: set[str]) -> None:
        """Report what official files find beyond the rules `told`: if wanted, and as warnings where countries have rules."""
        state = scope.state
        is_wanted = self._rules.read(scope) == "official"
        has_national_rules = state.judge is not None and (
            stated.profile.name == "peppol" or einvoices.find_country(stated.record) == "FR"
        )
        form = None if is_wanted else _describe_form(stated.record)
        if not (is_wanted or has_national_rules) or form in self._sound:
            return
        written = einvoices.read_invoice(
            einvoices.write_invoice(stated.record, stated.profile, stated.syntax)
        )
        assert written is not None
        verdict = written.check(state.judge)
        findings = tuple(one for one in verdict.findings if one.rule not in told)
        if not is_wanted:
            findings = tuple(replace(one, severity="warning") for one in findings)
        report_findings(findings, state, self.location)
        if form is not None and not findings and len(self._sound) < _MOST_SOUND:
            self._sound.add(form)
        if is_wanted and verdict.note:
            message = f"The invoice was not checked by all official rules: {verdict.note}"
            state.findings.warn("einvoice-rules", message, self.location)


def _describe_form(value: object, name: str = "") -> Hashable:
    """Return an invoice without its amounts, dates, digits and words: its terms, formats, rates and short codes.

    Rules of a country ask for terms and formats. A template writes the same form again and again, so that
    the process of rule packs, which takes 12 to 57 ms, is asked once for each.
    """
    if isinstance(value, dict):
        return frozenset((each, _describe_form(one, each)) for each, one in value.items())
    if isinstance(value, list):
        return frozenset(_describe_form(one, name) for one in value)
    if name in _COMPARED:
        return str(value)
    if not isinstance(value, str):
        return type(value).__name__
    return value if len(value) <= _SHORT else _WORD.sub("a", _DIGIT.sub("0", value))


def report_findings(
    found: Iterable[einvoices.RuleViolation], state: BuildState, location: SourceLocation
) -> None:
    """Report the rules that an invoice breaks, each at the element that shows its term, if any."""
    for one in found:
        steps = [step for step in one.path.split("/") if step and not step.isdigit()]
        shown = state.rendered_terms.find_location(".".join(steps))
        locations = (location,) if shown is None else (shown, location)
        report = state.findings.error if one.severity == "error" else state.findings.warn
        message = f"{one.message.rstrip('.')}. {one.rule} is broken at {one.element or one.path}"
        report("einvoice-rule", message, *locations)


def find_wanted(compiled: Iterable[CompiledInvoice], scope: Scope) -> CompiledInvoice | None:
    """Return the invoice of a document; a second one is an error."""
    wanted = [one for one in compiled if one.is_wanted(scope)]
    for further in wanted[1:]:
        message = "A document can be one electronic invoice; leave the others out with `if`"
        scope.state.findings.error("einvoice-twice", message, further.location)
    return wanted[0] if wanted else None


def build_einvoice(wanted: CompiledInvoice | None, scope: Scope) -> StatedInvoice | None:
    """Build the invoice of a document, and compare it with the text of its elements."""
    stated = None if wanted is None else wanted.build(scope)
    if stated is not None:
        scope.state.rendered_terms.compare(stated.record)
    return stated


def find_profiles(
    stated: StatedInvoice | None,
    profiles: ConformanceProfiles,
    findings: Findings,
    *,
    is_encrypted: bool,
) -> ConformanceProfiles:
    """Return the standards of a document; with an embedded invoice it is a PDF/A-3, of PDF 1.7."""
    archive = profiles.archive
    if stated is None or (archive is not None and archive.part == 3):
        return profiles
    if archive is not None or profiles.is_pdf2:
        findings.error(
            "einvoice-archive",
            f'The invoice is a file inside a PDF/A-3, which profile="{profiles}" does not allow; '
            'use profile="pdf/a-3b", or leave `profile` out',
            stated.location,
        )
    elif is_encrypted:
        message = "An electronic invoice makes the document a PDF/A-3, which `security` would encrypt; leave one of them out"
        findings.error("einvoice-archive", message, stated.location)
    return profiles._replace(archive=ArchiveProfile.PDF_A_3B)
