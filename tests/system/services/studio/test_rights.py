"""A session of few scopes: the Studio says what it may not do, and does not offer it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.system.services.studio.conftest import enter

TEXT = b'<document><data><json>{"name": "?"}</json></data><flow><p>Dear {{ name }}</p></flow></document>'
LOOK_ONLY = "You can look at templates, images and fonts, but not change them"
NO_RENDERS = "You can look at jobs and batches and download PDFs, but not render"
# What a session that only reads is offered.
ALLOWED = {
    "Earlier",
    "Later",
    "Previous page",
    "Next page",
    "New set",
    "Rename",
    "Delete",  # of sample data, which is the browser's
}


@pytest.fixture
def open_with(open_page, address, account):
    """Provide a function that signs in with a key of some scopes."""

    def open_with(*scopes: str, **options) -> Page:
        body = json.dumps({"scopes": scopes}).encode()
        headers = {"Content-Type": "application/json"}
        made = account.request("POST", "/v2/keys", body, headers=headers)
        page = open_page(**options)
        page.goto(address)
        enter(page, made.json["key"])
        return page

    return open_with


def go_to(page: Page, place: str, heading: str | re.Pattern[str]) -> None:
    page.goto(page.url.partition("#")[0] + f"#/{place}")
    page.get_by_role("heading", name=heading, exact=True, level=1).wait_for()
    expect(page.get_by_text("Loading…")).to_have_count(0)


def fill(account) -> tuple[str, str, str]:
    """Store one of each; return the ids of the template, a job and a batch."""
    template = account.store_template(TEXT)
    account.request("POST", f"/v2/templates/{template}/versions", b'{"message": "First"}',
                    headers={"Content-Type": "application/json"})  # fmt: skip
    account.request("PUT", f"/v2/templates/{template}/tags/live-now", b'{"version": 1}',
                    headers={"Content-Type": "application/json"})  # fmt: skip
    headers = {"Content-Type": "application/json", "Prefer": "respond-async, wait=20"}
    job = account.request("POST", f"/v2/pdf?template={template}", b"{}", headers=headers)
    assert job.status in (200, 202)
    (record,) = account.request("GET", "/v2/jobs").json["jobs"]
    headers = {"Content-Type": "application/x-ndjson"}
    batch = account.request("POST", f"/v2/batches?template={template}", b"{}\n", headers=headers)
    return template, record["id"], batch.json["id"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_reader_sees_all_of_it_and_is_offered_no_change(
    open_with, account, scheme, find_violations
):  # fmt: skip
    template, _, batch = fill(account)
    page = open_with("read", color_scheme=scheme)
    names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
    assert names == ["Templates", "Images", "Fonts", "Jobs", "Batches", "Account"]
    title = account.request("GET", f"/v2/templates/{template}").json["name"]
    for place, heading, sentence in (
        ("templates", "Templates", LOOK_ONLY),
        (f"templates/{template}", title, LOOK_ONLY),
        (f"templates/{template}/edit", title, LOOK_ONLY),
        ("images", "Images", LOOK_ONLY),
        ("fonts", "Fonts", LOOK_ONLY),
        ("jobs", "Jobs", NO_RENDERS),
        ("batches", "Batches", NO_RENDERS),
        ("account", "Account", "You cannot see keys, webhooks, destinations and the audit log"),
    ):
        go_to(page, place, heading)
        expect(page.get_by_text(sentence)).to_be_visible()
        offered = set(page.get_by_role("main").get_by_role("button").all_inner_texts())
        assert {each for each in offered if not each.startswith("Download")} <= ALLOWED, place
        assert find_violations(page) == [], place
    expect(page.get_by_role("heading", name="Usage", exact=True)).to_be_visible()
    go_to(page, f"batches/{batch}", "Batch")
    expect(page.get_by_role("button", name="Download the result")).to_be_visible(timeout=60_000)


def test_a_reader_looks_at_a_template_with_data_and_cannot_type_into_it(open_with, account):
    template, _, _ = fill(account)
    page = open_with("read")
    page.get_by_role("link", name="Templates").click()
    go_to(page, f"templates/{template}", re.compile("."))
    page.get_by_role("link", name="View with data").click()
    shown = page.get_by_role("img", name="Page 1 of 1")
    shown.wait_for()
    before = shown.get_attribute("src")
    text = page.get_by_role("textbox", name="Template")
    expect(text).to_have_attribute("aria-readonly", "true")
    text.click()
    page.keyboard.type("nothing of this")
    expect(text).not_to_contain_text("nothing of this")
    data = page.get_by_role("textbox", name="Data")
    data.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('{"name": "Ada"}')
    expect(shown).not_to_have_attribute("src", before or "")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)


def test_a_reader_downloads_what_was_rendered(open_with, account):
    _, job, _ = fill(account)
    page = open_with("read")
    go_to(page, "jobs", "Jobs")
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Download: {job}").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF-")


def test_an_author_without_the_right_to_render_writes_and_starts_no_batch(open_with, account):
    template, _, _ = fill(account)
    page = open_with("read", "templates")
    go_to(page, f"templates/{template}", re.compile("."))
    expect(page.get_by_role("link", name="Edit")).to_be_visible()
    expect(page.get_by_role("link", name="Start a batch")).to_have_count(0)
    go_to(page, f"templates/{template}/batch", "Batch from a spreadsheet")
    expect(page.get_by_text(NO_RENDERS)).to_be_visible()
    file = {"name": "orders.csv", "mimeType": "text/csv", "buffer": b"name\nAda\n"}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("button", name="Render 1 document")).to_be_disabled()
