"""The syntaxes of electronic invoices, and where their XML differs from the record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from workers.engine.einvoices import cii, ubl
from workers.engine.einvoices.mapping import FIRST, MappingNode, Record

_NOTE_WITH_SUBJECT: Final = re.compile(r"#([A-Z]{3})#(.*)", re.DOTALL)
_IBAN_SHAPE: Final = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,40}", re.ASCII)
_RECORD_CODES: Final = {code: own for own, code in ubl.TAX_POINT_CODES.items()}


@dataclass(frozen=True, slots=True)
class InvoiceSyntax:
    """A syntax: its name in the language, its root element and its mapping.

    `adapt` changes a record to what the elements state, and `restore` changes it back.
    """

    name: str
    root: str
    mapping: MappingNode
    prefixes: Mapping[str, str]
    adapt: Callable[[Record], Record]
    restore: Callable[[Record], Record]

    @property
    def root_name(self) -> str:
        """The name of the root element, without its namespace."""
        return self.root.rpartition("}")[2]

    @property
    def prefix_by_namespace(self) -> dict[str, str]:
        """The prefix of each namespace, as `prefix:` by `{namespace}`."""
        return {f"{{{uri}}}": f"{name}:" if name else "" for name, uri in self.prefixes.items()}


def find_syntax(root_tag: str) -> InvoiceSyntax | None:
    """Return the syntax of a root element, None for other XML."""
    return next((one for one in SYNTAXES if one.root == root_tag), None)


def find_prefixes(root_name: str) -> dict[str, str]:
    """Return the prefixes of the syntax whose root element has a name, each by its `{namespace}`."""
    return next(one for one in SYNTAXES if one.root_name == root_name).prefix_by_namespace


def choose_syntax(name: str, record: Record) -> InvoiceSyntax:
    """Return the syntax of a name, with the root for the type of the document."""
    if name == CII.name:
        return CII
    return UBL_CREDIT_NOTE if record.get("typeCode") in ubl.CREDIT_TYPES else UBL_INVOICE


def _adapt_to_cii(record: Record) -> Record:
    """Return a record whose first VAT breakdown is marked: it states the date of all (CII-SR-461)."""
    first, *others = record.get("vatBreakdown") or [{}]
    return {**record, "vatBreakdown": [{**first, FIRST: "true"}, *others]} if first else record


def _adapt_to_ubl(record: Record) -> Record:
    adapted = dict(record)
    if "notes" in record:
        adapted["notes"] = [
            {"text": f"#{note['subjectCode']}#{note.get('text', '')}"}
            if "subjectCode" in note
            else note
            for note in record["notes"]
        ]
    if "taxPointDateCode" in record:
        code = record["taxPointDateCode"]
        adapted["taxPointDateCode"] = ubl.TAX_POINT_CODES.get(code, code)
    is_credit = record.get("typeCode") in ubl.CREDIT_TYPES
    payment = record.get("payment")
    if not payment and is_credit and "dueDate" in record:
        payment = {"meansCode": ubl.UNDEFINED_MEANS}  # a CreditNote has its due date there
    if payment:
        first, *others = payment.get("accounts") or [{}]
        accounts = [{**first, FIRST: "true"}, *others]
        adapted["payment"] = {**payment, "accounts": accounts}
    return adapted


def _restore_from_ubl(record: Record) -> Record:
    for note in record.get("notes", ()):
        if found := _NOTE_WITH_SUBJECT.fullmatch(note.get("text", "")):
            note.update(subjectCode=found[1], text=found[2])
    if "taxPointDateCode" in record:
        # A code of UNTDID 2475 is wrong in UBL, and no code of the record.
        code = record["taxPointDateCode"]
        record["taxPointDateCode"] = _RECORD_CODES.get(code, f"{code} of UNTDID 2475")
    if record.get("orderReference") == ubl.NO_ORDER:
        del record["orderReference"]
    _restore_accounts(record.get("payment", {}))
    return record


def _restore_accounts(payment: Record) -> None:
    """Remove the accounts of payments without one, and tell IBANs from other numbers."""
    accounts = [account for account in payment.get("accounts", ()) if account]
    for account in accounts:
        if "iban" in account and not _IBAN_SHAPE.fullmatch(account["iban"]):
            account["accountId"] = account.pop("iban")
    if accounts:
        payment["accounts"] = accounts
    else:
        payment.pop("accounts", None)


def _unchanged(record: Record) -> Record:
    return record


CII: Final = InvoiceSyntax("cii", cii.ROOT, cii.INVOICE, cii.PREFIXES, _adapt_to_cii, _unchanged)
UBL_INVOICE: Final = InvoiceSyntax(
    "ubl", ubl.INVOICE_ROOT, ubl.INVOICE, ubl.INVOICE_PREFIXES, _adapt_to_ubl, _restore_from_ubl
)
UBL_CREDIT_NOTE: Final = InvoiceSyntax(
    "ubl", ubl.CREDIT_ROOT, ubl.CREDIT_NOTE, ubl.CREDIT_PREFIXES, _adapt_to_ubl, _restore_from_ubl
)
SYNTAXES: Final = (CII, UBL_INVOICE, UBL_CREDIT_NOTE)
SYNTAX_NAMES: Final = ("cii", "ubl")
