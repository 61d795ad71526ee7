"""Writer and reader of invoice files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from workers.engine.einvoices.checks import (
    MAX_VIOLATIONS,
    RuleSet,
    RuleViolation,
    check_invoice,
    find_rule_sets,
)
from workers.engine.einvoices.element_paths import find_element_path
from workers.engine.einvoices.mapping import INSTRUCTIONS, Record, read_tree, write_tree
from workers.engine.einvoices.markup import XmlElement, read_xml, write_xml
from workers.engine.einvoices.profiles import InvoiceProfile, find_profile, select_terms
from workers.engine.einvoices.rules.xrechnung import WARNINGS
from workers.engine.einvoices.schemas import find_schema, find_schema_errors
from workers.engine.einvoices.syntaxes import InvoiceSyntax, choose_syntax, find_syntax

_WITHOUT_EMPTY: Final = ("xrechnung", "peppol")


@dataclass(frozen=True, slots=True)
class ParsedInvoice:
    """An invoice read from a file: its record, syntax, profile and rule violations.

    If the file states no known profile, `profile` is None and no rules are checked.
    """

    record: Record
    syntax: InvoiceSyntax
    profile: InvoiceProfile | None
    violations: tuple[RuleViolation, ...]
    checked_by: tuple[RuleSet, ...] = ()

    def element_path(self, violation: RuleViolation) -> str:
        """Return the XPath of the element that a violation is about, or of where it belongs."""
        return violation.element or find_element_path(self.syntax.mapping, violation.path)


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
    if documents:
        selected["documents"] = [*selected.get("documents", ()), *documents]
    return write_xml(write_tree(chosen.mapping, chosen.adapt(selected)), chosen.prefixes)


def read_invoice(content: bytes) -> ParsedInvoice | None:
    """Read an invoice and check it by the rules of its profile; return None for other XML.

    Raises:
        UnreadableXmlError: the XML is not well-formed, or exceeds a limit.
    """
    root = read_xml(content)
    syntax = find_syntax(root.tag)
    if syntax is None:
        return None
    record, invalid = read_tree(syntax.mapping, root, syntax.prefixes)
    record = syntax.restore(record)
    profile = find_profile("".join(record.get("guideline", "").split()))
    may_repeat = profile is not None and profile.name == "extended"
    violations = [
        RuleViolation(one.rule, f"/{one.path.replace('.', '/')}", one.message)
        for one in invalid
        if not (may_repeat and one.rule == "cardinality")
    ]
    if not syntax.accepts_type(record.get("typeCode", "")):
        violations.append(_wrong_root(record, syntax))
    checked_by: tuple[RuleSet, ...] = ()
    if profile is not None:
        schema = find_schema(profile, syntax)
        checked_by = (schema.edition, *find_rule_sets(profile))
        violations += (
            RuleViolation("schema", "/", one.message, one.element)
            for one in find_schema_errors(content, schema, syntax)
        )
        violations += (
            one for one in check_invoice(record, profile, syntax.name) if one.rule not in WARNINGS
        )
        if profile.name in _WITHOUT_EMPTY:
            violations += _find_empty(root, syntax)
    record.pop(INSTRUCTIONS, None)
    return ParsedInvoice(record, syntax, profile, tuple(violations), checked_by)


def _find_empty(root: XmlElement, syntax: InvoiceSyntax) -> Iterator[RuleViolation]:
    """Yield a violation for each of the first 50 elements without text and children."""
    prefixes = {f"{{{uri}}}": name for name, uri in syntax.prefixes.items()}
    found = 0
    waiting = [(root, "")]
    while waiting and found < MAX_VIOLATIONS:
        element, above = waiting.pop()
        uri, _, name = element.tag.rpartition("}")
        path = f"{above}/{prefixes.get(f'{uri}}}', '*')}:{name}"
        waiting += ((child, path) for child in reversed(element.children))
        if not element.children and not element.text.strip():
            found += 1
            message = "An element must not be empty"
            yield RuleViolation("PEPPOL-EN16931-R008", "/", message, path)


def _wrong_root(record: Record, syntax: InvoiceSyntax) -> RuleViolation:
    root = "CreditNote" if syntax.is_credit else "Invoice"
    other = "Invoice" if syntax.is_credit else "CreditNote"
    return RuleViolation(
        "BR-CL-01",
        "/typeCode",
        f'The type code (BT-3) "{record.get("typeCode", "")}" is one of a UBL {other}, the root is {root}',
    )
