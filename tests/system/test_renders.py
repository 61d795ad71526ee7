"""Every kind of body becomes the PDF it should, through the front, the queue and a worker."""

import io

import pikepdf
import pypdfium2
import pytest

from deploy.embedded.demo.show import statement_csv

HELLO = "<document><flow><h1>Hello</h1><p>From the farm.</p></flow></document>"


def page_count(pdf):
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        return len(opened.pages)


def text_of(pdf, page=0):
    document = pypdfium2.PdfDocument(pdf)
    try:
        return document[page].get_textpage().get_text_range()
    finally:
        document.close()


def tinted_share(pdf):
    """Return the share of the first page that is tinted blue, as the draft mark is and black text is not."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        image = document[0].render(scale=0.25).to_pil().convert("RGB")
    finally:
        document.close()
    pixels = list(image.get_flattened_data())
    return sum(blue > red + 3 for red, _, blue in pixels) / len(pixels)


@pytest.fixture
def invoice(account, documents):
    account.store_logo()
    return account.store_template((documents / "invoice.xml").read_bytes())


def test_markdown_replaces_the_flow_it_names(account, invoice):
    answer = account.render(
        b"Delivered **free of charge**. See you soon.",
        "text/markdown",
        f"?template={invoice}&flow=notes",
    )
    assert answer.status == 200, answer.body
    assert "free of charge" in text_of(answer.body)
    assert "Please pay within 14 days" not in text_of(answer.body)


def test_a_document_laid_over_a_template_adds_a_code_and_protection(account, invoice):
    overlay = """<document filename="invoice-{{ number }}.pdf">
      <data><json>{ "number": "2026-0044", "bic": "BUKBGB22XXX" }</json>
        <field name="bic" pattern="[A-Z0-9]{8,11}"/></data>
      <flow name="notes">
        <row margin-top="auto" break-inside="avoid" align-items="center">
          <barcode width="32mm" type="epc-qr" alt="Payment code" value="{{ { 'name': seller.name,
            'iban': seller.iban, 'bic': bic, 'amount': net + vat, 'text': number } }}"/>
          <p>Scan to pay {{ (net + vat) | currency }}.</p>
        </row>
      </flow>
      <security copy="true" modify="false" annotate="false" print="high"/>
    </document>"""
    answer = account.render(overlay, query=f"?template={invoice}")
    assert answer.status == 200, answer.body
    assert "invoice-2026-0044.pdf" in answer.headers["Content-Disposition"]
    with pikepdf.open(io.BytesIO(answer.body)) as opened:
        assert opened.is_encrypted
        assert not opened.allow.modify_other
        assert opened.allow.extract
    assert "Scan to pay" in text_of(answer.body)


def test_a_csv_statement_of_5000_rows_repeats_its_head(account, documents):
    account.store_logo()
    template = account.store_template((documents / "statement.xml").read_bytes())
    answer = account.render(statement_csv(5000), "text/csv", f"?template={template}")
    assert answer.status == 200, answer.body
    assert answer.pages == page_count(answer.body) > 50
    for page in (0, 1, answer.pages - 1):
        assert "Reference" in text_of(answer.body, page)
        assert f"Page {page + 1} of {answer.pages}" in text_of(answer.body, page)


def test_a_draft_is_marked_and_counts_as_draft(account):
    answer = account.render(HELLO, query="?draft=true")
    assert answer.status == 200, answer.body
    assert tinted_share(answer.body) > 0.01
    assert tinted_share(account.render(HELLO).body) == 0
    usage = account.settled_usage(pages=1)
    assert usage["draft"] == {"pagesGenerated": 1, "apiCalls": 1}
