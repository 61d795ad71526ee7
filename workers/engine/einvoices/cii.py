"""The mapping of Cross Industry Invoice (UN/CEFACT D22B), the syntax of Factur-X and ZUGFeRD 2."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.einvoices.mapping import FIRST, ElementMaker, MappingNode

_STANDARD: Final = "urn:un:unece:uncefact:data:standard"
PREFIXES: Final = {
    "rsm": f"{_STANDARD}:CrossIndustryInvoice:100",
    "ram": f"{_STANDARD}:ReusableAggregateBusinessInformationEntity:100",
    "qdt": f"{_STANDARD}:QualifiedDataType:100",
    "udt": f"{_STANDARD}:UnqualifiedDataType:100",
}
ROOT: Final = f"{{{PREFIXES['rsm']}}}CrossIndustryInvoice"


_MAKER: Final = ElementMaker("ram", "ram")
_parent, _leaf, _nested, _fixed = _MAKER.parent, _MAKER.leaf, _MAKER.nested, _MAKER.fixed


def _date(tag: str, value: str, *, name: str = "udt:DateTimeString") -> MappingNode:
    return _parent(tag, MappingNode(name, value, attributes=(("format", "=102"),)))


def _reference(value: str) -> MappingNode:
    return MappingNode("ram:IssuerAssignedID", value)


def _indicator(value: str) -> MappingNode:
    return _parent("ChargeIndicator", MappingNode("udt:Indicator", constant=value))


_ADDRESS: Final = _parent(
    "PostalTradeAddress",
    _leaf("PostcodeCode", "postCode"),
    _leaf("LineOne", "line1"),
    _leaf("LineTwo", "line2"),
    _leaf("LineThree", "line3"),
    _leaf("CityName", "city"),
    _leaf("CountryID", "country"),
    _leaf("CountrySubDivisionName", "subdivision"),
    inside="address",
)
_CONTACT: Final = _parent(
    "DefinedTradeContact",
    _leaf("PersonName", "name"),
    MappingNode("ram:DepartmentName", "name", is_read_only=True),
    _nested("TelephoneUniversalCommunication/CompleteNumber", "phone"),
    _nested("EmailURIUniversalCommunication/URIID", "email"),
    inside="contact",
)
_REGISTRATION: Final = _leaf("ID", "registrationId", schemeID="registrationScheme")
_ADDRESS_ONLINE: Final = _nested(
    "URIUniversalCommunication/URIID", "electronicAddress", schemeID="electronicAddressScheme"
)
_VAT_ID: Final = _parent(
    "SpecifiedTaxRegistration", MappingNode("ram:ID", "vatId", attributes=(("schemeID", "=VA"),))
)
_TYPE: Final = _fixed("TypeCode", "VAT")


def _own_id(value: str, scheme: str) -> tuple[MappingNode, MappingNode]:
    """Return the elements of an identifier: `GlobalID` if it has a scheme, else `ID`."""
    return (
        MappingNode("ram:ID", value, only_without=scheme),
        MappingNode("ram:GlobalID", value, attributes=(("schemeID", scheme),), only_with=scheme),
    )


_SELLER: Final = _parent(
    "SellerTradeParty",
    MappingNode("ram:ID", "id", each="ids", only_without="scheme"),
    MappingNode(
        "ram:GlobalID", "id", each="ids", attributes=(("schemeID", "scheme"),), only_with="scheme"
    ),
    _leaf("Name", "name"),
    _leaf("Description", "legalInformation"),
    _parent(
        "SpecifiedLegalOrganization", _REGISTRATION, _leaf("TradingBusinessName", "tradingName")
    ),
    _CONTACT,
    _ADDRESS,
    _ADDRESS_ONLINE,
    _VAT_ID,
    _nested("SpecifiedTaxRegistration/ID", "taxNumber", schemeID="=FC"),
    inside="seller",
)
_BUYER: Final = _parent(
    "BuyerTradeParty",
    *_own_id("id", "idScheme"),
    _leaf("Name", "name"),
    _parent(
        "SpecifiedLegalOrganization", _REGISTRATION, _leaf("TradingBusinessName", "tradingName")
    ),
    _CONTACT,
    _ADDRESS,
    _ADDRESS_ONLINE,
    _VAT_ID,
    inside="buyer",
)
_AGREEMENT: Final = _parent(
    "ApplicableHeaderTradeAgreement",
    _leaf("BuyerReference", "buyerReference"),
    _SELLER,
    _BUYER,
    _parent("SellerTaxRepresentativeTradeParty", _leaf("Name", "name"), _ADDRESS, _VAT_ID, inside="taxRepresentative"),
    _nested("SellerOrderReferencedDocument/IssuerAssignedID", "salesOrderReference"),
    _nested("BuyerOrderReferencedDocument/IssuerAssignedID", "orderReference"),
    _nested("ContractReferencedDocument/IssuerAssignedID", "contractReference"),
    _parent(
        "AdditionalReferencedDocument",
        _reference("id"),
        _leaf("URIID", "url"),
        _fixed("TypeCode", "916"),
        _leaf("Name", "description"),
        _leaf("AttachmentBinaryObject", "content", mimeCode="mediaType", filename="fileName"),
        each="documents",
    ),
    _parent("AdditionalReferencedDocument", _reference("tenderReference"), _fixed("TypeCode", "50")),
    _parent(
        "AdditionalReferencedDocument",
        _reference("objectReference"),
        _fixed("TypeCode", "130"),
        MappingNode("ram:ReferenceTypeCode", "objectReferenceScheme", only_with="objectReference"),
    ),
    _parent("SpecifiedProcuringProject", _leaf("ID", "projectReference"), MappingNode("ram:Name", filler="Project reference")),
)  # fmt: skip
_DELIVERY: Final = _parent(
    "ApplicableHeaderTradeDelivery",
    _parent(
        "ShipToTradeParty",
        *_own_id("locationId", "locationScheme"),
        _leaf("Name", "name"),
        _ADDRESS,
        inside="delivery",
    ),
    _parent("ActualDeliverySupplyChainEvent", _date("OccurrenceDateTime", "delivery.date")),
    _nested("DespatchAdviceReferencedDocument/IssuerAssignedID", "despatchAdviceReference"),
    _nested("ReceivingAdviceReferencedDocument/IssuerAssignedID", "receivingAdviceReference"),
    is_always_written=True,
)
_PERIOD: Final = _parent(
    "BillingSpecifiedPeriod",
    _date("StartDateTime", "start"),
    _date("EndDateTime", "end"),
    inside="period",
)
_PAYMENT_MEANS: Final = MappingNode(
    "ram:SpecifiedTradeSettlementPaymentMeans",
    children=(
        _leaf("TypeCode", "../meansCode"),
        MappingNode("ram:Information", "../meansText"),
        _parent(
            "ApplicableTradeSettlementFinancialCard",
            _leaf("ID", "../card.number"),
            _leaf("CardholderName", "../card.holder"),
        ),
        _nested("PayerPartyDebtorFinancialAccount/IBANID", "../directDebit.iban"),
        _parent(
            "PayeePartyCreditorFinancialAccount",
            _leaf("IBANID", "iban"),
            _leaf("AccountName", "name"),
            _leaf("ProprietaryID", "accountId"),
        ),
        _nested("PayeeSpecifiedCreditorFinancialInstitution/BICID", "bic"),
    ),
    inside="payment",
    each="accounts",
    is_single=True,
)


# EXTENDED alone has these. Its costs of logistics are charges for every rule (BR-FXEXT-CO-12).
_LOGISTICS: Final = _parent(
    "SpecifiedLogisticsServiceCharge",
    _leaf("Description", "reason"),
    _leaf("AppliedAmount", "amount"),
    _parent(
        "AppliedTradeTax",
        _leaf("CategoryCode", "vatCategory"),
        _leaf("RateApplicablePercent", "vatRate"),
    ),
    each="charges",
    is_read_only=True,
)
# What is collected for others is due as a rounding is (BR-FXEXT-CO-16).
_THIRD_PARTY: Final = _parent(
    "SpecifiedFinancialAdjustment",
    MappingNode("ram:ActualAmount", "/totals.rounding", is_summed=True),
    is_read_only=True,
)
# Subtotals and information have no part in the sums (BR-FXEXT-CO-10).
_NO_DETAILS: Final = tuple(
    _parent(
        "IncludedSupplyChainTradeLineItem",
        _parent("AssociatedDocumentLineDocument", _fixed("LineStatusReasonCode", kind)),
        is_read_only=True,
    )
    for kind in ("GROUP", "INFORMATION")
)


_VAT_OF_ADJUSTMENT: Final = _parent(
    "CategoryTradeTax",
    _TYPE,
    _leaf("CategoryCode", "vatCategory"),
    _leaf("RateApplicablePercent", "vatRate"),
)


def _adjustment(each: str, indicator: str, *more: MappingNode) -> MappingNode:
    return _parent(
        "SpecifiedTradeAllowanceCharge",
        _indicator(indicator),
        _leaf("CalculationPercent", "percent"),
        _leaf("BasisAmount", "baseAmount"),
        _leaf("ActualAmount", "amount"),
        _leaf("ReasonCode", "reasonCode"),
        _leaf("Reason", "reason"),
        *more,
        each=each,
    )


_TOTALS: Final = _parent(
    "SpecifiedTradeSettlementHeaderMonetarySummation",
    _leaf("LineTotalAmount", "lines"),
    _leaf("ChargeTotalAmount", "charges"),
    _leaf("AllowanceTotalAmount", "allowances"),
    _leaf("TaxBasisTotalAmount", "withoutVat"),
    _leaf("TaxTotalAmount", "vat", currencyID="/currency"),
    _leaf("TaxTotalAmount", "vatInTaxCurrency", currencyID="/taxCurrency"),
    _leaf("RoundingAmount", "rounding"),
    _leaf("GrandTotalAmount", "withVat"),
    _leaf("TotalPrepaidAmount", "paid"),
    _leaf("DuePayableAmount", "due"),
    inside="totals",
)
_SETTLEMENT: Final = _parent(
    "ApplicableHeaderTradeSettlement",
    _leaf("CreditorReferenceID", "payment.directDebit.creditorId"),
    _leaf("PaymentReference", "payment.remittanceInformation"),
    _leaf("TaxCurrencyCode", "taxCurrency"),
    _leaf("InvoiceCurrencyCode", "currency"),
    _parent(
        "PayeeTradeParty",
        *_own_id("id", "idScheme"),
        _leaf("Name", "name"),
        _parent("SpecifiedLegalOrganization", _REGISTRATION),
        inside="payee",
    ),
    _PAYMENT_MEANS,
    _parent(
        "ApplicableTradeTax",
        _leaf("CalculatedAmount", "vat"),
        _TYPE,
        _leaf("ExemptionReason", "exemptionReason"),
        _leaf("BasisAmount", "taxable"),
        _leaf("CategoryCode", "category"),
        _leaf("ExemptionReasonCode", "exemptionReasonCode"),
        replace(_date("TaxPointDate", "/taxPointDate", name="udt:DateString"), only_with=FIRST),
        _leaf("DueDateTypeCode", "/taxPointDateCode"),
        _leaf("RateApplicablePercent", "rate"),
        each="vatBreakdown",
    ),
    _PERIOD,
    _adjustment("allowances", "false", _VAT_OF_ADJUSTMENT),
    _adjustment("charges", "true", _VAT_OF_ADJUSTMENT),
    _LOGISTICS,
    _THIRD_PARTY,
    _parent(
        "SpecifiedTradePaymentTerms",
        _leaf("Description", "paymentTerms"),
        _date("DueDateDateTime", "dueDate"),
        _leaf("DirectDebitMandateID", "payment.directDebit.mandate"),
    ),
    _TOTALS,
    _parent(
        "InvoiceReferencedDocument",
        _leaf("IssuerAssignedID", "number"),
        _date("FormattedIssueDateTime", "issueDate", name="qdt:DateTimeString"),
        each="precedingInvoices",
    ),
    _nested("ReceivableSpecifiedTradeAccountingAccount/ID", "buyerAccountingReference"),
)  # fmt: skip
_PRODUCT: Final = _parent(
    "SpecifiedTradeProduct",
    _leaf("GlobalID", "standardId", schemeID="standardScheme"),
    _leaf("SellerAssignedID", "sellerId"),
    _leaf("BuyerAssignedID", "buyerId"),
    _leaf("Name", "name"),
    _leaf("Description", "description"),
    _parent(
        "ApplicableProductCharacteristic",
        _leaf("Description", "name"),
        _leaf("Value", "value"),
        each="attributes",
    ),
    _parent(
        "DesignatedProductClassification",
        _leaf("ClassCode", "code", listID="scheme", listVersionID="version"),
        each="classifications",
    ),
    _nested("OriginTradeCountry/ID", "origin"),
)
_LINE: Final = _parent(
    "IncludedSupplyChainTradeLineItem",
    _parent("AssociatedDocumentLineDocument", _leaf("LineID", "id"), _nested("IncludedNote/Content", "note")),
    _PRODUCT,
    _parent(
        "SpecifiedLineTradeAgreement",
        _parent("BuyerOrderReferencedDocument", _leaf("LineID", "orderLine")),
        _parent(
            "GrossPriceProductTradePrice",
            _leaf("ChargeAmount", "price.gross"),
            _parent("AppliedTradeAllowanceCharge", _indicator("false"), _leaf("ActualAmount", "price.discount")),
        ),
        _parent(
            "NetPriceProductTradePrice",
            _leaf("ChargeAmount", "price.net"),
            _leaf("BasisQuantity", "price.baseQuantity", unitCode="price.baseUnit"),
        ),
    ),
    _parent("SpecifiedLineTradeDelivery", _leaf("BilledQuantity", "quantity", unitCode="unit")),
    _parent(
        "SpecifiedLineTradeSettlement",
        _parent("ApplicableTradeTax", _TYPE, _leaf("CategoryCode", "vatCategory"), _leaf("RateApplicablePercent", "vatRate")),
        _PERIOD,
        _adjustment("allowances", "false"),
        _adjustment("charges", "true"),
        _nested("SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount", "netAmount"),
        _parent(
            "AdditionalReferencedDocument",
            _reference("objectReference"),
            _fixed("TypeCode", "130"),
            MappingNode("ram:ReferenceTypeCode", "objectReferenceScheme", only_with="objectReference"),
        ),
        _nested("ReceivableSpecifiedTradeAccountingAccount/ID", "accountingReference"),
    ),
    each="lines",
)  # fmt: skip

# `guideline` is BT-24, which the profile determines.
INVOICE: Final = MappingNode(
    "rsm:CrossIndustryInvoice",
    children=(
        MappingNode(
            "rsm:ExchangedDocumentContext",
            children=(
                _nested("BusinessProcessSpecifiedDocumentContextParameter/ID", "processType"),
                _nested("GuidelineSpecifiedDocumentContextParameter/ID", "guideline"),
            ),
        ),
        MappingNode(
            "rsm:ExchangedDocument",
            children=(
                _leaf("ID", "number"),
                _leaf("TypeCode", "typeCode"),
                _date("IssueDateTime", "issueDate"),
                _parent("IncludedNote", _leaf("Content", "text"), _leaf("SubjectCode", "subjectCode"), each="notes"),
            ),
        ),
        MappingNode("rsm:SupplyChainTradeTransaction", children=(*_NO_DETAILS, _LINE, _AGREEMENT, _DELIVERY, _SETTLEMENT)),
    ),
)  # fmt: skip
