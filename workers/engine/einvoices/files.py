"""Writer and reader of invoice files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from workers.engine.einvoices.findings import MAX_VIOLATIONS, RuleViolation, Verdict
from workers.engine.einvoices.mapping import Record, read_tree, write_tree
from workers.engine.einvoices.markup import read_xml
from workers.engine.einvoices.packs import InvoiceFacts, choose_packs, find_builtin_packs
from workers.engine.einvoices.profiles import InvoiceProfile, find_profile, select_terms
from workers.engine.einvoices.schemas import find_schema_errors
from workers.engine.einvoices.syntaxes import InvoiceSyntax, choose_syntax, find_syntax

_MAX_SPECIFICATION: Final = 300  # characters
_SCHEMA_ALONE: Final = "the official rules were not run: this installation has no pressroom[rules]"


class InvoiceJudge(Protocol):
    """Judges invoices by official rules; see `workers.rules.judging.Judge`."""

    def judge(self, content: bytes, facts: InvoiceFacts) -> Verdict:
        """Return what the rule packs for an invoice say of it."""


@dataclass(frozen=True, slots=True)
class ParsedInvoice:
    """An invoice read from a file: its record, syntax and profile, None if that is not known here.

    `deviations` are values and elements that the record does not take.
    """

    content: bytes
    record: Record
    syntax: InvoiceSyntax
    profile: InvoiceProfile | None
    deviations: tuple[RuleViolation, ...]

    @property
    def facts(self) -> InvoiceFacts:
        """What decides which rules apply."""
        return InvoiceFacts(
            self.syntax.name,
            self.syntax.root_name,
            "".join(self.record.get("guideline", "").split())[:_MAX_SPECIFICATION],
            find_country(self.record),
        )

    def check(self, judge: InvoiceJudge | None) -> Verdict:
        """Return what official rules say of the invoice.

        Without a judge it is held against its XML schema, and deviations of the record stand beside its errors.
        """
        return self._check_schema() if judge is None else judge.judge(self.content, self.facts)

    def _check_schema(self) -> Verdict:
        packs, _ = choose_packs(find_builtin_packs(), self.facts)
        prefixes = self.syntax.prefix_by_namespace
        for pack in packs[:1]:
            if schema := pack.find_schema(self.syntax.root_name):
                errors = find_schema_errors(self.content, schema, prefixes)
                found = (*errors, *self.deviations)[:MAX_VIOLATIONS]
                return Verdict(found, (pack.edition,), _SCHEMA_ALONE)
        return Verdict(self.deviations[:MAX_VIOLATIONS], note=_SCHEMA_ALONE)


def find_country(record: Record) -> str:
    """Return the country of seller and buyer, empty if they are in different ones."""
    seller, buyer = (
        record.get(party, {}).get("address", {}).get("country", "") for party in ("seller", "buyer")
    )
    return str(seller) if seller == buyer else ""


def write_invoice(
    record: Record,
    profile: InvoiceProfile,
    syntax: str = "cii",
    *,
    documents: Sequence[Record] = (),
) -> bytes:
    """Write the terms of a profile in a syntax; `documents` are embedded in addition to the record's."""
    chosen = choose_syntax(syntax, record)
    selected = {**select_terms(record, profile.level), "guideline": profile.guideline}
    if profile.name == "xrechnung" and selected.get("paymentTerms", "").endswith("#"):
        selected["paymentTerms"] += "\n"  # of a line with a cash discount (BR-DE-18)
    if documents:
        selected["documents"] = [*selected.get("documents", ()), *documents]
    return write_tree(chosen.mapping, chosen.adapt(selected), chosen.prefixes)


def read_invoice(content: bytes) -> ParsedInvoice | None:
    """Read an invoice; return None for other XML.

    Raises:
        UnreadableXmlError: the XML is not well-formed, or exceeds a limit.
    """
    root = read_xml(content)
    syntax = find_syntax(root.tag)
    if syntax is None:
        return None
    record, deviations = read_tree(syntax.mapping, root)
    record = syntax.restore(record)
    profile = find_profile("".join(record.get("guideline", "").split()))
    return ParsedInvoice(content, record, syntax, profile, tuple(deviations))
