"""Each public template is good with its sample values, real payloads, little, and very much."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from PIL import Image

from deploy.tools.gallery import MAX_BYTES, OPTIONS, PICTURES, draw_page, render_templates
from shared.templates.public import FOLDER
from tests.engine.einvoices.official import find_broken, find_schema_errors
from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.qr_readers import read_twice
from workers.engine.diagnostics import AuthoringError
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, Resources

SAMPLES = Path(__file__).parents[2] / "deploy/samples"
TEMPLATES = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("service-*.xml"))}
KINDS = {".json": PayloadKind.JSON, ".csv": PayloadKind.CSV}
LONG = (
    "Northern Harbour Joinery and Restoration Cooperative of the Lower Elbe, Branch Office Hamburg"
)
MUCH = 200

# Payloads of little and much are made from the declarations of a template, but for these.
EMPTY = {
    "service-invoice": {"due": None, "reference": None, "payment": None},
    "service-qr-bill": {"due": None, "intro": None, "bill": {"debtor": None}},
    "service-simple-invoice": {"due": None, "iban": None},
}
FULL = {
    "service-contract": {
        "title": LONG,
        "parties": [{"name": LONG, "called": LONG, "lines": [LONG] * 3, "signatory": LONG, "role": LONG}] * MUCH,
        "terms": [{"label": LONG, "value": LONG}] * 9,
        "clauses": [{"title": LONG, "paragraphs": [LONG * 3] * 2} for _ in range(MUCH)],
        "annexes": [LONG] * 5,
    },
    "service-credit-note": {
        "seller": {"name": LONG, "lines": [LONG] * 3},
        "buyer": {"name": LONG, "lines": [LONG] * 3},
        "reason": LONG,
        "invoices": [{"number": f"2026-{n:04}", "date": "2026-01-31"} for n in range(MUCH)],
        "lines": [
            {"text": LONG, "details": LONG, "qty": n - 3, "price": 98765.43, "rate": n % 3 / 10}
            for n in range(MUCH)
        ],
    },
    "service-form": {
        "title": LONG,
        "sections": [
            {
                "title": LONG,
                "fields": [
                    [{"name": f"a{n}", "label": LONG, "value": "a"}, {"name": f"b{n}", "label": LONG, "type": "lines", "hint": LONG}],
                    {"name": f"c{n}", "label": LONG, "type": "checkbox", "value": True},
                ],
            }
            for n in range(MUCH)
        ],
        "declarations": [{"name": f"d{n}", "text": LONG * 2, "value": False} for n in range(9)],
    },
    "service-letter": {
        "from": {"name": LONG},
        "to": {"name": LONG, "lines": [LONG] * 6},
        "subject": LONG,
        "paragraphs": [LONG] * MUCH,
        "enclosures": [LONG] * 4,
    },
    "service-payslip": {
        "employer": {"name": LONG, "lines": [LONG] * 3},
        "employee": {"name": LONG, "lines": [LONG] * 3, "number": "1", "role": LONG},
        "facts": [{"label": LONG, "value": LONG}] * 3,
        "earnings": [{"text": LONG, "qty": n, "unit": "days", "rate": 98765.43} for n in range(MUCH)],
        "deductions": [{"text": LONG, "base": 98765.43, "rate": 0.5, "amount": 98765.43, "year": 1} for n in range(MUCH)],
    },
    "service-qr-bill": {
        "heading": LONG,
        "intro": LONG,
        "lines": [{"text": LONG, "qty": n, "price": 198.43} for n in range(MUCH)],
    },
    "service-received-invoice": {
        "findings": [{"severity": "error", "rule": "BR-1", "place": "/a" * 99, "message": LONG}] * 50,
        "sections": [
            {"title": LONG, "terms": [{"number": "BT-1", "label": LONG, "kind": "text", "value": LONG * 3}] * 20}
        ] * 20,
        "lines": [
            {"id": str(n), "name": LONG, "quantity": n, "unit": "C62", "price": 98765.43, "amount": 98765.43,
             "terms": [{"number": "BT-9", "label": LONG, "kind": "date", "value": "2026-01-31"}] * 9}
            for n in range(MUCH)
        ],
    },
    "service-report": {
        "title": LONG,
        "author": LONG,
        "summary": LONG,
        "figures": [{"label": LONG, "value": "98,765.43", "note": LONG}] * 7,
        "chapters": [
            {"title": LONG, "text": LONG, "columns": [LONG, "2025"], "rows": [[LONG, n] for n in range(MUCH)]},
            {"title": LONG, "chart": {"title": LONG, "names": ["North"] * 12, "series": [{"label": LONG, "values": [*range(12)]}] * 4}},
        ],
    },
}  # fmt: skip


PRODUCTION = replace(OPTIONS, with_sample=False)
LINKED = LinkedFiles(FOLDER)
BRANDED = {name for name, text in TEMPLATES.items() if b"service-brand-parts" in text}
BRANDED.add("service-brand-parts")
ONE_PAGE = {"service-brand-parts", "service-receipt", "service-us-letter"}
# What an address of much too long lines is warned of.
OF_LONG_ADDRESSES = {"address-width", "address-lines"}


@cache
def prepare(template):
    return prepare_template(TEMPLATES[template], LINKED)


def make_little(template):
    """Return a payload without what the template does not require."""
    return _keep_required(prepare(template).source.declarations)


def _keep_required(declarations):
    needed = {
        each.path for each in (*declarations.fields, *declarations.datasets) if each.is_required
    }

    def keep(value, path):
        if isinstance(value, dict):
            return {name: keep(inner, (*path, name)) for name, inner in value.items()}
        if path in needed or path == ("lang",):
            return value[:1] if isinstance(value, list) else value
        return [] if isinstance(value, list) else None

    return keep(declarations.sample, ())


def make_much(template):
    """Return the sample with two hundred of each record, long texts and amounts of eleven digits."""
    declarations = prepare(template).source.declarations
    open_ = {
        each.path
        for each in (*declarations.fields, *declarations.datasets)
        if getattr(each, "pattern", None) or getattr(each, "values", None)
    }

    most = {each.path: each.max_rows or MUCH for each in declarations.datasets}

    def grow(value, path, times):
        if isinstance(value, dict):
            return {name: grow(inner, (*path, name), 1) for name, inner in value.items()}
        if isinstance(value, list):
            is_records = value and isinstance(value[0], dict) and times
            count = min(most.get(path, MUCH), MUCH) if is_records else min(len(value), 3)
            return [grow(value[n % len(value)], path, 0) for n in range(count)] if value else value
        is_word = isinstance(value, str) and " " in value and path not in open_
        return LONG if is_word else value

    return grow(declarations.sample, (), 1)


def draw(template, payload=None, options=OPTIONS, allowed=frozenset()):
    rendered = draw_once(template, payload, options is PRODUCTION)
    assert {each.code for each in rendered.warnings} <= allowed
    return rendered


@cache
def draw_once(template, payload, is_production):
    options = PRODUCTION if is_production else OPTIONS
    return render(prepare(template), payload, options=options, resources=Resources())


def send(template, data, **more):
    return draw(template, Payload(PayloadKind.JSON, json.dumps(data, default=str).encode()), **more)


def text_of(rendered):
    with pypdfium2.PdfDocument(rendered.pdf) as document:
        return "".join(page.get_textpage().get_text_range() for page in document)


def page_of(rendered):
    with pypdfium2.PdfDocument(rendered.pdf) as document:
        return document[0].render(scale=2).to_pil()


def pixels(png):
    file = io.BytesIO(png) if isinstance(png, bytes) else png
    with Image.open(file) as picture:
        return picture.convert("RGB").tobytes()


def test_the_templates_ship_with_payloads_of_their_own():
    assert {path.stem for path in SAMPLES.glob("*.json")} == TEMPLATES.keys()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_renders_as_it_stands_on_one_page(template):
    assert draw(template).pages == 1


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_sample_payload_renders(sample):
    options = PRODUCTION if sample.suffix == ".json" else OPTIONS
    draw(sample.stem, Payload(KINDS[sample.suffix], sample.read_bytes()), options)


@pytest.mark.parametrize("template", TEMPLATES)
def test_production_without_data_is_refused_with_every_required_field(template):
    source = prepare(template)
    with pytest.raises(AuthoringError) as caught:
        render(source, Payload(PayloadKind.JSON, b"{}"), options=PRODUCTION)
    declared = source.source.declarations
    required = [each for each in (*declared.fields, *declared.datasets) if each.is_required]
    named = {each.message.split()[0] for each in caught.value.diagnostics}
    assert named == {"/" + "/".join(each.path) for each in required}
    assert {each.code for each in caught.value.diagnostics} == {"required"}


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_sample_value_is_in_a_production_document(template):
    source = prepare(template)
    sample = (SAMPLES / f"{template}.json").read_bytes()
    sent, shown = (
        sample.decode(),
        text_of(draw(template, Payload(PayloadKind.JSON, sample), PRODUCTION)),
    )
    defaults = json.dumps(source.source.declarations.defaults, ensure_ascii=False, default=str)
    leaked = [
        text
        for text in _texts(source.source.declarations.sample)
        if len(text) > 3 and text in shown and text not in sent + defaults
    ]
    assert leaked == []


def _texts(value):
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [text for part in parts for text in _texts(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_misspelled_member_is_refused(template):
    (member, *_) = json.loads((SAMPLES / f"{template}.json").read_text()).keys() - {"used", "logo"}
    with pytest.raises(AuthoringError, match="did you mean"):
        send(template, {member.upper() if member.islower() else member.lower(): 1})


@pytest.mark.parametrize("template", TEMPLATES)
def test_empty_lists_leave_a_page_that_still_reads_well(template):
    data = EMPTY[template] if template in EMPTY else make_little(template)
    assert send(template, data).pages == 1


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
def test_two_hundred_records_with_long_names_fit(template):
    data = FULL[template] if template in FULL else make_much(template)
    rendered = send(template, data, allowed=OF_LONG_ADDRESSES)
    assert rendered.pages > 1 or template in ONE_PAGE
    with pikepdf.open(io.BytesIO(rendered.pdf)) as opened:
        assert len(opened.pages) == rendered.pages


WIDE = 123_456_789_012_345.67
COMPOUND = "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung"
AMOUNTS = {
    "service-invoice": {"lines": [{"text": COMPOUND, "price": WIDE, "rate": 0.19}] * 3},
    "service-credit-note": {"lines": [{"text": COMPOUND, "price": WIDE, "rate": 0.19}] * 3},
    "service-simple-invoice": {"lines": [{"text": COMPOUND, "qty": 1, "price": WIDE}] * 3},
    "service-statement": {
        "opening": WIDE,
        "transactions": [
            {"date": "2026-01-31", "reference": "R-1", "details": COMPOUND, "debit": WIDE}
        ],
    },
    "service-payslip": {"earnings": [{"text": COMPOUND, "amount": 123_456_789_012.34}]},
    # These are so long that sums are carried to the next page.
    "service-quote": {"lines": [{"text": COMPOUND, "price": WIDE, "rate": 0.19}] * 40},
    "service-us-invoice": {"lines": [{"text": COMPOUND, "price": WIDE}] * 40},
    "service-utility-bill": {"charges": [{"text": COMPOUND, "price": WIDE}] * 40},
    "service-dunning-letter": {
        "invoices": [{"number": COMPOUND, "due": "2026-01-31", "amount": WIDE}] * 40
    },
    "service-account-statement": {
        "opening": WIDE,
        "movements": [{"date": "2026-01-31", "text": COMPOUND, "amount": WIDE}] * 40,
    },
    "service-receipt": {"lines": [{"text": COMPOUND, "qty": 90, "price": WIDE, "rate": 0.19}]},
    "service-voucher": {"vouchers": [{"code": "NW26-7KQ4", "value": WIDE}]},
    "service-insurance-policy": {
        "covers": [{"text": COMPOUND, "limit": WIDE, "premium": WIDE}] * 9
    },
    "service-catalogue-page": {
        "articles": [{"number": "A-1", "name": COMPOUND, "price": WIDE}] * 9
    },
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("template", "lang"),
    [
        (template, lang)
        for template in AMOUNTS
        # Those that share their tables are read in the two languages with the widest amounts.
        for lang in (["de", "ar"] if template in BRANDED else ["en", "de", "fr", "ar", "ja", "th"])
    ],
)
def test_amounts_of_fifteen_digits_stand_whole(template, lang):
    shown = text_of(send(template, {"lang": lang, **AMOUNTS[template]}))
    digits = re.sub(r"[^\d\n]", "", shown.replace("\r", ""))
    wanted = "12345678901234" if template == "service-payslip" else "12345678901234567"
    assert wanted in digits


@pytest.mark.parametrize(
    "template",
    [
        "service-invoice",
        "service-credit-note",
        "service-letter",
        "service-statement",
        "service-payslip",
    ],
)
@pytest.mark.parametrize("lines", [["a"], [LONG] * 3])
def test_only_sender_and_address_stand_in_the_window_of_din_5008_b(template, lines):
    """Its field is 45 to 90 mm from the top and 20 to 105 mm from the left; text begins at 98.46 mm."""
    names = {"service-letter": "to", "service-statement": "holder", "service-payslip": "employee"}
    address = {"name": LONG if len(lines) > 1 else "A", "lines": lines}
    if template == "service-payslip":
        address["number"] = "1"
    data = {names.get(template, "buyer"): address}
    picture = page_of(send(template, data, allowed=OF_LONG_ADDRESSES)).convert("L")
    dot = picture.width / 210

    def has_ink(left, top, right, bottom):
        part = picture.crop([round(edge * dot) for edge in (left, top, right, bottom)])
        return part.getextrema()[0] < 200

    assert has_ink(20, 62.7, 105, 90)
    assert not has_ink(0, 90.2, 105, 98.4)
    assert not has_ink(0, 42.5, 105, 50)


WINDOWS = ["din5008-a", "din5008-b", "iso269-dl", "sn010130-left", "sn010130-right"]
WINDOWS += ["bs-window", "nf-z11", "us-10"]


@pytest.mark.parametrize("template", ["service-quote", "service-letter", "service-statement"])
def test_all_that_a_sender_says_fits_beside_each_window(template):
    for window in WINDOWS:
        shown = send(template, {"window": window})
        said = ("4 Quayside", "NE1 3DX", "office@example.com", "www.example.com")
        assert (window, shown.pages) == (window, 1)
        assert [word for word in said if word not in text_of(shown)] == []


@pytest.mark.parametrize(
    ("template", "data"),
    [
        ("service-event-ticket", {"tickets": [{"code": "ABC-123", "holder": COMPOUND}]}),
        ("service-voucher", {"vouchers": [{"code": "ABC-123", "value": 5, "to": COMPOUND}]}),
        ("service-labels", {"labels": [{"title": COMPOUND}]}),
        ("service-certificate", {"signatories": [{"name": COMPOUND}]}),
        ("service-shipping-label", {"sender": {"lines": [COMPOUND]}}),
        ("service-catalogue-page", {"intro": COMPOUND}),
        ("service-quote", {"sender": {"lines": [COMPOUND]}}),
    ],
)
def test_a_word_longer_than_its_line_is_broken_with_a_hyphen(template, data):
    shown = text_of(send(template, {"lang": "de", **data}, allowed=OF_LONG_ADDRESSES))
    assert re.sub(r"\s", "", shown).count(COMPOUND) == shown.count(COMPOUND)


def test_account_numbers_and_separators_begin_no_line():
    assert "DE02 1203 0000 0000 2020 51" in text_of(send("service-tax-certificate", {}))
    parties = [{"name": LONG}] * 5
    assert "\n\u00b7" not in text_of(send("service-contract", {"parties": parties}))


def test_days_are_written_as_their_language_has_them():
    for lang, day in (("de", "Mo., 2. März"), ("he", "במרץ"), ("ja", "3月2日")):
        assert day in text_of(send("service-timesheet", {"lang": lang})).replace("\u2009", "")


@pytest.mark.parametrize("template", ["service-invoice", "service-credit-note", "service-quote"])
def test_a_quantity_stands_before_its_unit_on_an_arabic_page(template):
    lines = [{"text": "a", "qty": 7, "unit": "pcs", "price": 1}]
    assert "7 pcs" in text_of(send(template, {"lang": "ar", "lines": lines}))


def test_an_address_in_an_arabic_line_of_the_sender_keeps_its_order():
    shown = text_of(send("service-statement", {"lang": "ar", "issuer": {"name": "مصرف الميناء"}}))
    assert "\u00b7 4 Quayside \u00b7 Newcastle" in shown


def accessible(template: str) -> bytes:
    """Return a template that promises to conform to PDF/UA-1."""
    source = re.sub(r'(<document\b[^>]*?)\sprofile="[^"]*"', r"\1", TEMPLATES[template].decode())
    return re.sub(r"<document\b", '<document profile="pdf/ua-1"', source, count=1).encode()


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_is_accessible_in_every_language_that_it_speaks(template):
    prepared = prepare_template(accessible(template), LINKED)
    for lang in ("en", "de", "fr", "es", "it", "nl", "ja", "ar", "he", "th"):
        payload = Payload(PayloadKind.JSON, json.dumps({"lang": lang}).encode())
        made = render(prepared, payload, options=OPTIONS, resources=Resources())
        assert (lang, made.pages, list(made.warnings)) == (lang, 1, [])
        assert (lang, find_violations(made.pdf, promises=True)) == (lang, [])


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_says_nothing_that_low_vision_cannot_read(template):
    found = validate(prepare(template), None, options=OPTIONS)
    # A template that others extend has words that only they use.
    allowed = {"unused-message"} if template == "service-brand-parts" else set()
    assert {one.code for one in (*found.errors, *found.warnings)} <= allowed


# Of each format of labels: its sheet in mm, the number on a sheet, and the edges of its labels as
# their makers and gLabels give them, from the upper left corner of the paper.
SHEETS = {
    "L7160": (210, 21, [7, 15, 203, 282]),
    "L7163": (210, 14, [5, 15, 205, 282]),
    "L7159": (210, 24, [7, 13, 203, 284]),
    "L7161": (210, 18, [7, 9, 203, 288]),
    "L7162": (210, 16, [5, 13, 205, 284]),
    "L7165": (210, 8, [5, 13, 205, 284]),
    "L7173": (210, 10, [5, 6, 205, 291]),
    "L7651": (210, 65, [5, 11, 205, 286]),
    "5160": (215.9, 30, [5, 13, 211, 267]),
    "5161": (215.9, 20, [4, 13, 212, 267]),
    "5162": (215.9, 14, [4, 21, 212, 258]),
    "5163": (215.9, 10, [4, 13, 212, 267]),
    "5164": (215.9, 6, [4, 13, 212, 267]),
    "5167": (215.9, 80, [7, 13, 209, 267]),
}


def edges_of_ink(rendered, width):
    """Return the left, upper, right and lower edge of all ink of the first page, in whole mm."""
    picture = page_of(rendered).convert("L")
    box = picture.point(lambda shade: 255 * (shade < 250)).getbbox()
    return [round(edge / picture.width * width) for edge in box]


@pytest.mark.parametrize("format_", SHEETS)
def test_labels_stand_on_the_sheet_that_they_are_sold_by(format_):
    width, count, edges = SHEETS[format_]
    sheet = {"format": format_, "border": True, "labels": [{"title": "x", "copies": count}]}
    rendered = send("service-labels", sheet)
    assert (rendered.pages, edges_of_ink(rendered, width)) == (1, edges)
    assert send("service-labels", {**sheet, "used": 1}).pages == 2


def test_labels_have_no_lines_around_them_unless_asked_for():
    labels = [{"title": "x", "copies": 21}]
    left, top, *_ = edges_of_ink(send("service-labels", {"labels": labels}), 210)
    assert (left, top) == (11, 20)


def test_a_sheet_of_labels_may_be_given_by_its_measures():
    measures = {"columns": 2, "rows": 3, "width": 80, "height": 50, "gap": 15, "row_gap": 5}
    labels = [{"title": "x", "copies": 6}]
    sheet = {"sheet": {**measures, "top": 13, "left": 18}, "border": True, "labels": labels}
    rendered = send("service-labels", sheet)
    assert (rendered.pages, edges_of_ink(rendered, 210)) == (1, [18, 13, 193, 173])


def test_labels_stand_on_their_sheet_in_languages_from_right_to_left():
    labels = [{"title": "x", "copies": 21}]
    for lang in ("en", "ar"):
        made = send("service-labels", {"lang": lang, "labels": labels, "border": True})
        assert edges_of_ink(made, 210) == [7, 15, 203, 282]


def test_a_certificate_from_right_to_left_is_the_mirror_of_one_from_left_to_right():
    corners = {}
    for lang in ("en", "ar"):
        picture = page_of(send("service-certificate", {"lang": lang})).convert("L")
        width, height = picture.size
        code = [
            (x, 2 * height // 3, x + width // 8, 4 * height // 5)
            for x in (width // 11, 4 * width // 5)
        ]
        corners[lang] = [picture.crop(box).getextrema()[0] < 50 for box in code]
    assert corners == {"en": [False, True], "ar": [True, False]}


@pytest.mark.parametrize(
    "template",
    sorted(name for name, text in TEMPLATES.items() if b'\n    <field name="number"' in text),
)
def test_a_number_in_arabic_reads_as_it_was_sent(template):
    text = text_of(send(template, {"lang": "ar", "number": "2026-0042"}))
    assert "2026-0042" in text
    assert "0042-2026" not in text


def test_values_from_left_to_right_stand_in_the_order_of_an_arabic_page():
    for template, shown in (
        ("service-contract", "1 May 2026"),
        ("service-minutes", "Alex Sample الحاضرون"),  # the first of three names follows the label
        ("service-certificate", ".)with distinction( First Aid"),  # the sentence ends on the left
    ):
        assert shown in text_of(send(template, {"lang": "ar"}))


@pytest.mark.long
def test_a_thousand_items_have_their_numbers_on_one_line():
    lines = [{"text": "a", "price": 1}] * 1200
    assert "\n1200 a" in text_of(send("service-invoice", {"lines": lines})).replace("\r", "")


def test_a_wide_figure_of_a_report_stays_on_one_line():
    figures = [{"label": "Turnover", "value": "98,765,432.10"}] * 4
    assert text_of(send("service-report", {"figures": figures})).count("98,765,432.10") == 4


def test_a_salutation_ends_as_its_language_has_it():
    for lang, said in (("en", "Hello,"), ("ja", "拝啓\r"), ("ar", "مرحبا،")):
        salutation = said.rstrip(",\r،")
        assert said in text_of(send("service-letter", {"lang": lang, "salutation": salutation}))


LANGUAGES = ["de", "fr", "es", "it", "nl", "ja", "ar", "he", "th"]
TAXED = {"buyer": {"tax_id": "DE 123"}}
# What a template is sent, and English that none of its other languages has.
ENGLISH = {
    "service-statement": ({}, "Statement|balance|Balance|Paid|Details|Please"),
    "service-certificate": ({}, "This is|has completed|Batch|Use by"),
    "service-labels": ({}, "This is|has completed|Batch|Use by"),
    "service-report": ({}, "This is|has completed|Batch|Use by"),
    "service-invoice": (TAXED | {"paid": 100}, "Invoice|Number|Due|Quantity|Unit price|Balance|Please"),
    "service-credit-note": (TAXED, "Credit note|Total credit|For invoice|Reason|Quantity|refund|deduct"),
    "service-contract": ({}, "between|Place and date"),
    "service-form": ({}, "Place and date"),
    "service-payslip": ({}, "Payslip|Earnings|Net pay|Leave"),
}  # fmt: skip


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("template", ENGLISH)
def test_a_template_speaks_the_language_of_its_reader(template, lang):
    data, english = ENGLISH[template]
    shown = text_of(send(template, {"lang": lang, **data}))
    if template == "service-credit-note":  # whose amount is deducted where it is not refunded
        shown += text_of(send(template, {"lang": lang, **data, "refund": {"iban": None}}))
    assert [word for word in (*english.split("|"), "Page 1 of") if word in shown] == []


@pytest.mark.parametrize(
    ("template", "data"),
    [
        ("service-certificate", {"heading": "Diploma", "statement": "Granted to"}),
        ("service-invoice", {"heading": "Storno"}),
        ("service-credit-note", {"heading": "Storno"}),
    ],
)
def test_words_of_a_template_are_replaced_by_those_that_are_sent(template, data):
    shown = text_of(send(template, {"lang": "de", **data}))
    assert [shown.count(word) for word in data.values()] == [1] * len(data)


def test_a_remark_on_a_certificate_stands_where_its_language_has_it():
    for lang, said in (
        ("en", "has completed First Aid at Work, with distinction."),
        ("de", "den Kurs First Aid at Work (with distinction) erfolgreich abgeschlossen hat."),
        ("ja", "「First Aid at Work」の課程を修了したことを証します（with distinction）。"),
    ):
        assert said in text_of(send("service-certificate", {"lang": lang}))
        plain = {"lang": lang, "participants": [{"name": "Kim Sample"}]}
        text = text_of(send("service-certificate", plain))
        assert (
            said.replace(", with distinction", "")
            .replace(" (with distinction)", "")
            .replace("（with distinction）", "")
            in text
        )


def test_a_credit_note_is_refunded_or_deducted():
    paid = text_of(send("service-credit-note", {}))
    open_ = text_of(send("service-credit-note", {"refund": {"iban": None}}))
    nothing = text_of(send("service-credit-note", {"lines": [{"text": "a", "price": 0}]}))
    assert ["DE02 1203" in each for each in (paid, open_, nothing)] == [True, False, False]
    assert ["deduct €72.09" in each for each in (paid, open_, nothing)] == [False, True, False]


def test_a_payslip_adds_up():
    data = {
        "earnings": [{"text": "a", "amount": 2000}, {"text": "b", "qty": 3, "rate": 11.115}],
        "deductions": [{"text": "c", "amount": 33.35}],
    }
    shown = text_of(send("service-payslip", data))
    assert "2,033.35" in shown  # 33.345 is rounded half up
    assert "£2,000.00" in shown


def test_the_clauses_of_a_contract_are_numbered_and_the_last_stands_with_the_signatures():
    clauses = [{"title": f"Clause {n}", "paragraphs": ["Text. " * 40] * 2} for n in range(1, 10)]
    with pypdfium2.PdfDocument(send("service-contract", {"clauses": clauses}).pdf) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    assert "Contents" in pages[0]
    assert "9.2" in pages[-1]
    assert "Place and date" in pages[-1]
    written = b"## Rights\n\nAs in [clause](#duties).\n\n## Duties\n\nNone."
    shown = draw("service-contract", Payload(PayloadKind.MARKDOWN, written, flow="clauses"))
    assert "Duties" in text_of(shown)


def pages_of(rendered):
    with pypdfium2.PdfDocument(rendered.pdf) as document:
        return [page.get_textpage().get_text_range() for page in document]


ITEM = {"text": "ITEM", "qty": 2, "price": 12.5, "rate": 0.19}
MOVED = {"date": "2026-01-31", "reference": "R", "details": "ITEM", "debit": 2.5}
TEXT = "ITEM. We are glad to hear that your workshop is growing, and that you think of us. " * 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("template", "name", "record", "least"),
    [
        ("service-invoice", "lines", ITEM, 2),
        ("service-credit-note", "lines", ITEM, 2),
        ("service-statement", "transactions", MOVED, 2),
        ("service-letter", "paragraphs", TEXT, 1),
    ],
)
def test_sums_and_signatures_are_alone_on_no_page(template, name, record, least):
    counts = {}
    for count in range(1, 26):
        pages = pages_of(send(template, {name: [record] * count}))
        counts[count] = (len(pages), pages[-1].count("ITEM"))
    assert {pages for pages, _ in counts.values()} >= {1, 2}
    assert [count for count, (_, shown) in counts.items() if shown < min(count, least)] == []


def test_a_form_has_a_field_for_each_of_its_data_and_boxes_only_on_paper():
    with pikepdf.open(io.BytesIO(send("service-form", {}).pdf)) as pdf:
        names = {str(field.T) for field in pdf.Root.AcroForm.Fields}
    assert names >= {"surname", "born", "country", "address", "fee", "iban", "rules", "signature"}
    with pikepdf.open(io.BytesIO(send("service-form", {"interactive": False}).pdf)) as pdf:
        assert "/AcroForm" not in pdf.Root


def test_an_invoice_adds_up_with_each_rate_rounded_once():
    lines = [{"text": "a", "qty": 3, "price": 33.33, "rate": 0.19}, {"text": "b", "price": -10}]
    assert "€108.99" in text_of(send("service-invoice", {"lines": lines}))


LEGAL = {
    "reverse_charge": True,
    "seller": {"register": "HRB 0000, Directors A. Sample and B. Example"},
    "lines": [{"text": "a", "qty": 10, "price": 12.5, "discount": 0.08}],
}
LEGAL_INVOICE = LEGAL | {
    "supply": "2026-02-01",
    "supply_end": "2026-02-28",
    "terms": "30 days net",
    "payment": {
        "reference": "RF18539007547034",
        "accounts": [{"iban": "DE02120300000000202051", "bank": "Second Bank"}],
    },
}
REVERSE_CHARGE = {
    "en": "Reverse charge",
    "de": "Steuerschuldnerschaft des Leistungsempfängers",
    "fr": "Autoliquidation",
    "es": "Inversión del sujeto pasivo",
    "it": "Inversione contabile",
    "nl": "Btw verlegd",
    "ja": "リバースチャージ",
    "th": "Reverse charge",
}


def test_an_invoice_has_what_law_and_habit_ask_for_if_it_is_sent():
    shown = text_of(send("service-invoice", {**LEGAL_INVOICE, "lang": "en-GB"}))
    said = (
        "Period of supply",
        "28 February 2026",
        "Payment terms: 30 days net",
        "\u22128%",
        "115.00",
    )
    said += ("Directors A. Sample", "DE02 1203 0000 0000 2020 51", "GB33 BUKB", "RF18539007547034")
    assert [one for one in said if one not in shown] == []
    plain = text_of(send("service-invoice", {"lang": "en-GB"}))
    unsaid = ("supply", "Payment terms", "Reverse", "\u22128", "Director")
    assert [one for one in unsaid if one in plain] == []


@pytest.mark.parametrize("template", ["service-invoice", "service-credit-note"])
def test_reverse_charge_has_the_words_that_the_law_of_the_language_requires(template):
    shown = {lang: text_of(send(template, {**LEGAL, "lang": lang})) for lang in REVERSE_CHARGE}
    assert [lang for lang, words in REVERSE_CHARGE.items() if words not in shown[lang]] == []
    with pytest.raises(AuthoringError, match="reverse_charge"):
        send(template, {"reverse_charge": True, "lines": [{"text": "a", "price": 1, "rate": 0.19}]})


def invoice_record(**totals):
    """Return what the sample invoice says, as the record of an electronic invoice."""
    seller = {"name": "Northwind Tools Ltd", "vatId": "GB000000000", "address": {"country": "GB"}}
    sold = (
        ("Cordless drill 18 V", 2, 89.90, 179.80, 19),
        ("Drill bits, set of 10", 4, 19.50, 78, 19),
    )
    sold += (
        ("Workshop manual", 1, 24, 24, 7),
        ("Discount for a returning customer", -1, 20, -20, 19),
    )
    return {
        "number": "2026-0042",
        "issueDate": "2026-03-02",
        "dueDate": "2026-03-16",
        "typeCode": "380",
        "currency": "EUR",
        "seller": seller,
        "buyer": {"name": "Harbour Joinery GmbH", "address": {"country": "DE"}},
        "payment": {"meansCode": "58", "accounts": [{"iban": "GB33BUKB20201555555555"}]},
        "lines": [
            {
                "id": str(n),
                "name": name,
                "quantity": quantity,
                "unit": "C62",
                "price": {"net": price},
                "netAmount": amount,
                "vatCategory": "S",
                "vatRate": rate,
            }
            for n, (name, quantity, price, amount, rate) in enumerate(sold, 1)
        ],
        "vatBreakdown": [
            {"category": "S", "rate": 7, "taxable": 24, "vat": 1.68},
            {"category": "S", "rate": 19, "taxable": 237.80, "vat": 45.18},
        ],
        "totals": {
            "lines": 261.80,
            "withoutVat": 261.80,
            "vat": 46.86,
            "withVat": 308.66,
            "due": 308.66,
            **totals,
        },
    }


def test_an_invoice_is_an_electronic_one_on_demand():
    made = send("service-invoice", {"einvoice": invoice_record()})
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        content = pdf.attachments["factur-x.xml"].get_file().read_bytes()
        assert "/OutputIntents" in pdf.Root
    assert find_broken(content, "en16931") == set()
    assert find_schema_errors(content, "en16931") == []
    plain = send("service-invoice", {})
    assert text_of(plain) == text_of(made)
    assert len(plain.pdf) < len(made.pdf)


def test_an_electronic_invoice_that_contradicts_the_page_is_rejected():
    with pytest.raises(AuthoringError) as caught:
        send("service-invoice", {"einvoice": invoice_record(due=300)})
    assert {one.code for one in caught.value.diagnostics} == {"einvoice-rule", "term-differs"}
    with pytest.raises(AuthoringError) as caught:
        send("service-invoice", {"number": "2026-0043", "einvoice": invoice_record()})
    assert {one.code for one in caught.value.diagnostics} == {"term-differs"}


def credit_record(**changes):
    """Return what the sample credit note says, as the record of an electronic one."""
    invoice = invoice_record()
    lines = [
        {**invoice["lines"][1], "id": "1", "quantity": 2, "netAmount": 39},
        {**invoice["lines"][2], "id": "2"},
    ]
    return {
        **invoice,
        "number": "CN-2026-007",
        "issueDate": "2026-03-20",
        "dueDate": None,
        "payment": None,
        "typeCode": "381",
        "precedingInvoices": [{"number": "2026-0042", "issueDate": "2026-03-02"}],
        "lines": lines,
        "vatBreakdown": [
            {"category": "S", "rate": 7, "taxable": 24, "vat": 1.68},
            {"category": "S", "rate": 19, "taxable": 39, "vat": 7.41},
        ],
        "totals": {"lines": 63, "withoutVat": 63, "vat": 9.09, "withVat": 72.09, "due": 72.09},
        **changes,
    }


def test_a_credit_note_is_an_electronic_one_on_demand():
    made = send("service-credit-note", {"einvoice": credit_record()})
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        content = pdf.attachments["factur-x.xml"].get_file().read_bytes()
    assert b":TypeCode>381<" in content
    assert b"2026-0042" in content
    assert find_broken(content, "en16931") == set()
    assert find_schema_errors(content, "en16931") == []
    assert text_of(send("service-credit-note", {})) == text_of(made)


def test_a_credit_note_names_the_invoice_that_its_record_names():
    other = [{"number": "2026-0041", "issueDate": "2026-03-02"}]
    with pytest.raises(AuthoringError) as caught:
        send("service-credit-note", {"einvoice": credit_record(precedingInvoices=other)})
    assert [one.code for one in caught.value.diagnostics] == ["term-differs"]
    with pytest.raises(AuthoringError) as caught:
        send("service-credit-note", {"einvoice": credit_record(typeCode="380")})
    assert "381" in caught.value.diagnostics[0].text


def of_profile(record, profile, **changes):
    """Return data with a record that has what the rules of XRechnung and Peppol require too."""
    parties = {
        "seller": {
            "electronicAddress": "DE123456789",
            "electronicAddressScheme": "9930",
            "contact": {"name": "Ada", "phone": "+44 191 0000", "email": "office@example.com"},
        },
        "buyer": {"electronicAddress": "FR12345678901", "electronicAddressScheme": "9957"},
    }
    for name, members in parties.items():
        address = {"line1": "1", "city": "Newcastle", "postCode": "1", **record[name]["address"]}
        record = {**record, name: {**record[name], **members, "address": address}}
    process = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
    record = {**record, "buyerReference": "PO 4711", "processType": process, **changes}
    return {"einvoice": record, "einvoice_profile": profile}


@pytest.mark.parametrize(
    ("template", "record"),
    [("service-invoice", invoice_record), ("service-credit-note", credit_record)],
)
def test_the_profile_and_syntax_of_an_electronic_invoice_are_chosen_by_data(template, record):
    names = {}
    payment = {"payment": {"meansCode": "58", "accounts": [{"iban": "GB33BUKB20201555555555"}]}}
    for profile, syntax in (("xrechnung", None), ("xrechnung", "ubl"), ("peppol", None)):
        data = of_profile(record(), profile, **payment) | {"einvoice_syntax": syntax}
        with pikepdf.open(io.BytesIO(send(template, data).pdf)) as pdf:
            names[profile, syntax] = [*pdf.attachments]
    assert names == {
        ("xrechnung", None): ["xrechnung.xml"],
        ("xrechnung", "ubl"): ["ubl-invoice.xml"],
        ("peppol", None): ["ubl-invoice.xml"],
    }
    with pytest.raises(AuthoringError):
        send(template, {"einvoice_profile": "zugferd"})


def test_a_credit_prints_no_payment_code():
    credit = send("service-invoice", {"lines": [{"text": "Returned", "price": -5}]})
    assert "Scan with" not in text_of(credit)


def test_a_yen_invoice_has_no_decimals_and_no_payment_code():
    text = text_of(send("service-invoice", {"currency": "JPY"}))
    assert "Scan with" not in text
    assert "180" in text
    assert "179.80" not in text


def test_a_statement_carries_its_balance_to_the_end():
    data = {"opening": 10, "transactions": [{"date": "2026-01-31", "debit": 1}] * MUCH}
    text = text_of(send("service-statement", data))
    assert "Brought forward" in text
    assert "\u2212190.00" in text


def test_markdown_writes_a_report_below_its_title():
    text = text_of(draw("service-report", Payload(PayloadKind.MARKDOWN, b"## Findings\n\nNone.")))
    assert "Workshop safety in 2025" in text
    assert "Findings" in text
    assert "Incidents" not in text


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_print_shop_has_nothing_to_say_of_a_template(template):
    checked = TEMPLATES[template].replace(b"<document ", b'<document print-checks="true" ', 1)
    drawn = render(prepare_template(checked, LINKED), None, options=OPTIONS, resources=Resources())
    assert drawn.warnings == ()


def test_the_pictures_are_small_and_up_to_date():
    drawn = {f"{name}.png": draw_page(pdf) for name, pdf in render_templates()}
    assert {path.name for path in PICTURES.iterdir()} == drawn.keys(), "make gallery"
    assert [name for name, png in drawn.items() if len(png) > MAX_BYTES] == []
    stale = [name for name, png in drawn.items() if pixels(png) != pixels(PICTURES / name)]
    assert stale == [], "make gallery"


def test_the_code_of_a_printed_qr_bill_is_read_from_the_page():
    with pypdfium2.PdfDocument(send("service-qr-bill", {}).pdf) as document:
        picture = document[0].render(scale=300 / 72).to_pil()
    lines = read_twice(picture).content.decode().split("\n")
    assert lines[:4] == ["SPC", "0200", "1", "CH4431999123000889012"]
    assert (lines[18], lines[19], lines[27]) == ("1499.78", "CHF", "QRR")
