"""The mapping of UBL 2.1 Invoice and CreditNote, the syntax of Peppol BIS Billing 3 and of XRechnung."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.einvoices.mapping import FIRST, ElementMaker, MappingNode

_SCHEMA: Final = "urn:oasis:names:specification:ubl:schema:xsd"
_COMMON: Final = {
    "cac": f"{_SCHEMA}:CommonAggregateComponents-2",
    "cbc": f"{_SCHEMA}:CommonBasicComponents-2",
}
INVOICE_PREFIXES: Final = {"ubl": f"{_SCHEMA}:Invoice-2", **_COMMON}
CREDIT_PREFIXES: Final = {"ubl": f"{_SCHEMA}:CreditNote-2", **_COMMON}
INVOICE_ROOT: Final = f"{{{INVOICE_PREFIXES['ubl']}}}Invoice"
CREDIT_ROOT: Final = f"{{{CREDIT_PREFIXES['ubl']}}}CreditNote"

# The types (UNTDID 1001) that EN 16931 writes as a CreditNote; all others are an Invoice.
CREDIT_TYPES: Final = frozenset(
    ["81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "502", "503", "532"]
)  # fmt: skip
# The record has the codes of UNTDID 2475, which Cross Industry Invoice uses; UBL has those of 2005.
TAX_POINT_CODES: Final = {"5": "3", "29": "35", "72": "432"}
# A sales order needs the number of an order beside it (UBL 2.1, OrderReference).
NO_ORDER: Final = "NA"


_ISO_DATE: Final = "%Y-%m-%d"
UNDEFINED_MEANS: Final = "1"  # "instrument not defined" (UNTDID 4461)


_MAKER: Final = ElementMaker("cac", "cbc")
_parent, _leaf, _nested, _fixed = _MAKER.parent, _MAKER.leaf, _MAKER.nested, _MAKER.fixed


def _date(tag: str, value: str) -> MappingNode:
    return MappingNode(f"cbc:{tag}", value, date_format=_ISO_DATE)


def _amount(tag: str, value: str) -> MappingNode:
    """Return an amount in the currency of the invoice, which every amount repeats."""
    return _leaf(tag, value, currencyID="~/currency")


def _filler(tag: str, text: str, **more: Any) -> MappingNode:
    return MappingNode(f"cbc:{tag}", filler=text, **more)


_VAT: Final = _parent("TaxScheme", _fixed("ID", "VAT"))
_COUNTRY: Final = _nested("Country/IdentificationCode", "country")
_ADDRESS_LINES: Final = (
    _leaf("StreetName", "line1"),
    _leaf("AdditionalStreetName", "line2"),
    _leaf("CityName", "city"),
    _leaf("PostalZone", "postCode"),
    _leaf("CountrySubentity", "subdivision"),
    _nested("AddressLine/Line", "line3"),
    _COUNTRY,
)
_ADDRESS: Final = _parent("PostalAddress", *_ADDRESS_LINES, inside="address")
_CONTACT: Final = _parent(
    "Contact",
    _leaf("Name", "name"),
    _leaf("Telephone", "phone"),
    _leaf("ElectronicMail", "email"),
    inside="contact",
)
_ENDPOINT: Final = _leaf("EndpointID", "electronicAddress", schemeID="electronicAddressScheme")
_TRADING_NAME: Final = _nested("PartyName/Name", "tradingName")
_VAT_ID: Final = _parent("PartyTaxScheme", MappingNode("cbc:CompanyID", "vatId"), _VAT)
_OTHER_TAX: Final = _parent("TaxScheme", _filler("ID", "FC"))
_NO_TAX: Final = _parent("PartyTaxScheme", _OTHER_TAX, is_read_only=True)
_REGISTRATION: Final = _leaf("CompanyID", "registrationId", schemeID="registrationScheme")
_OWN_ID: Final = _nested("PartyIdentification/ID", "id", schemeID="idScheme")


def _creditor(tag: str, **condition: str) -> MappingNode:
    """Return the creditor's identifier, which UBL states as one of the payee, or of the seller."""
    creditor = MappingNode(
        "cbc:ID",
        "/payment.directDebit.creditorId",
        attributes=(("schemeID", "=SEPA"),),
        **condition,  # type: ignore[arg-type]  # two names of strings
    )
    return _parent(tag, creditor)


_SELLER: Final = _parent(
    "AccountingSupplierParty",
    _parent(
        "Party",
        _ENDPOINT,
        _creditor("PartyIdentification", only_without="/payee"),
        _parent("PartyIdentification", _leaf("ID", "id", schemeID="scheme"), each="ids"),
        _TRADING_NAME,
        _ADDRESS,
        _VAT_ID,
        _parent("PartyTaxScheme", MappingNode("cbc:CompanyID", "taxNumber"), _OTHER_TAX),
        _parent("PartyLegalEntity", _leaf("RegistrationName", "name"), _REGISTRATION, _leaf("CompanyLegalForm", "legalInformation")),
        _CONTACT,
        inside="seller",
    ),
)  # fmt: skip
_BUYER: Final = _parent(
    "AccountingCustomerParty",
    _parent(
        "Party",
        _ENDPOINT,
        _OWN_ID,
        _TRADING_NAME,
        _ADDRESS,
        _VAT_ID,
        _NO_TAX,
        _parent("PartyLegalEntity", _leaf("RegistrationName", "name"), _REGISTRATION),
        _CONTACT,
        inside="buyer",
    ),
)
_PAYEE: Final = _parent(
    "PayeeParty",
    _creditor("PartyIdentification"),
    _OWN_ID,
    _nested("PartyName/Name", "name"),
    _parent("PartyLegalEntity", _REGISTRATION),
    inside="payee",
    only_with="/payee",
)
_REPRESENTATIVE: Final = _parent(
    "TaxRepresentativeParty",
    _nested("PartyName/Name", "name"),
    _ADDRESS,
    _VAT_ID,
    _NO_TAX,
    inside="taxRepresentative",
)
_DELIVERY: Final = _parent(
    "Delivery",
    _date("ActualDeliveryDate", "date"),
    _parent(
        "DeliveryLocation",
        _leaf("ID", "locationId", schemeID="locationScheme"),
        _parent("Address", *_ADDRESS_LINES, inside="address"),
    ),
    _nested("DeliveryParty/PartyName/Name", "name"),
    inside="delivery",
)
_PERIOD: Final = (_date("StartDate", "period.start"), _date("EndDate", "period.end"))


def _payment_means(*due_date: MappingNode) -> MappingNode:
    """Return the payment, once for each account; what it states once is beside the first."""
    means = (
        MappingNode(
            "cbc:PaymentMeansCode",
            "../meansCode",
            attributes=(("name", "../meansText"),),
            only_with=FIRST,
        ),
        MappingNode("cbc:PaymentMeansCode", "../meansCode", only_without=FIRST),
        *due_date,
        MappingNode("cbc:PaymentID", "../remittanceInformation"),
        _parent(
            "CardAccount",
            _leaf("PrimaryAccountNumberID", "../card.number"),
            _filler("NetworkID", "NA"),
            _leaf("HolderName", "../card.holder"),
            only_with=FIRST,
        ),
        _parent(
            "PayeeFinancialAccount",
            _leaf("ID", "iban"),
            MappingNode("cbc:ID", "accountId", only_without="iban"),
            _leaf("Name", "name"),
            _nested("FinancialInstitutionBranch/ID", "bic"),
        ),
        _parent(
            "PaymentMandate",
            _leaf("ID", "../directDebit.mandate"),
            _nested("PayerFinancialAccount/ID", "../directDebit.iban"),
            only_with=FIRST,
        ),
    )
    return MappingNode("cac:PaymentMeans", children=means, inside="payment", each="accounts")


def _adjustment(each: str, indicator: str, *category: MappingNode) -> MappingNode:
    return _parent(
        "AllowanceCharge",
        _fixed("ChargeIndicator", indicator),
        _leaf("AllowanceChargeReasonCode", "reasonCode"),
        _leaf("AllowanceChargeReason", "reason"),
        _leaf("MultiplierFactorNumeric", "percent"),
        _amount("Amount", "amount"),
        _amount("BaseAmount", "baseAmount"),
        *category,
        each=each,
    )


_CATEGORY: Final = _parent(
    "TaxCategory", _leaf("ID", "vatCategory"), _leaf("Percent", "vatRate"), _VAT
)
_VAT_TOTAL: Final = _parent(
    "TaxTotal",
    MappingNode(
        "cbc:TaxAmount", "totals.vat", attributes=(("currencyID", "/currency"),), is_key=True
    ),
    MappingNode(
        "cbc:TaxAmount",
        filler="0.00",
        attributes=(("currencyID", "/currency"),),
        only_without="totals.vat",
    ),
    _parent(
        "TaxSubtotal",
        _amount("TaxableAmount", "taxable"),
        _amount("TaxAmount", "vat"),
        _parent(
            "TaxCategory",
            _leaf("ID", "category"),
            _leaf("Percent", "rate"),
            _leaf("TaxExemptionReasonCode", "exemptionReasonCode"),
            _leaf("TaxExemptionReason", "exemptionReason"),
            _VAT,
        ),
        each="vatBreakdown",
    ),
)
_VAT_IN_TAX_CURRENCY: Final = _parent(
    "TaxTotal",
    MappingNode(
        "cbc:TaxAmount",
        "totals.vatInTaxCurrency",
        attributes=(("currencyID", "/taxCurrency"),),
        is_key=True,
    ),
)
_TOTALS: Final = _parent(
    "LegalMonetaryTotal",
    _amount("LineExtensionAmount", "lines"),
    _amount("TaxExclusiveAmount", "withoutVat"),
    _amount("TaxInclusiveAmount", "withVat"),
    _amount("AllowanceTotalAmount", "allowances"),
    _amount("ChargeTotalAmount", "charges"),
    _amount("PrepaidAmount", "paid"),
    _amount("PayableRoundingAmount", "rounding"),
    _amount("PayableAmount", "due"),
    inside="totals",
)
_ITEM: Final = _parent(
    "Item",
    _leaf("Description", "description"),
    _leaf("Name", "name"),
    _nested("BuyersItemIdentification/ID", "buyerId"),
    _nested("SellersItemIdentification/ID", "sellerId"),
    _nested("StandardItemIdentification/ID", "standardId", schemeID="standardScheme"),
    _nested("OriginCountry/IdentificationCode", "origin"),
    _parent(
        "CommodityClassification",
        _leaf("ItemClassificationCode", "code", listID="scheme", listVersionID="version"),
        each="classifications",
    ),
    _parent("ClassifiedTaxCategory", _leaf("ID", "vatCategory"), _leaf("Percent", "vatRate"), _VAT),
    _parent("AdditionalItemProperty", _leaf("Name", "name"), _leaf("Value", "value"), each="attributes"),
)  # fmt: skip
_PRICE: Final = _parent(
    "Price",
    _amount("PriceAmount", "price.net"),
    _leaf("BaseQuantity", "price.baseQuantity", unitCode="price.baseUnit"),
    _parent(
        "AllowanceCharge",
        _fixed("ChargeIndicator", "false"),
        _amount("Amount", "price.discount"),
        # The discount, which UBL requires beside a gross price.
        MappingNode(
            "cbc:Amount",
            filler="0.00",
            attributes=(("currencyID", "/currency"),),
            only_without="price.discount",
        ),
        _amount("BaseAmount", "price.gross"),
    ),
)


def _line(tag: str, quantity: str) -> MappingNode:
    return _parent(
        tag,
        _leaf("ID", "id"),
        _leaf("Note", "note"),
        _leaf(quantity, "quantity", unitCode="unit"),
        _amount("LineExtensionAmount", "netAmount"),
        _leaf("AccountingCost", "accountingReference"),
        _parent("InvoicePeriod", *_PERIOD),
        _nested("OrderLineReference/LineID", "orderLine"),
        _parent(
            "DocumentReference",
            _leaf("ID", "objectReference", schemeID="objectReferenceScheme"),
            _fixed("DocumentTypeCode", "130"),
        ),
        _adjustment("allowances", "false"),
        _adjustment("charges", "true"),
        _ITEM,
        _PRICE,
        each="lines",
    )


def _reference(tag: str, value: str) -> MappingNode:
    return _parent(tag, _leaf("ID", value))


_BEGINNING: Final = (
    _leaf("CustomizationID", "guideline"),
    _leaf("ProfileID", "processType"),
    _leaf("ID", "number"),
    _date("IssueDate", "issueDate"),
)
_NOTES: Final = MappingNode("cbc:Note", "text", each="notes")
_TAX_POINT: Final = _date("TaxPointDate", "taxPointDate")
_HEAD: Final = (
    _leaf("DocumentCurrencyCode", "currency"),
    _leaf("TaxCurrencyCode", "taxCurrency"),
    _leaf("AccountingCost", "buyerAccountingReference"),
    _leaf("BuyerReference", "buyerReference"),
    _parent("InvoicePeriod", *_PERIOD, _leaf("DescriptionCode", "taxPointDateCode")),
    _parent(
        "OrderReference",
        _leaf("ID", "orderReference"),
        _filler("ID", NO_ORDER, only_without="orderReference"),
        _leaf("SalesOrderID", "salesOrderReference"),
    ),
    _parent(
        "BillingReference",
        _parent("InvoiceDocumentReference", _leaf("ID", "number"), _date("IssueDate", "issueDate")),
        each="precedingInvoices",
    ),
    _reference("DespatchDocumentReference", "despatchAdviceReference"),
    _reference("ReceiptDocumentReference", "receivingAdviceReference"),
)
_TENDER: Final = _reference("OriginatorDocumentReference", "tenderReference")
_CONTRACT: Final = _reference("ContractDocumentReference", "contractReference")
_OBJECT: Final = _parent(
    "AdditionalDocumentReference",
    MappingNode("cbc:ID", "objectReference", attributes=(("schemeID", "objectReferenceScheme"),)),
    _fixed("DocumentTypeCode", "130"),
)
# A CreditNote has no ProjectReference; EN 16931 has it state the project as a document of type 50.
_PROJECT_OF_CREDIT: Final = _parent(
    "AdditionalDocumentReference", _leaf("ID", "projectReference"), _fixed("DocumentTypeCode", "50")
)
_DOCUMENTS: Final = _parent(
    "AdditionalDocumentReference",
    MappingNode("cbc:ID", "id"),
    _leaf("DocumentDescription", "description"),
    _parent(
        "Attachment",
        _leaf("EmbeddedDocumentBinaryObject", "content", mimeCode="mediaType", filename="fileName"),
        _nested("ExternalReference/URI", "url"),
    ),
    each="documents",
)
_PARTIES: Final = (_SELLER, _BUYER, _PAYEE, _REPRESENTATIVE, _DELIVERY)
_AMOUNTS: Final = (
    _parent("PaymentTerms", _leaf("Note", "paymentTerms")),
    _adjustment("allowances", "false", _CATEGORY),
    _adjustment("charges", "true", _CATEGORY),
    _VAT_TOTAL,
    _VAT_IN_TAX_CURRENCY,
    _TOTALS,
)

INVOICE: Final = MappingNode(
    "ubl:Invoice",
    children=(
        *_BEGINNING,
        _date("DueDate", "dueDate"),
        _leaf("InvoiceTypeCode", "typeCode"),
        _NOTES,
        _TAX_POINT,
        *_HEAD,
        _TENDER,
        _CONTRACT,
        _OBJECT,
        _DOCUMENTS,
        _reference("ProjectReference", "projectReference"),
        *_PARTIES,
        _payment_means(),
        *_AMOUNTS,
        _line("InvoiceLine", "InvoicedQuantity"),
    ),
)
CREDIT_NOTE: Final = MappingNode(
    "ubl:CreditNote",
    children=(
        *_BEGINNING,
        _TAX_POINT,
        _leaf("CreditNoteTypeCode", "typeCode"),
        _NOTES,
        *_HEAD,
        _CONTRACT,
        _OBJECT,
        _PROJECT_OF_CREDIT,
        _DOCUMENTS,
        _TENDER,
        *_PARTIES,
        # A CreditNote has no due date of its own.
        _payment_means(
            MappingNode("cbc:PaymentDueDate", "/dueDate", only_with=FIRST, date_format=_ISO_DATE)
        ),
        *_AMOUNTS,
        _line("CreditNoteLine", "CreditedQuantity"),
    ),
)
