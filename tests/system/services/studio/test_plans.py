"""Output plans in the Studio: a form beside the first sheets, and a batch that leaves by the plan."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.system.services.studio.test_runs import expect_sums, open_run, run

LETTER = (
    b'<document><data><field name="to.zip" required="true"/><sample>{"to": {"zip": "0"}}</sample></data>'
    b'<flow><p>{{ to.zip }}</p><p break-before="page">2</p><p break-before="page">3</p></flow></document>'
)
TRAY = (
    b'<document title="Tray"><data><field name="bundle" type="integer"/></data>'
    b"<flow><p>Tray {{ bundle }}</p></flow></document>"
)
ROWS = b"to.zip\n24103\n10115\n18119\n"


def open_plan(page: Page, name: str = "mail-room") -> None:
    """Begin a plan from the list of batches."""
    page.goto(page.url.partition("#")[0] + "#/batches")
    page.get_by_role("link", name="Output plans").click()
    expect(page.get_by_text("No plans yet")).to_be_visible()
    page.get_by_role("button", name="New plan").click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Plan {name}").wait_for()


def test_a_plan_is_made_by_a_form_and_a_batch_leaves_by_it(page: Page, account, tmp_path):
    template = account.store_template(LETTER)
    open_plan(page)
    page.get_by_label("Template").select_option(template)
    page.get_by_label("Sort by").fill("to.zip")
    page.get_by_label("Priority").select_option("express")
    page.get_by_label("A new file begins").select_option("documents")
    page.get_by_label("Most in a file").fill("2")
    page.get_by_label("Both sides are printed").check()
    page.get_by_label("One set for each").fill("to.household")
    page.get_by_label("Kind").select_option("datamatrix")
    page.get_by_label("From the left edge, mm").fill("4")
    page.get_by_label("Fields").fill("to.zip")
    fronts = page.get_by_role("listitem").filter(has_text="front")
    expect(fronts).to_have_count(2)
    for sheet in (0, 1):
        expect(fronts.nth(sheet).get_by_role("img", name="Marks")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Sheet 2, back")).to_contain_text("blank")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    stored = account.request("GET", "/v2/plans/mail-room").json["plan"]
    assert (stored["sort"], stored["split"], stored["duplex"]) == (
        ["to.zip"],
        {"documents": 2},
        True,
    )
    assert (stored["marks"]["type"], stored["marks"]["left"]) == ("datamatrix", 4)
    assert (stored["priority"], stored["household"]) == ("express", "to.household")

    page.get_by_role("link", name="Start a batch with this plan").click()
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": ROWS}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_label("Result")).to_have_value("plan:mail-room")
    page.get_by_role("button", name="Render 3 documents").click()
    expect(page.get_by_text("File 1 · 2 documents · 8 pages · 4 sheets")).to_be_visible(
        timeout=60_000
    )
    expect(page.get_by_text("File 2 · 1 document · 4 pages · 2 sheets")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the index").click()
    rows = saved.value.path().read_text("utf-8-sig")
    assert rows.index("10115") < rows.index("18119") < rows.index("24103")
    with page.expect_download() as saved:
        page.get_by_role("button", name="File 2").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF")


def test_a_plan_keeps_what_its_form_has_no_fields_for(page: Page, account):
    plan = b"""{"hold": {"proof": 3, "conditions": [{"value": "total", "above": 9}]}, "index": "ndjson",
        "split": {"weight": 900}, "inserts": [{"feeder": 2, "grams": 3}], "weight": {"sheet": 5}, "keep": {"result_hours": 9, "record_days": 2},
        "marks": {"type": "omr", "left": 5, "top": 90, "pitch": 5}}"""
    headers = {"Content-Type": "application/json"}
    assert account.request("PUT", "/v2/plans/kept", plan, headers=headers).status == 201
    page.goto(page.url.partition("#")[0] + "#/batches/plans/kept")
    expect(page.get_by_label("Proof of the first documents")).to_have_value("3")
    page.get_by_label("Those without a value").fill("to.zip")
    page.get_by_label("From the upper edge, mm").fill("95")
    expect(page.get_by_label("Files, hours")).to_have_value("9")
    page.get_by_label("Files, hours").fill("")
    page.get_by_label("Records, days").fill("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    stored = account.request("GET", "/v2/plans/kept").json["plan"]
    held = [{"value": "total", "above": 9}, {"value": "to.zip", "missing": True}]
    assert stored["hold"] == {"proof": 3, "conditions": held}
    assert (stored["index"], stored["keep"]) == ("ndjson", {"record_days": 3})
    assert (stored["split"], stored["weight"]) == ({"weight": 900}, {"sheet": 5})
    assert stored["inserts"] == [{"feeder": 2, "grams": 3}]
    assert (stored["marks"]["top"], stored["marks"]["pitch"]) == (95, 5)
    page.get_by_label("From the left edge, mm").fill("150")
    page.get_by_label("Kind").select_option("itf")
    page.get_by_label("Content").fill("{set}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="even number of digits")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No plans yet")).to_be_visible()


def test_bundles_of_a_plan_have_a_template_as_their_cover(page: Page, account):
    tray = account.store_template(TRAY)
    open_plan(page)
    expect(page.get_by_label("A new bundle begins")).to_have_count(0)
    page.get_by_label("Cover").select_option(tray)
    page.get_by_label("A new bundle begins").select_option("documents")
    page.get_by_label("Most in a bundle").fill("2")
    page.get_by_label("A bundle for each").fill("to.country")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    stored = account.request("GET", "/v2/plans/mail-room").json["plan"]
    assert stored["bundle"] == {"cover": tray, "documents": 2, "value": "to.country"}
    batch = run(account, stored, [{"to": {"zip": str(each)}} for each in range(3)], LETTER)
    open_run(page, batch)
    expect_sums(page, Read=3, In_files=3, Covers=2)
    page.go_back()
    expect(page.get_by_label("Most in a bundle")).to_have_value("2")
    page.get_by_label("Cover").select_option("no bundles")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    assert "bundle" not in account.request("GET", "/v2/plans/mail-room").json["plan"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing_in_a_plan(sign_in, account, find_violations, scheme, width):
    tray = account.store_template(TRAY)
    page = sign_in(account, color_scheme=scheme, viewport={"width": width, "height": 800})
    open_plan(page)
    page.get_by_label("Kind").select_option("code128")
    page.get_by_label("Cover").select_option(tray)
    expect(page.get_by_role("img", name="Marks")).to_have_count(1)
    assert find_violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_a_plan_is_german(sign_in, address, account):
    page = sign_in(account, locale="de-DE")
    page.goto(address + "#/batches/plans/nacht")
    for label in (
        "Sortieren nach",
        "Vorrang",
        "Ein Satz für je",
        "Eine neue Datei beginnt",
        "Deckblatt",
        "Art",
        "Solche mit einer Warnung",
        "Felder",
    ):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Die ersten Blätter")).to_be_visible()
