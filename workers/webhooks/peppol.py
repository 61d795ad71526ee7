"""Invoices in Peppol's envelope, ready for an access point (Peppol Business Message Envelope 2.0.1)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import BinaryIO, Final
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape

from shared.clock import timestamp
from shared.limits import MB

_MAX_PDF: Final = 20 * MB  # held in memory; other files of a run may be of any size

_DECLARATION: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>)?")
# The terms of EN 16931 that say who sends what to whom.
_NEEDED: Final = {
    "processType": "the business process (BT-23)",
    "seller.electronicAddress": "the seller's electronic address (BT-34)",
    "seller.electronicAddressScheme": "its scheme",
    "seller.address.country": "the seller's country (BT-40)",
    "buyer.electronicAddress": "the buyer's electronic address (BT-49)",
    "buyer.electronicAddressScheme": "its scheme",
}
_ENVELOPE: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader">
<StandardBusinessDocumentHeader>
<HeaderVersion>1.0</HeaderVersion>
<Sender><Identifier Authority="iso6523-actorid-upis">{sender}</Identifier></Sender>
<Receiver><Identifier Authority="iso6523-actorid-upis">{receiver}</Identifier></Receiver>
<DocumentIdentification>
<Standard>{namespace}</Standard>
<TypeVersion>2.1</TypeVersion>
<InstanceIdentifier>{identifier}</InstanceIdentifier>
<Type>{root}</Type>
<CreationDateAndTime>{at}</CreationDateAndTime>
</DocumentIdentification>
<BusinessScope>
<Scope><Type>DOCUMENTID</Type><InstanceIdentifier>{namespace}::{root}##{guideline}::2.1</InstanceIdentifier><Identifier>busdox-docid-qns</Identifier></Scope>
<Scope><Type>PROCESSID</Type><InstanceIdentifier>{process}</InstanceIdentifier><Identifier>cenbii-procid-ubl</Identifier></Scope>
<Scope><Type>COUNTRY_C1</Type><InstanceIdentifier>{country}</InstanceIdentifier></Scope>
</BusinessScope>
</StandardBusinessDocumentHeader>
"""


def wrap_invoice(pdf: BinaryIO, *, delivery_id: str, at: datetime) -> bytes:
    """Return the UBL invoice in a PDF in an envelope, with the same identifier in each attempt.

    Raises:
        ValueError: the PDF has none that can be sent; the message says why.
    """
    # What reads invoices is loaded with the first of them.
    from workers.engine.einvoices import PROFILES, find_member, read_invoice
    from workers.engine.invoice_checks import UnreadablePdfError, read_embedded_invoice
    from workers.engine.xml_reader import UnreadableXmlError

    data = pdf.read(_MAX_PDF + 1)
    if len(data) > _MAX_PDF:
        raise ValueError(f"the PDF has more than {_MAX_PDF:,} bytes")
    try:
        _, content = read_embedded_invoice(data)
        invoice = read_invoice(content)
    except (UnreadablePdfError, UnreadableXmlError) as error:
        raise ValueError(str(error)) from error
    if invoice is None or invoice.syntax.name != "ubl":
        raise ValueError('its invoice is not UBL: write it with syntax="ubl" or profile="peppol"')
    if not invoice.facts.specification.startswith(PROFILES["en16931"].guideline):
        raise ValueError("the specification of its invoice (BT-24) is none of EN 16931")
    found = {path: find_member(invoice.record, path) for path in _NEEDED}
    missing = [what for path, what in _NEEDED.items() if not found[path]]
    if missing:
        raise ValueError(f"its invoice lacks {', '.join(missing)}")
    sender, receiver = (
        f"{found[f'{party}.electronicAddressScheme']}:{found[f'{party}.electronicAddress']}"
        for party in ("seller", "buyer")
    )
    header = _ENVELOPE.format(
        sender=escape(sender),
        receiver=escape(receiver),
        namespace=invoice.syntax.prefixes["ubl"],
        root=invoice.syntax.root_name,
        identifier=uuid5(NAMESPACE_URL, delivery_id),
        at=timestamp(at),
        guideline=escape(invoice.facts.specification),
        process=escape(found["processType"]),
        country=escape(found["seller.address.country"]),
    )
    body = _DECLARATION.sub(b"", content, count=1)
    return b"%b%b\n</StandardBusinessDocument>\n" % (header.encode(), body)
