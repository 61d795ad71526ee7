"""A billing manager who never saw XML: an invoice with her logo and address, by forms alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.system.conftest import DOCUMENTS
from tests.system.services.studio.conftest import code, enter, write

LOGO = DOCUMENTS / "logo.png"
ROWS = "Oak table\t1\t1.250,00\nChair\t4\t89,50"
# What a person does: buttons and links pressed, and fields filled.
COUNT = """() => {
  window.keysInXml = 0;
  window.pressed = 0;
  window.filled = new Set();
  addEventListener('keydown', event => {
    if (event.composedPath().some(each => each.dataset?.kind === 'xml')) window.keysInXml += 1;
  }, true);
  addEventListener('click', event => { if (event.target.closest('button, a')) window.pressed += 1; }, true);
  for (const each of ['input', 'change', 'paste']) addEventListener(each, event => window.filled.add(event.target), true);
}"""
TUTORIAL = (Path(__file__).parents[4] / "deploy/docs/first-invoice.md").read_text()
PASTE = """(input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
}"""


def begin_invoice(
    page: Page, name: str = "Our invoice", base: str = "service-simple-invoice"
) -> None:
    """Make a template from a public one, and wait for its form and its page."""
    page.goto(page.url.partition("#")[0] + "#/templates")
    card = page.get_by_role("listitem").filter(has_text=base)
    card.get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("tab", name="Form")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("No errors and no warnings.")).to_be_visible()


def fill_settings(page: Page) -> None:
    page.get_by_label("Your name").fill("Möbel Hansen & Söhne")
    page.get_by_label("Your address").fill("Hafenstraße 7\n24103 Kiel")
    page.get_by_label("Accent colour", exact=True).fill("#b3261e")
    page.get_by_label("Accent colour", exact=True).press("Tab")
    upload = page.get_by_role("button", name="Upload…")
    upload.focus()
    page.locator("input[type=file]").set_input_files(LOGO)
    expect(page.get_by_label("Logo", exact=True)).to_have_value(re.compile("^logo"))
    expect(upload).to_be_focused()  # for whom works by keyboard


def fill_data(page: Page) -> None:
    page.get_by_label("Number", exact=True).fill("R-2026-7")
    page.get_by_label("Date", exact=True).fill("2026-11-27")
    page.get_by_label("Currency").fill("EUR")
    page.get_by_label("Tax rate").fill("0,19")
    buyer = page.get_by_role("group", name="Buyer")
    buyer.get_by_label("Name").fill("Harbour Joinery")
    buyer.get_by_label("Address").fill("Kai 3\n20457 Hamburg")
    page.get_by_role("button", name="Add a row").click()
    page.get_by_label("Description, row 1").evaluate(PASTE, ROWS)
    expect(page.get_by_label("Unit price, row 2")).to_have_value("89.5")


def download(page: Page, purpose: str, folder: Path) -> str:
    """Download the PDF from the open dialog; return its text."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name=purpose).check()
    expect(dialog).to_contain_text("1 page, counted as 1")
    with page.expect_download() as begun:
        dialog.get_by_role("button", name="ownload").click()
    expect(dialog).to_contain_text("Downloaded: 1")
    begun.value.save_as(folder / "made.pdf")
    made = subprocess.run(
        ["pdftotext", "-layout", folder / "made.pdf", "-"], capture_output=True, check=True
    )
    return made.stdout.decode()


def test_an_invoice_with_logo_and_address_needs_no_xml(open_page, address, account, tmp_path):
    page = open_page(accept_downloads=True)
    page.goto(address)
    page.evaluate(COUNT)
    enter(page, account.api_key)
    begin_invoice(page)
    fill_settings(page)
    fill_data(page)
    expect(page.get_by_text("No errors and no warnings.")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved. Publish it")).to_be_visible()
    page.get_by_role("button", name="Download PDF").click()
    text = download(page, "Production", tmp_path)
    steps = page.evaluate("window.pressed + window.filled.size")
    assert f"{steps} steps" in TUTORIAL
    for shown in (
        "Möbel Hansen & Söhne",
        "Hafenstraße 7",
        "R-2026-7",
        "Kai 3",
        "Oak table",
        "1,608.00",
    ):
        assert shown in text
    for absent in ("Northwind", "16 March", "DE02"):  # of the example
        assert absent not in text
    images = subprocess.run(
        ["pdfimages", "-list", tmp_path / "made.pdf"], capture_output=True, check=True
    )
    assert len(images.stdout.splitlines()) > 2
    assert account.settled_usage(pages=1)["pagesGenerated"] == 1
    page.get_by_role("button", name="Close").click()
    assert page.evaluate("window.keysInXml") == 0


def test_the_form_tells_findings_by_the_names_of_its_fields(page: Page):
    begin_invoice(page)
    page.get_by_label("Currency").fill("EURO")
    page.get_by_role("button", name="Add a row").click()
    page.get_by_label("Quantity, row 1").fill("two")
    findings = page.locator(".finding-list")
    expect(findings).to_contain_text('Currency is "EURO"')
    findings.get_by_role("button", name="Quantity, row 1").click()
    expect(page.get_by_label("Quantity, row 1")).to_be_focused()
    page.get_by_role("tab", name="XML").click()
    expect(findings).to_contain_text("/lines/0/qty")


def test_a_setting_is_one_step_to_undo_and_lies_in_the_text(page: Page):
    begin_invoice(page)
    name = page.get_by_label("Your name")
    name.press_sequentially("Ada & Co", delay=5)
    page.get_by_label("Your address").fill('"Kai" 3\nKiel')
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Your address")).to_have_value("")
    expect(name).to_have_value("Ada & Co")
    page.get_by_role("button", name="Undo").click()
    expect(name).to_have_value("")
    page.get_by_role("button", name="Redo").click()
    expect(name).to_have_value("Ada & Co")
    page.get_by_role("tab", name="Form").press("ArrowRight")
    expect(code(page)).to_contain_text('value="Ada &amp; Co"')
    expect(page.get_by_text("Not saved")).to_be_visible()


def test_the_form_has_the_settings_of_the_template_that_is_extended(page: Page, account):
    account.store_logo()
    begin_invoice(page, "Our quote", "service-quote")
    colour = page.get_by_label("Accent colour", exact=True)
    expect(colour).to_have_value("#0f4c75")
    colour.fill("#b3261e")
    colour.press("Tab")
    page.get_by_label("Logo", exact=True).select_option("logo")
    page.get_by_role("tab", name="XML").click()
    expect(code(page)).to_contain_text('<setting name="accent" value="#b3261e"/>')
    expect(code(page)).to_contain_text('<setting name="logo" value="logo"/>')
    expect(page.get_by_text("No errors and no warnings.")).to_be_visible()
    page.get_by_role("tab", name="Form").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(colour).to_have_value("#0f4c75")
    expect(page.get_by_role("status").filter(has_text=re.compile("^Saved$"))).to_be_visible()
    final = account.store_template(
        b'<document><setting name="a" label="Own" value="1"/><setting name="b" label="Fixed" value="2" final="true"/>'
        b'<data><field name="c" label="Field"/></data><flow/></document>'
    )
    child = account.store_template(f'<document extends="{final}@live"/>'.encode())
    page.goto(page.url.partition("#")[0] + f"#/templates/{child}/edit")
    expect(page.get_by_label("Fixed")).to_be_disabled()
    expect(page.get_by_label("Field")).to_be_visible()


OF_A_LETTER = {"Accent colour", "Logo", "Paper", "Window of the envelope"}


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("service-certificate", {"Accent colour", "Logo"}),
        *((f"service-{each}", OF_A_LETTER) for each in ("letter", "invoice", "payslip", "quote")),
    ],
)
def test_the_form_has_each_setting_that_is_read_once(page: Page, template, shown):
    begin_invoice(page, "Ours", template)
    page.get_by_text("More fields").click()
    for label in OF_A_LETTER:
        found = page.locator("form, section").get_by_label(label, exact=True)
        expect(found).to_have_count(1 if label in shown else 0)
    expect(page.get_by_label("Name of a stored image")).to_have_count(0)


def test_data_that_differ_from_a_setting_are_in_the_form(page: Page):
    begin_invoice(page, "Ours", "service-letter")
    page.get_by_role("tab", name="XML").click()
    write(page, '{"paper": "Letter"}', "json")
    page.get_by_role("tab", name="Form").click()
    page.get_by_text("More fields").click()
    expect(page.get_by_label("Paper", exact=True).nth(1)).to_have_value("Letter")


def test_production_names_what_is_missing_and_counts_nothing(page: Page, account, tmp_path):
    begin_invoice(page)
    page.get_by_role("button", name="Download PDF").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Production").check()
    dialog.get_by_role("button", name="Download").click()
    for missing in ("/number", "/lines"):
        expect(dialog.get_by_role("alert")).to_contain_text(missing)
    assert account.usage()["pagesGenerated"] == 0
    assert "Northwind Tools" in download(page, "Draft", tmp_path)  # of the example


def test_the_template_page_renders_pasted_data(page: Page, tmp_path):
    page.goto(page.url.partition("#")[0] + "#/templates/service-simple-invoice")
    page.get_by_role("button", name="Download PDF").click()
    data = page.get_by_role("dialog").get_by_label("Data (JSON)")
    data.fill('{"number": "P-1", "buyer": {"name": "Pasted Ltd"}}')
    text = download(page, "Draft", tmp_path)
    assert "P-1" in text
    assert "Pasted Ltd" in text


def test_nothing_is_green_that_was_not_checked(page: Page):
    begin_invoice(page)
    green = page.get_by_text("No errors and no warnings.")
    page.route("**/v2/preview", lambda route: route.abort())
    page.get_by_label("Your name").fill("Offline")
    expect(green).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.unroute("**/v2/preview")
    expect(green).to_be_visible()
    page.get_by_role("tab", name="XML").click()
    code(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.get_by_text("The template is empty.")).to_be_visible()
    expect(green).to_have_count(0)


def test_publishing_lists_the_findings_and_asks(page: Page, account):
    source = b'<document><setting name="a" type="color" value="bleu"/><flow><img src="logo"/></flow></document>'
    template = account.store_template(source)
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}")
    page.get_by_role("button", name="Publish").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("bleu")
    expect(dialog.get_by_role("alert")).to_contain_text("alt")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 1 is published.")).to_have_count(0)
    dialog.get_by_label("Publish it anyway").check()
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 1 is published.")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing_in_the_forms(sign_in, account, find_violations, scheme, width):
    page = sign_in(account, color_scheme=scheme, viewport={"width": width, "height": 800})
    begin_invoice(page)
    page.get_by_role("button", name="Add a row").click()
    page.get_by_text("More fields").click()
    assert find_violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    page.get_by_role("button", name="Download PDF").click()
    expect(page.get_by_role("dialog")).to_contain_text("counted as")
    assert find_violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_the_forms_are_german(sign_in, account):
    page = sign_in(account, locale="de-DE")
    card = page.get_by_role("listitem").filter(has_text="service-simple-invoice")
    card.get_by_role("button", name="Einfache Rechnung").click()
    page.get_by_role("dialog").get_by_role("button", name="Anlegen").click()
    for label in ("Ihre Anschrift", "Akzentfarbe", "Steuersatz (0,19 für 19 %)"):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name="Formular")).to_be_visible()


def test_what_is_inserted_has_no_finding_and_is_one_step_to_undo(page: Page, account):
    account.store_logo()
    begin_invoice(page)
    page.get_by_role("tab", name="XML").click()
    green = page.get_by_text("No errors and no warnings.")
    for what, written in (
        ("Section", "<h2>Heading"), ("Table over a list", "row in lines"), ("Total of a list", "sum("), ("Chart", "<chart"), ("Bar code", 'type="qr"'),
        ("Payment code", "epc-qr"), ("Date", "today |"), ("Page number", "page.count"), ("logo", 'src="logo"'),
    ):  # fmt: skip
        code(page).click()
        page.keyboard.press(
            "Control+End"
        )  # where no flow is, so that the end of the first one is meant
        page.get_by_label("What to insert").select_option(label=what)
        page.get_by_role("button", name="Insert").click()
        expect(page.get_by_role("status").filter(has_text="Not saved")).to_be_visible()
        code(page).click()
        page.keyboard.press("Control+End")
        expect(code(page)).to_contain_text(written)
        expect(green).to_be_visible()
        page.keyboard.press("Control+z")
        expect(page.get_by_role("status").filter(has_text=re.compile("^Saved$"))).to_be_visible()
