"""A batch with an output plan in the Studio: its account, its proof, and decisions about its documents."""

from __future__ import annotations

import json
import time

import pytest
from playwright.sync_api import Page, expect

LETTER = b'<document><data><json>{"to": {"zip": "none"}}</json></data><flow><p>{{ to.zip }}</p></flow></document>'
ROWS = [{"to": {"zip": "24103"}}, {}, {"to": {"zip": "10115"}}, {}]
JSON = {"Content-Type": "application/json"}
MISSING = {"hold": {"conditions": [{"value": "to.zip", "missing": True}]}}


def run(account, plan: dict, rows: list = ROWS, letter: bytes = LETTER) -> str:
    """Render documents by a plan to the end; return the batch."""
    stored = account.request("PUT", "/v2/plans/run", json.dumps(plan).encode(), headers=JSON)
    assert stored.status in (200, 201)
    path = f"/v2/batches?template={account.store_template(letter)}&plan=run"
    made = account.request("POST", path, json.dumps(rows).encode(), headers=JSON)
    batch = made.json["id"]
    until = time.monotonic() + 60
    while account.request("GET", f"/v2/batches/{batch}").json["status"] != "finished":
        assert time.monotonic() < until
        time.sleep(0.2)
    return batch


def open_run(page: Page, batch: str) -> None:
    page.goto(page.url.partition("#")[0] + f"#/batches/{batch}")
    page.locator(".sums").wait_for()


def expect_sums(page: Page, **sums: int) -> None:
    for name, value in sums.items():
        label = page.locator(".sums div").filter(
            has=page.get_by_text(name.replace("_", " "), exact=True)
        )
        expect(label.locator("dd")).to_have_text(str(value))


def test_held_documents_are_released_and_rejected(page: Page, account):
    open_run(page, run(account, MISSING))
    expect_sums(page, Read=4, In_files=2, Held=2, Rejected=0, Open=0)
    expect(page.get_by_text("2 documents are held")).to_be_visible()
    page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Which").select_option("documents")
    dialog.get_by_label("Numbers of documents").fill("2")
    dialog.get_by_role("button", name="Reject").click()
    expect_sums(page, In_files=2, Held=1, Rejected=1)
    page.get_by_role("button", name="Release").click()
    dialog.get_by_label("Which").select_option("reason")
    dialog.get_by_label("Reason").fill("condition:to.zip")
    page.keyboard.press("Enter")
    expect_sums(page, Read=4, In_files=3, Held=0, Rejected=1, Open=0)
    expect(page.get_by_text("File 2 · 1 document · 1 page · 1 sheet")).to_be_visible()


def test_nothing_leaves_before_the_proof_is_released(page: Page, account):
    open_run(page, run(account, {"hold": {"proof": 2}}))
    expect(page.get_by_text("The proof is ready.")).to_be_visible()
    expect_sums(page, In_files=0, Held=4)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the proof").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF")
    page.get_by_role("button", name="Release the proof").click()
    expect_sums(page, In_files=4, Held=0, Open=0)
    expect(page.get_by_text("File 1 · 4 documents")).to_be_visible()
    expect(page.get_by_text("Proof · 2 documents")).to_be_visible()


def test_a_range_is_reprinted_as_a_file(page: Page, account):
    open_run(page, run(account, {"split": {"documents": 3}}))
    page.get_by_role("button", name="Reprint").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Count").select_option("sets")
    dialog.get_by_label("From").fill("1")
    dialog.get_by_label("To").fill("9")
    dialog.get_by_role("button", name="Reprint").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("To").fill("2")
    dialog.get_by_label("Mark each page as a copy").check()
    dialog.get_by_role("button", name="Reprint").click()
    expect(page.get_by_text("Reprint 1 · 2 documents · 2 pages")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Reprint 1").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF")


def test_a_run_without_files_says_why(page: Page, account):
    failed = run(account, {}, letter=b"<document><flow><p>{{ gone }}</p></flow></document>")
    open_run(page, failed)
    expect(page.get_by_text("There are no files: no document could be made.")).to_be_visible()
    expect_sums(page, Read=4, In_files=0, Failed=4)
    open_run(page, run(account, MISSING, rows=[{}]))
    expect(page.get_by_text("There are no files yet: what was made is held.")).to_be_visible()


def test_a_run_that_ended_without_its_result_is_listed_as_failed(page: Page, account):
    cover = account.store_template(b"<document><flow><p>{{ gone }}</p></flow></document>")
    batch = run(account, {"bundle": {"cover": cover}})
    page.goto(page.url.partition("#")[0] + "#/batches")
    row = page.get_by_role("row").filter(has_text=batch)
    expect(row.get_by_text("Failed", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_run(sign_in, account, find_violations, scheme):
    batch = run(account, MISSING, rows=[*ROWS, *[{"to": {"zip": str(n)}} for n in range(40)]])
    page = sign_in(account, color_scheme=scheme, locale="de-DE")
    open_run(page, batch)
    expect(page.get_by_role("heading", name="Dateien und Abrechnung")).to_be_visible()
    assert find_violations(page) == []
    page.get_by_role("button", name="Verwerfen").click()
    assert find_violations(page) == []
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert find_violations(page) == []
