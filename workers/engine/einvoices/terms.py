"""The business terms of EN 16931 as one record: their names, types and profiles.

This is the only declaration of the record. The conversion of data, the profiles, the mappings of
syntaxes and the table in LANGUAGE.md are derived from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final


class TermType(Enum):
    """The data types of terms (EN 16931-1, 6.5); the values are their names in the manual."""

    TEXT = "text"
    CODE = "code"
    AMOUNT = "amount"  # of money, with two decimals
    NUMBER = "number"
    DATE = "date"
    BINARY = "file in base64"


class Level(IntEnum):
    """The lowest profile of Factur-X that has a term; each profile has the terms of all lower ones."""

    MINIMUM = 0
    BASIC_WL = 1
    BASIC = 2
    EN16931 = 3


@dataclass(frozen=True, slots=True)
class BusinessTerm:
    """A business term: its name in the record, its number in EN 16931, and its type."""

    name: str
    number: str
    data_type: TermType
    doc: str
    level: Level


@dataclass(frozen=True, slots=True)
class BusinessGroup:
    """A group of terms: a record, or a list of records."""

    name: str
    number: str
    doc: str
    members: tuple[BusinessTerm | BusinessGroup, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class TermPath:
    """A term with its groups: `lines[].price.net` has the groups `lines` and `price`."""

    term: BusinessTerm
    groups: tuple[BusinessGroup, ...]

    @property
    def path(self) -> str:
        """The path in the record; a list is marked by `[]`."""
        steps = [group.name + "[]" * group.is_list for group in self.groups]
        return ".".join((*steps, self.term.name))


_M, _W, _B, _E = Level.MINIMUM, Level.BASIC_WL, Level.BASIC, Level.EN16931


def _text(name: str, number: str, doc: str, level: Level = _E) -> BusinessTerm:
    return BusinessTerm(name, f"BT-{number}", TermType.TEXT, doc, level)


def _code(name: str, number: str, doc: str, level: Level = _E) -> BusinessTerm:
    return BusinessTerm(name, f"BT-{number}", TermType.CODE, doc, level)


def _amount(name: str, number: str, doc: str, level: Level = _E) -> BusinessTerm:
    return BusinessTerm(name, f"BT-{number}", TermType.AMOUNT, doc, level)


def _number(name: str, number: str, doc: str, level: Level = _E) -> BusinessTerm:
    return BusinessTerm(name, f"BT-{number}", TermType.NUMBER, doc, level)


def _date(name: str, number: str, doc: str, level: Level = _E) -> BusinessTerm:
    return BusinessTerm(name, f"BT-{number}", TermType.DATE, doc, level)


def _list(
    name: str, number: str, doc: str, *members: BusinessTerm | BusinessGroup
) -> BusinessGroup:
    return BusinessGroup(name, f"BG-{number}", doc, members, is_list=True)


def _group(
    name: str, number: str, doc: str, *members: BusinessTerm | BusinessGroup
) -> BusinessGroup:
    return BusinessGroup(name, f"BG-{number}" if number else "", doc, members)


def _address(number: str, of: str, numbers: tuple[int, ...], country: Level = _W) -> BusinessGroup:
    line1, line2, line3, city, post_code, subdivision, own = map(str, numbers)
    return _group(
        "address", number, f"Postal address of {of}",
        _text("line1", line1, "First line, such as the street", _W),
        _text("line2", line2, "Second line", _W),
        _text("line3", line3, "Third line", _W),
        _text("city", city, "City", _W),
        _text("postCode", post_code, "Post code", _W),
        _text("subdivision", subdivision, "Region or state", _W),
        _code("country", own, "Country, by ISO 3166-1", country),
    )  # fmt: skip


def _contact(number: str, numbers: tuple[int, int, int]) -> BusinessGroup:
    name, phone, email = map(str, numbers)
    return _group(
        "contact", number, "Contact point",
        _text("name", name, "Person or department"),
        _text("phone", phone, "Telephone number"),
        _text("email", email, "E-mail address"),
    )  # fmt: skip


def _adjustments(name: str, number: str, doc: str, first: int) -> BusinessGroup:
    """Return the allowances or charges of the whole invoice; their terms have consecutive numbers."""
    amount, base, percent, category, rate, reason, code = map(str, range(first, first + 7))
    return _list(
        name, number, doc,
        _amount("amount", amount, "Amount without VAT", _W),
        _amount("baseAmount", base, "Base amount of the percentage", _W),
        _number("percent", percent, "Percentage", _W),
        _code("vatCategory", category, "VAT category", _W),
        _number("vatRate", rate, "VAT rate in per cent", _W),
        _text("reason", reason, "Reason", _W),
        _code("reasonCode", code, "Reason, by UNTDID 5189 (allowances) or 7161 (charges)", _W),
    )  # fmt: skip


def _line_adjustments(name: str, number: str, doc: str, first: int) -> BusinessGroup:
    amount, base, percent, reason, code = map(str, range(first, first + 5))
    return _list(
        name, number, doc,
        _amount("amount", amount, "Amount without VAT", _B),
        _amount("baseAmount", base, "Base amount of the percentage"),
        _number("percent", percent, "Percentage"),
        _text("reason", reason, "Reason", _B),
        _code("reasonCode", code, "Reason, by UNTDID 5189 (allowances) or 7161 (charges)", _B),
    )  # fmt: skip


def _period(number: str, start: str, end: str, level: Level) -> BusinessGroup:
    return _group(
        "period", number, "Period that is invoiced",
        _date("start", start, "First day", level), _date("end", end, "Last day", level),
    )  # fmt: skip


INVOICE: Final = _group(
    "", "", "The invoice",
    _text("number", "1", "Invoice number", _M),
    _date("issueDate", "2", "Issue date", _M),
    _code("typeCode", "3", "Document type, by UNTDID 1001: 380 invoice, 381 credit note, 384 correction", _M),
    _code("currency", "5", "Currency, by ISO 4217", _M),
    _code("taxCurrency", "6", "Currency in which VAT is accounted"),
    _date("taxPointDate", "7", "Date on which VAT becomes due"),
    _code("taxPointDateCode", "8", "When VAT becomes due, by UNTDID 2005: 5, 29 or 72", _W),
    _date("dueDate", "9", "Due date of the payment", _W),
    _text("buyerReference", "10", "Reference of the buyer, such as the Leitweg-ID", _M),
    _text("projectReference", "11", "Project"),
    _text("contractReference", "12", "Contract", _W),
    _text("orderReference", "13", "Purchase order", _M),
    _text("salesOrderReference", "14", "Sales order"),
    _text("receivingAdviceReference", "15", "Receiving advice"),
    _text("despatchAdviceReference", "16", "Despatch advice", _W),
    _text("tenderReference", "17", "Tender or lot"),
    _text("objectReference", "18", "Invoiced object, such as a meter"),
    _code("objectReferenceScheme", "18", "Its scheme, by UNTDID 1153"),
    _text("buyerAccountingReference", "19", "Account of the buyer", _W),
    _text("paymentTerms", "20", "Terms of payment", _W),
    _list(
        "notes", "1", "Notes",
        _code("subjectCode", "21", "Subject, by UNTDID 4451", _W),
        _text("text", "22", "Text", _W),
    ),
    _text("processType", "23", "Business process", _M),
    _text("guideline", "24", "Profile; set by the element", _M),
    _list(
        "precedingInvoices", "3", "Preceding invoices, which this one corrects or credits",
        _text("number", "25", "Number", _W),
        _date("issueDate", "26", "Issue date", _W),
    ),
    _group(
        "seller", "4", "Seller",
        _text("name", "27", "Name", _M),
        _text("tradingName", "28", "Trading name", _W),
        _list(
            "ids", "4", "Identifiers of the seller",
            _text("id", "29", "Identifier", _W),
            _code("scheme", "29", "Scheme, by ISO 6523", _W),
        ),
        _text("registrationId", "30", "Company registration number", _M),
        _code("registrationScheme", "30", "Its scheme, by ISO 6523", _M),
        _text("vatId", "31", "VAT identifier, with its country", _M),
        _text("taxNumber", "32", "Tax number at the local tax office", _M),
        _text("legalInformation", "33", "Further legal information"),
        _text("electronicAddress", "34", "Electronic address", _W),
        _code("electronicAddressScheme", "34", "Its scheme, by the list EAS", _W),
        _address("5", "the seller", (35, 36, 162, 37, 38, 39, 40), _M),
        _contact("6", (41, 42, 43)),
    ),
    _group(
        "buyer", "7", "Buyer",
        _text("name", "44", "Name", _M),
        _text("tradingName", "45", "Trading name"),
        _text("id", "46", "Identifier", _W),
        _code("idScheme", "46", "Its scheme, by ISO 6523", _W),
        _text("registrationId", "47", "Company registration number", _M),
        _code("registrationScheme", "47", "Its scheme, by ISO 6523", _M),
        _text("vatId", "48", "VAT identifier, with its country", _W),
        _text("electronicAddress", "49", "Electronic address", _W),
        _code("electronicAddressScheme", "49", "Its scheme, by the list EAS", _W),
        _address("8", "the buyer", (50, 51, 163, 52, 53, 54, 55)),
        _contact("9", (56, 57, 58)),
    ),
    _group(
        "payee", "10", "Payee, unless it is the seller",
        _text("name", "59", "Name", _W),
        _text("id", "60", "Identifier", _W),
        _code("idScheme", "60", "Its scheme, by ISO 6523", _W),
        _text("registrationId", "61", "Company registration number", _W),
        _code("registrationScheme", "61", "Its scheme, by ISO 6523", _W),
    ),
    _group(
        "taxRepresentative", "11", "Tax representative of the seller",
        _text("name", "62", "Name", _W),
        _text("vatId", "63", "VAT identifier, with its country", _W),
        _address("12", "the tax representative", (64, 65, 164, 66, 67, 68, 69)),
    ),
    _group(
        "delivery", "13", "Delivery",
        _text("name", "70", "Name of the recipient", _W),
        _text("locationId", "71", "Identifier of the place", _W),
        _code("locationScheme", "71", "Its scheme, by ISO 6523", _W),
        _date("date", "72", "Date of delivery", _W),
        _address("15", "the delivery", (75, 76, 165, 77, 78, 79, 80)),
    ),
    _period("14", "73", "74", _W),
    _group(
        "payment", "16", "Payment",
        _code("meansCode", "81", "Means, by UNTDID 4461: 30 transfer, 58 SEPA transfer, 59 SEPA direct debit", _W),
        _text("meansText", "82", "Means as text"),
        _text("remittanceInformation", "83", "Remittance information of the payer", _W),
        _list(
            "accounts", "17", "Accounts to pay to",
            _text("iban", "84", "IBAN", _W),
            _text("accountId", "84", "Number of an account without an IBAN", _W),
            _text("name", "85", "Name of the account"),
            _text("bic", "86", "BIC of the bank"),
        ),
        _group(
            "card", "18", "Payment card",
            _text("number", "87", "Last digits of its number, no more than 10 in all"),
            _text("holder", "88", "Name of the holder"),
        ),
        _group(
            "directDebit", "19", "Direct debit",
            _text("mandate", "89", "Mandate", _W),
            _text("creditorId", "90", "Identifier of the creditor", _W),
            _text("iban", "91", "IBAN that is debited", _W),
        ),
    ),
    _adjustments("allowances", "20", "Allowances on the whole invoice", 92),
    _adjustments("charges", "21", "Charges on the whole invoice", 99),
    _group(
        "totals", "22", "Totals",
        _amount("lines", "106", "Sum of the lines", _W),
        _amount("allowances", "107", "Sum of the allowances", _W),
        _amount("charges", "108", "Sum of the charges", _W),
        _amount("withoutVat", "109", "Total without VAT", _M),
        _amount("vat", "110", "VAT", _M),
        _amount("vatInTaxCurrency", "111", "VAT in the currency in which it is accounted"),
        _amount("withVat", "112", "Total with VAT", _M),
        _amount("paid", "113", "Amount paid already", _W),
        _amount("rounding", "114", "Amount by which the total is rounded"),
        _amount("due", "115", "Amount due", _M),
    ),
    _list(
        "vatBreakdown", "23", "VAT by category and rate",
        _amount("taxable", "116", "Taxable amount", _W),
        _amount("vat", "117", "VAT on it", _W),
        _code("category", "118", "VAT category, by UNTDID 5305: S, Z, E, AE, K, G, O, L, M or B", _W),
        _number("rate", "119", "VAT rate in per cent", _W),
        _text("exemptionReason", "120", "Reason for the exemption", _W),
        _code("exemptionReasonCode", "121", "Reason for the exemption, by the list VATEX", _W),
    ),
    _list(
        "documents", "24", "Documents that support the invoice",
        _text("id", "122", "Reference"),
        _text("description", "123", "Description"),
        _text("url", "124", "Address of the document"),
        BusinessTerm("content", "BT-125", TermType.BINARY, "The file itself", _E),
        _code("mediaType", "125", "Media type of the file"),
        _text("fileName", "125", "Name of the file"),
    ),
    _list(
        "lines", "25", "Lines",
        _text("id", "126", "Number of the line", _B),
        _text("note", "127", "Note", _B),
        _text("objectReference", "128", "Invoiced object, such as a meter"),
        _code("objectReferenceScheme", "128", "Its scheme, by UNTDID 1153"),
        _number("quantity", "129", "Quantity", _B),
        _code("unit", "130", "Unit, by UN/ECE Recommendation 20 or 21: C62 one, HUR hour, KGM kilogram", _B),
        _amount("netAmount", "131", "Amount without VAT", _B),
        _text("orderLine", "132", "Line of the purchase order"),
        _text("accountingReference", "133", "Account of the buyer"),
        _period("26", "134", "135", _E),
        _line_adjustments("allowances", "27", "Allowances on the line", 136),
        _line_adjustments("charges", "28", "Charges on the line", 141),
        _group(
            "price", "29", "Price",
            _number("net", "146", "Price without VAT", _B),
            _number("discount", "147", "Discount on the price", _B),
            _number("gross", "148", "Price before the discount", _B),
            _number("baseQuantity", "149", "Quantity that the price is for", _B),
            _code("baseUnit", "150", "Unit of that quantity", _B),
        ),
        _code("vatCategory", "151", "VAT category", _B),
        _number("vatRate", "152", "VAT rate in per cent", _B),
        _text("name", "153", "Name of the item", _B),
        _text("description", "154", "Description of the item"),
        _text("sellerId", "155", "Item number of the seller"),
        _text("buyerId", "156", "Item number of the buyer"),
        _text("standardId", "157", "Standard number of the item, such as a GTIN", _B),
        _code("standardScheme", "157", "Its scheme, by ISO 6523; 0160 is GTIN", _B),
        _list(
            "classifications", "31", "Classes of the item",
            _text("code", "158", "Class"),
            _code("scheme", "158", "Scheme, by UNTDID 7143"),
            _text("version", "158", "Version of the scheme"),
        ),
        _code("origin", "159", "Country of origin, by ISO 3166-1"),
        _list(
            "attributes", "32", "Attributes of the item",
            _text("name", "160", "Name"),
            _text("value", "161", "Value"),
        ),
    ),
)  # fmt: skip


def walk_terms(
    group: BusinessGroup = INVOICE, above: tuple[BusinessGroup, ...] = ()
) -> Iterator[TermPath]:
    """Yield every term with its groups, in order of declaration."""
    for member in group.members:
        if isinstance(member, BusinessTerm):
            yield TermPath(member, above)
        else:
            yield from walk_terms(member, (*above, member))


BY_PATH: Final = {path.path: path for path in walk_terms()}
# A scheme shares the number of its identifier, which is the first of that number.
BY_NUMBER: Final = {path.term.number: path for path in reversed(list(walk_terms()))}
