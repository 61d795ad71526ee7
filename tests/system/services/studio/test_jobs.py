"""Jobs and batches in the Studio: how far they are, what failed and why, and what they gave."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

GOOD = "<document><flow><p>One page</p></flow></document>"
BAD = '<document>\n<flow><p font-size="huge">x</p></flow></document>'
TEMPLATE = (
    b'<document><data><json>{"n": 1}</json><field name="n" type="integer"/></data>'
    b"<flow><p>{{ n }}</p></flow></document>"
)


def start(account, body: str) -> str:
    headers = {"Content-Type": "text/xml", "Prefer": "respond-async"}
    answer = account.request("POST", "/v2/pdf", body.encode(), headers=headers)
    assert answer.status == 202
    return answer.json["id"]


def test_a_job_is_listed_followed_and_downloaded(page: Page, account):
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_text("No jobs yet")).to_be_visible()
    good, bad = start(account, GOOD), start(account, BAD)
    page.reload()
    expect(page.get_by_role("row", name=good)).to_contain_text("Succeeded")
    expect(page.get_by_role("row", name=bad)).to_contain_text("Failed")
    expect(page.get_by_role("row", name=bad)).to_contain_text("line 2, column")
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Download: {good}").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF-")
    page.get_by_label("Status").select_option("failed")
    expect(page.get_by_role("row", name=good)).to_have_count(0)
    expect(page.get_by_role("row", name=bad)).to_be_visible()
    page.get_by_label("Status").select_option("running")
    expect(page.get_by_text("None of this status")).to_be_visible()


def test_a_batch_is_followed_to_its_end(page: Page, account):
    template = account.store_template(TEMPLATE)
    lines = [json.dumps({"n": n}) for n in range(20)] + ["not json", json.dumps({"n": "x"})]
    page.get_by_role("link", name="Batches").click()
    expect(page.get_by_text("No batches yet")).to_be_visible()
    answer = account.request(
        "POST",
        f"/v2/batches?template={template}&output=zip",
        "\n".join(lines).encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert answer.status == 202
    page.reload()
    row = page.get_by_role("row", name=answer.json["id"])
    expect(row).to_contain_text("Finished", timeout=60_000)
    expect(row).to_contain_text("22 of 22, 2 failed")
    row.get_by_role("link", name="test").click()
    page.get_by_label("Status").select_option("failed")
    failed = page.get_by_role("row", name="21")
    expect(failed).to_contain_text("Failed")
    expect(failed.locator(".finding")).not_to_be_empty()
    expect(page.get_by_role("row", name="1", exact=True)).to_have_count(0)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the result").click()
    assert saved.value.path().read_bytes().startswith(b"PK")
    page.get_by_label("Status").select_option("succeeded")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download: 1", exact=True).click()
    assert saved.value.path().read_bytes().startswith(b"%PDF-")
