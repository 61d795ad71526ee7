"""Electronic invoices by EN 16931: business terms, syntaxes and rules, independent of documents."""

from workers.engine.einvoices.checks import check_invoice
from workers.engine.einvoices.files import (
    InvoiceJudge,
    ParsedInvoice,
    find_country,
    read_invoice,
    write_invoice,
)
from workers.engine.einvoices.findings import MAX_VIOLATIONS, RuleViolation, Severity, Verdict
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.packs import (
    MANIFEST,
    InvoiceFacts,
    RulePack,
    UnusablePackError,
    choose_packs,
    describe_gap,
    find_builtin_packs,
    read_packs,
)
from workers.engine.einvoices.presenting import list_terms, present_record
from workers.engine.einvoices.profiles import (
    INVOICE_NAMES,
    PROFILES,
    UBL_FILE_NAME,
    InvoiceProfile,
    select_terms,
)
from workers.engine.einvoices.records import PROFILE_TERM, read_record
from workers.engine.einvoices.rules.rule import find_member
from workers.engine.einvoices.schemas import find_schema_errors
from workers.engine.einvoices.syntaxes import SYNTAX_NAMES, find_prefixes
from workers.engine.einvoices.terms import BY_NUMBER, Level, TermPath, walk_terms
