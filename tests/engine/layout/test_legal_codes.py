"""Codes of the law: the examples of KSeF, the tax agency and ZATCA, what is refused, and symbols that read back."""

from __future__ import annotations

import base64
import json

import pytest

from tests.engine.layout.test_payment_codes import picture_of
from tests.engine.qr_readers import read_twice
from tests.golden.case import OPTIONS
from workers.engine.barcodes import BarcodeSpec
from workers.engine.barcodes.legal_codes import (
    write_ksef,
    write_ksef_certificate,
    write_verifactu,
    write_zatca,
)
from workers.engine.barcodes.payments import InvalidPaymentError
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes import encode_barcode
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind

# https://github.com/CIRFMF/ksef-docs/blob/main/kody-qr.md
HASH = "UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE"
SIGNATURE = (
    "mSkm_XmM9fq7PgAJwiL32L9ujhyguOEV48cDB0ncemD2r9TMGa3lr0iRoFk588agCi8QPsOuscUY1rZ7ff76STbGquO-gZtQys5_fHdf2HUf"
    "DqPqVTnUS6HknBu0zLkyf9ygoW7WbH06Ty_8BgQTlOmJFzNWSt9WZa7tAGuAE9JOooNps-KG2PYkkIP4q4jPMp3FKypAygHVnXtS0RDGgOxh"
    "hM7LWtFP7D-dWINbh5yXD8Lr-JVbeOpyQjHa6WmMYavCDQJ3X_Z-iS01LZu2s1B3xuOykl1h0sLObCdADrbxOONsXrvQa61Xt_rxyprVraj2"
    "Uf9pANQgR4-12HEcMw"
)
KSEF = {"nip": "1111111111", "date": "2026-02-01", "hash": HASH, "environment": "test"}
CERTIFICATE = {
    **{name: KSEF[name] for name in ("nip", "hash", "environment")},
    "serial": "01F20A5D352AE590",
    "signature": SIGNATURE,
}
# The tax agency's document on the QR code and its service, examples of URLs.
VERIFACTU = {
    "nif": "89890001K",
    "number": "12345678&G33",
    "date": "2024-09-01",
    "amount": "241.40",
    "environment": "test",
}
# ZATCA's guide to the fields of the code.
ZATCA = {
    "seller": "Bobs Records",
    "vat_number": "310122393500003",
    "time": "2022-04-25T15:30:00Z",
    "total": "1000.00",
    "vat": "150.00",
}
STAMP = {
    "hash": base64.b64encode(b"h" * 32).decode(),
    "signature": base64.b64encode(b"s" * 70).decode(),
    "public_key": base64.b64encode(b"k" * 88).decode(),
}


def test_the_links_of_ksef_are_those_of_its_documentation():
    invoice = f"https://qr-test.ksef.mf.gov.pl/invoice/1111111111/01-02-2026/{HASH}"
    assert write_ksef(KSEF).decode() == invoice
    path = f"Nip/1111111111/1111111111/01F20A5D352AE590/{HASH}/{SIGNATURE}"
    assert write_ksef_certificate(CERTIFICATE).decode() == (
        f"https://qr-test.ksef.mf.gov.pl/certificate/{path}"
    )


def test_a_hash_in_plain_base64_becomes_that_of_a_link():
    plain = HASH.replace("-", "+").replace("_", "/") + "="
    assert write_ksef({**KSEF, "hash": plain}) == write_ksef(KSEF)
    production = write_ksef({**KSEF, "environment": None})
    assert production.startswith(b"https://qr.ksef.mf.gov.pl/invoice/")


@pytest.mark.parametrize(
    ("verifiable", "path"), [(True, "ValidarQR"), (False, "ValidarQRNoVerifactu")]
)
def test_the_link_of_verifactu_is_that_of_the_tax_agency(verifiable, path):
    assert write_verifactu({**VERIFACTU, "verifiable": verifiable}).decode() == (
        f"https://prewww2.aeat.es/wlpl/TIKE-CONT/{path}"
        "?nif=89890001K&numserie=12345678%26G33&fecha=01-09-2024&importe=241.40"
    )


def test_the_fields_of_zatca_are_those_of_its_guide():
    assert write_zatca(ZATCA) == (
        b"AQxCb2JzIFJlY29yZHMCDzMxMDEyMjM5MzUwMDAwMwMUMjAyMi0wNC0yNVQxNTozMDowMFoEBzEwMDAuMDAFBjE1MC4wMA=="
    )


def test_the_stamp_of_zatca_follows_in_tags_six_to_nine():
    whole = {**ZATCA, **STAMP, "certificate_signature": base64.b64encode(b"c" * 71).decode()}
    for data, most in ((ZATCA | STAMP, 8), (whole, 9)):
        content, fields = base64.b64decode(write_zatca(data)), {}
        while content:
            fields[content[0]], content = content[2 : 2 + content[1]], content[2 + content[1] :]
        assert list(fields) == list(range(1, most + 1))
        assert (fields[6].decode(), fields[8]) == (STAMP["hash"], b"k" * 88)


WRONG = [
    (write_ksef, KSEF, {"nip": "1111111112"}, "wrong check digit"),
    (write_ksef, KSEF, {"hash": "abcd"}, "a SHA-256 has 32"),
    (write_ksef, KSEF, {"hash": "?"}, "not in base64"),
    (write_ksef, KSEF, {"date": None}, 'needs the member "date"'),
    (write_ksef, KSEF, {"environment": "live"}, "one of production, demo, test"),
    (write_ksef_certificate, CERTIFICATE, {"signature": HASH}, "RSA has 256 to 512"),
    (write_ksef_certificate, CERTIFICATE, {"context_type": "Pesel"}, "one of Nip"),
    (write_ksef_certificate, CERTIFICATE, {"context": "a/b"}, "not an identifier"),
    (write_ksef_certificate, CERTIFICATE, {"serial": "xyz"}, "serial number"),
    (write_verifactu, VERIFACTU, {"nif": "89890001A"}, "not a NIF"),
    (write_verifactu, VERIFACTU, {"number": "Nº 1"}, "of ASCII without"),
    (write_verifactu, VERIFACTU, {"number": "a=1"}, "of ASCII without"),
    (write_verifactu, VERIFACTU, {"amount": "1,5"}, "not a number"),
    (write_verifactu, VERIFACTU, {"verifiable": "yes"}, "true or false"),
    (write_verifactu, VERIFACTU, {"nombre": "x"}, 'no member "nombre"'),
    (write_zatca, ZATCA, {"vat_number": "123456789"}, "15 digits"),
    (write_zatca, ZATCA, {"time": "2022-02-30T15:30:00Z"}, "not a time"),
    (write_zatca, ZATCA, {"vat": "2000.00"}, "more than the total"),
    (write_zatca, ZATCA, {"total": "-1"}, "must not be below 0"),
    (write_zatca, ZATCA, {"hash": STAMP["hash"]}, "hash, signature, public_key together"),
    (write_zatca, ZATCA | STAMP, {"seller": "ش" * 127, "public_key": "k" * 300}, "at most 700"),
    (write_zatca, ZATCA | STAMP, {"public_key": "k" * 400}, "at most 255"),
]


@pytest.mark.parametrize(("write", "data", "change", "message"), WRONG)
def test_a_wrong_member_of_a_code_of_the_law_is_named(write, data, change, message):
    with pytest.raises(InvalidPaymentError, match=message):
        write({**data, **change})


@pytest.mark.parametrize(
    ("attribute", "write", "data"),
    [
        ('type="ksef-qr"', write_ksef, KSEF),
        ('type="ksef-certificate-qr"', write_ksef_certificate, CERTIFICATE),
        ('type="verifactu-qr"', write_verifactu, VERIFACTU),
        ('type="zatca-qr"', write_zatca, ZATCA),
    ],
)
def test_a_code_of_the_law_reads_back(attribute, write, data):
    kind = attribute.split('"')[1]
    assert read_twice(picture_of(kind, data)).content == write(data)
    wrong = encode_barcode(BarcodeSpec(kind, data, level="L"))
    assert isinstance(wrong, ContentProblem)


@pytest.mark.parametrize(("width", "is_wrong"), [("", False), ("38mm", False), ("20mm", True)])
def test_a_code_of_verifactu_has_30_to_40_mm(width, is_wrong):
    size = f'width="{width}"' if width else ""
    data = json.dumps(VERIFACTU).replace('"', "'").replace("&", "&amp;")
    text = f'<document><flow><barcode type="verifactu-qr" {size} alt="QR" value="{{{{ {data} }}}}"/></flow></document>'
    rendered = render(None, Payload(PayloadKind.XML, text.encode()), options=OPTIONS)
    assert ["barcode-size"] * is_wrong == [one.code for one in rendered.warnings]
