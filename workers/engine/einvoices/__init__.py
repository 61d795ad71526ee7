"""Electronic invoices by EN 16931: business terms, syntaxes and rules, independent of documents."""

from workers.engine.einvoices.checks import MAX_VIOLATIONS, RuleSet, RuleViolation, check_invoice
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.profiles import (
    INVOICE_NAMES,
    PROFILES,
    UBL_FILE_NAME,
    InvoiceProfile,
    select_terms,
)
from workers.engine.einvoices.records import PROFILE_TERM, read_record
from workers.engine.einvoices.syntaxes import SYNTAX_NAMES
from workers.engine.einvoices.terms import BY_NUMBER, Level, TermPath, walk_terms

__all__ = [
    "BY_NUMBER",
    "INVOICE_NAMES",
    "MAX_VIOLATIONS",
    "PROFILES",
    "PROFILE_TERM",
    "SYNTAX_NAMES",
    "UBL_FILE_NAME",
    "InvoiceProfile",
    "Level",
    "Record",
    "RuleSet",
    "RuleViolation",
    "TermPath",
    "check_invoice",
    "read_invoice",
    "read_record",
    "select_terms",
    "walk_terms",
    "write_invoice",
]
