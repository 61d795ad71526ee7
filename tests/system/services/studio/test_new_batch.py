"""A batch started in the Studio: a CSV dropped on a template, mapped, previewed, and only then counted."""

from __future__ import annotations

import io
import json
import subprocess

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Download, Page, expect

from api.render.inspection import SPREADSHEET_TYPE
from shared.templates.public import FOLDER
from tests.contract.test_spreadsheets import write as write_spreadsheet

TEMPLATE = (
    '<document><data><json>{"number": "0", "buyer": {"name": "?"}, "total": null}</json>'
    '<field name="total" type="decimal" required="true"/></data>'
    "<flow><h1>Invoice {{ number }}</h1><p>{{ buyer.name }}: {{ total }}</p></flow></document>"
)
# Semicolons and Windows-1252, as Excel writes them.
ROWS = 'Number;Name;Total;Internal\n1;Bäcker;2.50;a\n2;"Acme; Ltd";3;b\n3;Last;x;c\n'.encode(
    "cp1252"
)
DROP = """([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(bytes)], name, {type: "text/csv"}));
  document.querySelector(".page").dispatchEvent(
    new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def read_saved(saved: Download) -> list[list[str]]:
    """Return the cells of a workbook, which are texts, none of them a formula."""
    (sheet,) = load_workbook(io.BytesIO(saved.path().read_bytes())).worksheets
    assert sheet.freeze_panes == "A2"
    rows = [*sheet.iter_rows()]
    assert {cell.data_type for row in rows for cell in row} == {"s"}
    return [[cell.value for cell in row] for row in rows]


@pytest.fixture
def template(page: Page, account) -> str:
    """Open the page of a new template; return its id."""
    template = account.store_template(TEMPLATE.encode())
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}")
    page.get_by_role("link", name="Start a batch").wait_for()
    return template


def test_a_dropped_csv_becomes_a_batch(page: Page, account, template):
    page.evaluate(DROP, ["orders.csv", list(ROWS)])
    expect(page.get_by_text("orders.csv")).to_be_visible()
    paths = {
        name: page.get_by_label(f"Path of the column {name}")
        for name in ("Number", "Name", "Total", "Internal")
    }
    expect(paths["Number"]).to_have_value("number")
    expect(paths["Name"]).to_have_value("buyer.name")
    expect(paths["Total"]).to_have_value("total")
    expect(paths["Internal"]).to_have_value("Internal")
    expect(page.get_by_text("Not in the data of the template.")).to_be_visible()
    paths["Internal"].fill("total")
    expect(page.get_by_role("alert")).to_contain_text("Two columns have the path total")
    expect(page.get_by_role("button", name="Render 3 documents")).to_be_disabled()
    paths["Internal"].fill("")
    first = page.get_by_role("listitem").filter(has_text="Document 1")
    third = page.get_by_role("listitem").filter(has_text="Document 3")
    expect(first.get_by_role("img")).to_be_visible()
    expect(first.locator(".bad")).to_have_count(0)
    expect(third.locator(".bad")).to_contain_text("Total is")
    assert account.request("GET", "/v2/batches").json["batches"] == []
    assert account.settled_usage(pages=0)["pagesGenerated"] == 0

    page.get_by_label("Result").select_option("zip")
    page.get_by_role("button", name="Render 3 documents").click()
    page.get_by_role("heading", name="Batch", exact=True).wait_for()
    expect(page.get_by_text("3 of 3, 1 failed")).to_be_visible(timeout=60_000)
    page.get_by_label("Status").select_option("failed")
    expect(page.get_by_role("row", name="3").locator(".finding")).to_contain_text("total")
    (batch,) = account.request("GET", "/v2/batches").json["batches"]
    assert (batch["succeeded"], batch["failed"]) == (2, 1)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Failures as XLSX").click()
    head, row = read_saved(saved.value)
    assert head == ["Document", "number", "buyer.name", "total", "Reason"]
    assert row[:4] == ["3", "3", "Last", "x"]
    assert "total" in row[4]
    page.get_by_role("button", name="Render the failed one again").click()
    expect(page.get_by_text("1 of 1, 1 failed")).to_be_visible(timeout=60_000)


def test_a_spreadsheet_is_mapped_and_its_mapping_kept(page: Page, account, template):
    body = write_spreadsheet([["Nummer", "Betrag"], ["R-7", 2.5]])
    file = {"name": "orders.xlsx", "mimeType": SPREADSHEET_TYPE, "buffer": body}
    page.get_by_role("link", name="Start a batch").click()
    page.locator("input[type=file]").set_input_files(file)
    start = page.get_by_role("button", name="Render 1 document")
    expect(page.get_by_role("alert")).to_contain_text("The template requires total")
    expect(start).to_be_disabled()
    page.get_by_label("Draft").check()
    expect(start).to_be_enabled()
    page.get_by_label("Draft").uncheck()
    page.get_by_label("Path of the column Nummer").fill("number")
    page.get_by_label("Path of the column Betrag").fill("total")
    start.click()
    expect(page.get_by_text("1 of 1")).to_be_visible(timeout=60_000)
    assert account.request("GET", "/v2/batches").json["batches"][0]["succeeded"] == 1
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/batch")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_label("Path of the column Betrag")).to_have_value("total")


def test_german_numbers_and_dates_are_read_and_doubtful_ones_are_not(page: Page, account):
    template = account.store_template(
        b'<document><data><field name="net" type="decimal" required="true"/>'
        b'<field name="day" type="date" required="true"/></data><flow><p>{{ net * 2 }}, {{ day }}</p></flow></document>'
    )
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/batch")
    rows = b"Net;Day\n1.234,50;1.12.2026\n0,195;2026-12-31\n1,234;31.12.2026\n"
    page.locator("input[type=file]").set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": rows}
    )
    third = page.get_by_role("listitem").filter(has_text="Document 3")
    expect(third.locator(".bad")).to_contain_text("1,234")
    expect(page.locator(".firsts .bad")).to_have_count(1)
    with page.expect_request("**/v2/batches?*") as sent:
        page.get_by_role("button", name="Render 3 documents").click()
    read = (sent.value.post_data or "").split()
    assert read == ["net,day", "1234.50,2026-12-01", "0.195,2026-12-31", '"1,234",2026-12-31']


def test_rows_of_one_number_become_one_document(page: Page, account):
    template = account.store_template(
        b'<document><data><json>{"to": "?"}</json><field name="number" required="true"/>'
        b'<dataset name="lines" required="true"><field name="text" required="true"/><field name="qty" type="decimal"/>'
        b"</dataset></data><flow><h1>{{ number }} {{ to }}</h1>"
        b'<p for="line in lines">{{ line.text }} {{ line.qty * 2 }}</p></flow></document>'
    )
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/batch")
    rows = b'Number,To,Text,Qty\nA1,Ada,Pen,2\nB2,Bo,"=1+1 <&> ""\x01Cup""",x\nA1,,Ink,3\n'
    choose = page.locator("input[type=file]")
    choose.set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": rows})
    expect(page.get_by_label("Path of the column Text")).to_have_value("lines.text")
    expect(page.get_by_label("Path of the column Qty")).to_have_value("lines.qty")
    page.get_by_label("Path of the column Text").fill("")
    expect(page.get_by_role("alert")).to_contain_text("The template requires lines.text")
    page.get_by_label("Path of the column Text").fill("lines.text")
    expect(page.get_by_role("button", name="Render 3 documents")).to_be_enabled()
    page.get_by_label("A document is made of").select_option("Number")
    second = page.get_by_role("listitem").filter(has_text="Document 2")
    expect(second).to_contain_text('Qty, row 1 is "x"')
    page.get_by_label("Result").select_option("merged")
    page.get_by_role("button", name="Render 2 documents").click()
    expect(page.get_by_text("2 of 2, 1 failed")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("rowheader", name="2 B2")).to_contain_text("/lines/0/qty")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Failures as XLSX").click()
    head, row = read_saved(saved.value)
    assert head == ["Document", "number", "to", "lines.text", "lines.qty", "Reason"]
    assert row[:5] == ["2", "B2", "Bo", '=1+1 <&> "Cup"', "x"]
    (batch,) = account.request("GET", "/v2/batches").json["batches"]
    result = account.request("GET", f"/v2/batches/{batch['id']}/result").body
    text = subprocess.run(["pdftotext", "-", "-"], input=result, capture_output=True, check=True)
    assert text.stdout.decode().split() == ["A1", "Ada", "Pen", "4", "Ink", "6"]
    choose_again = page.url.partition("#")[0] + f"#/templates/{template}/batch"
    page.goto(choose_again)
    choose.set_input_files({"name": "b.csv", "mimeType": "text/csv", "buffer": rows + b",,Hat,1\n"})
    page.get_by_label("A document is made of").select_option("Number")
    expect(page.get_by_role("alert")).to_contain_text("Row 5 of the file has no Number")
    expect(page.get_by_role("button", name="Render 3 documents")).to_be_disabled()


def test_columns_named_as_the_form_names_fields_are_found(page: Page, account):
    text = (FOLDER / "service-simple-invoice.xml").read_bytes()
    template = account.store_template(text, name="Our%20invoice")
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/batch")
    paths = {
        "Invoice number": "number",
        "Date": "date",
        "Currency": "currency",
        "Tax rate": "tax_rate",
        "Name": "buyer.name",  # required, as the seller's is not
        "Buyer address": "buyer.lines",
        "Description": "lines.text",
        "Quantity": "lines.qty",
        "Unit price": "lines.price",
    }
    invoice = ["R-1", "2026-11-27", "EUR", 0.19, "Ada", "Kai 3\n20457 Hamburg"]
    rows = [[*paths, "Us"], [*invoice, "Desk", 1, 300, "Our house"], [*invoice, "Lamp", 2, 30, ""]]
    file = {"name": "a.xlsx", "mimeType": SPREADSHEET_TYPE, "buffer": write_spreadsheet(rows)}
    page.locator("input[type=file]").set_input_files(file)
    for column, path in paths.items():
        expect(page.get_by_label(f"Path of the column {column}", exact=True)).to_have_value(path)
    page.get_by_label("A document is made of").select_option("Invoice number")
    # The sender of the example stands in no document that is sent.
    first = page.get_by_role("listitem").filter(has_text="Document 1")
    expect(first).to_contain_text("The invoice has no sender")
    page.get_by_label("Path of the column Us").fill("seller.name")
    expect(first.locator(".bad")).to_have_count(0)
    page.get_by_label("Result").select_option("merged")
    page.get_by_role("button", name="Render 1 document").click()
    expect(page.get_by_text("1 of 1")).to_be_visible(timeout=60_000)
    (batch,) = account.request("GET", "/v2/batches").json["batches"]
    result = account.request("GET", f"/v2/batches/{batch['id']}/result").body
    text = subprocess.run(["pdftotext", "-", "-"], input=result, capture_output=True, check=True)
    for shown in (b"Our house", b"\nKai 3\n20457 Hamburg\n", b"Desk", b"Lamp"):
        assert shown in text.stdout


def test_a_file_that_is_not_csv_is_reported_and_replaced(page: Page, template):
    page.get_by_role("link", name="Start a batch").click()
    choose = page.locator("input[type=file]")
    for text, said in (('a,b\n1,"2\n', "a quote in line 2"), ("a,b\n", "no row below")):
        choose.set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": text.encode()})
        expect(page.get_by_role("alert")).to_contain_text(said)
    hostile = "__proto__.polluted,<b>name</b>\nyes,<img src=x onerror=alert(1)>\n"
    choose.set_input_files({"name": "y.csv", "mimeType": "text/csv", "buffer": hostile.encode()})
    expect(page.get_by_role("cell", name="<img src=x onerror=alert(1)>")).to_be_visible()
    assert page.evaluate("({}).polluted === undefined")
    expect(page.get_by_role("listitem").filter(has_text="Document 1")).to_be_visible()


def test_the_version_of_a_tag_is_rendered(page: Page, account, template):
    path, json_type = f"/v2/templates/{template}", {"Content-Type": "application/json"}
    account.request("POST", f"{path}/versions", b"{}", headers=json_type)
    fields = json.dumps({"version": 1}).encode()
    account.request("PUT", f"{path}/tags/stable", fields, headers=json_type)
    account.request(
        "PUT", path, b"<document><flow/></document>", headers={"Content-Type": "text/xml"}
    )
    page.get_by_role("link", name="Start a batch").click()
    page.get_by_label("Version").select_option("stable")
    page.locator("input[type=file]").set_input_files(
        {"name": "x.csv", "mimeType": "text/csv", "buffer": b"total\nwrong\n"}
    )
    first = page.get_by_role("listitem").filter(has_text="Document 1")
    expect(first.locator(".bad")).to_contain_text("total")
