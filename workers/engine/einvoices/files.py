"""Writer and reader of invoice files."""

from __future__ import annotations

from dataclasses import dataclass

from workers.engine.einvoices import cii
from workers.engine.einvoices.checks import RuleViolation, check_invoice
from workers.engine.einvoices.mapping import Record, read_tree, write_tree
from workers.engine.einvoices.markup import read_xml, write_xml
from workers.engine.einvoices.profiles import InvoiceProfile, find_profile, select_terms


@dataclass(frozen=True, slots=True)
class ParsedInvoice:
    """An invoice read from a file: its record, profile and rule violations.

    If the file states no known profile, `profile` is None and no rules are checked.
    """

    record: Record
    profile: InvoiceProfile | None
    violations: tuple[RuleViolation, ...]


def write_invoice(record: Record, profile: InvoiceProfile) -> bytes:
    """Write the terms of a profile as a Cross Industry Invoice."""
    selected = {**select_terms(record, profile.level), "guideline": profile.guideline}
    return write_xml(write_tree(cii.INVOICE, selected), cii.PREFIXES)


def read_invoice(content: bytes) -> ParsedInvoice | None:
    """Read an invoice and check it by the rules of its profile; return None for other XML.

    Raises:
        UnreadableXmlError: the XML is not well-formed, or exceeds a limit.
    """
    root = read_xml(content)
    if root.tag != cii.ROOT:
        return None
    record, invalid = read_tree(cii.INVOICE, root, cii.PREFIXES)
    profile = find_profile("".join(record.get("guideline", "").split()))
    violations = [
        RuleViolation("syntax", f"/{one.path.replace('.', '/')}", one.message) for one in invalid
    ]
    if profile is not None:
        violations += check_invoice(record, profile)
    return ParsedInvoice(record, profile, tuple(violations))
