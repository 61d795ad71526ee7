"""Bar code symbologies and the values they encode, without drawing."""

from workers.engine.barcodes.gs1 import InvalidValueError, find_doubtful
from workers.engine.barcodes.payments import SLIP_TEXTS, InvalidPaymentError, read_sepa_slip
from workers.engine.barcodes.postal import StateBars
from workers.engine.barcodes.swiss_qr import (
    BILL_TEXTS,
    NOTICES,
    SwissBill,
    adapt_signs,
    read_swiss_bill,
)
from workers.engine.barcodes.symbologies import (
    QR_LEVELS,
    SYMBOLOGIES,
    BarcodeSpec,
    PaymentFormat,
    Symbology,
    SymbolShape,
)
from workers.engine.barcodes.values import BarcodeValue, read_add_on, read_escapes
