"""The syntaxes of electronic invoices, and where their XML differs from the record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from workers.engine.einvoices.mapping import FIRST, MappingNode, Record, read_mapping

_STANDARD: Final = "urn:un:unece:uncefact:data:standard"
_CII_PREFIXES: Final = {
    "rsm": f"{_STANDARD}:CrossIndustryInvoice:100",
    "ram": f"{_STANDARD}:ReusableAggregateBusinessInformationEntity:100",
    "qdt": f"{_STANDARD}:QualifiedDataType:100",
    "udt": f"{_STANDARD}:UnqualifiedDataType:100",
}
_SCHEMA: Final = "urn:oasis:names:specification:ubl:schema:xsd"
_COMMON: Final = {
    "cac": f"{_SCHEMA}:CommonAggregateComponents-2",
    "cbc": f"{_SCHEMA}:CommonBasicComponents-2",
}
_INVOICE_PREFIXES: Final = {"ubl": f"{_SCHEMA}:Invoice-2", **_COMMON}
_CREDIT_PREFIXES: Final = {"ubl": f"{_SCHEMA}:CreditNote-2", **_COMMON}

# The types (UNTDID 1001) that EN 16931 writes as a CreditNote; all others are an Invoice.
CREDIT_TYPES: Final = frozenset(
    ["81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "502", "503", "532"]
)  # fmt: skip
# The record has the codes of UNTDID 2475, which Cross Industry Invoice uses; UBL has those of 2005.
_TAX_POINT_CODES: Final = {"5": "3", "29": "35", "72": "432"}
_NO_ORDER: Final = "NA"  # as ubl.xml has it
_UNDEFINED_MEANS: Final = "1"  # "instrument not defined" (UNTDID 4461)

_NOTE_WITH_SUBJECT: Final = re.compile(r"#([A-Z]{3})#(.*)", re.DOTALL)
_IBAN_SHAPE: Final = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,40}", re.ASCII)
_RECORD_CODES: Final = {code: own for own, code in _TAX_POINT_CODES.items()}


@dataclass(frozen=True, slots=True)
class InvoiceSyntax:
    """A syntax: its name in the language, and the mapping of its root element.

    `adapt` changes a record to what the elements state, and `restore` changes it back.
    """

    name: str
    mapping: MappingNode
    prefixes: Mapping[str, str]
    adapt: Callable[[Record], Record]
    restore: Callable[[Record], Record]

    @property
    def root_name(self) -> str:
        """The name of the root element, without its namespace."""
        return self.mapping.tag.rpartition("}")[2]

    @property
    def prefix_by_namespace(self) -> dict[str, str]:
        """The prefix of each namespace, as `prefix:` by `{namespace}`."""
        return {f"{{{uri}}}": f"{name}:" if name else "" for name, uri in self.prefixes.items()}


def find_syntax(root_tag: str) -> InvoiceSyntax | None:
    """Return the syntax of a root element, None for other XML."""
    return next((one for one in SYNTAXES if one.mapping.tag == root_tag), None)


def find_prefixes(root_name: str) -> dict[str, str]:
    """Return the prefixes of the syntax whose root element has a name, each by its `{namespace}`."""
    return next(one for one in SYNTAXES if one.root_name == root_name).prefix_by_namespace


def choose_syntax(name: str, record: Record) -> InvoiceSyntax:
    """Return the syntax of a name, with the root for the type of the document."""
    if name == CII.name:
        return CII
    return UBL_CREDIT_NOTE if record.get("typeCode") in CREDIT_TYPES else UBL_INVOICE


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
        adapted["taxPointDateCode"] = _TAX_POINT_CODES.get(code, code)
    is_credit = record.get("typeCode") in CREDIT_TYPES
    payment = record.get("payment")
    if not payment and is_credit and "dueDate" in record:
        payment = {"meansCode": _UNDEFINED_MEANS}  # a CreditNote has its due date there
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
    if record.get("orderReference") == _NO_ORDER:
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


(_CII_MAPPING,) = read_mapping("cii.xml")
CII: Final = InvoiceSyntax("cii", _CII_MAPPING, _CII_PREFIXES, _adapt_to_cii, _unchanged)
UBL_INVOICE, UBL_CREDIT_NOTE = (
    InvoiceSyntax("ubl", mapping, prefixes, _adapt_to_ubl, _restore_from_ubl)
    for mapping, prefixes in zip(
        read_mapping("ubl.xml"), (_INVOICE_PREFIXES, _CREDIT_PREFIXES), strict=True
    )
)
SYNTAXES: Final = (CII, UBL_INVOICE, UBL_CREDIT_NOTE)
SYNTAX_NAMES: Final = ("cii", "ubl")
