"""Where results go, in the Studio: destinations of each kind, what was not delivered, the audit log and the history of a tag."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.system.services.studio.test_account import open_account
from tests.waiting import wait_until

ORDER = {"Content-Type": "text/xml", "Prefer": "respond-async"}
PDF = b"<document><flow><p>One page</p></flow></document>"
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4cTkcwFz0rSsUVCgKaDHjsMSb1ZHo9m5kO7cKTJrGT"
MAIL = {
    "Sender": "Billing <billing@example.org>",
    "Recipient": "{record.customer.email}",
    "Subject": "Invoice {record.number}",
    "Text": "It is attached.",
}


def send(account, method, path, fields):
    headers = {"Content-Type": "application/json"}
    answer = account.request(method, path, json.dumps(fields).encode(), headers=headers)
    assert answer.status in (200, 201), answer.body
    return answer.json


@pytest.mark.parametrize(
    ("kind", "url", "fields", "stored"),
    [
        (
            "HTTPS",
            "https://203.0.114.9/in",
            {"What is delivered": "peppol", "Names of files": "{date}/{job}"},
            {"file": "peppol", "name": "{date}/{job}"},
        ),
        ("S3 bucket", "s3://key@203.0.114.9/bucket", {"Secret key": "x"}, {}),
        (
            "SFTP",
            "sftp://ada@203.0.114.9/in",
            {"Password, or private key in PEM": "x\ny", "Host key": HOST_KEY},
            {"host_key": HOST_KEY},
        ),
        (
            "Mail",
            "smtp://203.0.114.9",
            MAIL,
            {"mail": {name.lower(): text for name, text in MAIL.items()}},
        ),
    ],
)
def test_a_destination_of_each_kind_is_added(page: Page, account, kind, url, fields, stored):
    open_account(page)
    page.get_by_role("button", name="Add destination").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option(kind)
    for label, value in {"Address": url, **fields}.items():
        field = dialog.get_by_label(label, exact=True)
        if label == "What is delivered":
            field.select_option(value)
        else:
            field.fill(value)
    dialog.get_by_role("button", name="Add destination").click()
    region = page.get_by_role("region", name="Destinations")
    expect(region.get_by_text(url)).to_be_visible()
    [made] = account.request("GET", "/v2/destinations").json["destinations"]
    assert {"url": url, **stored}.items() <= made.items()
    region.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(region.get_by_text("No destinations yet")).to_be_visible()


def test_what_was_not_delivered_is_told_and_delivered_again(sign_in, account, find_violations):
    asked = {"url": "https://203.0.114.9/in", "file": "peppol"}
    made = send(account, "POST", "/v2/destinations", asked)["id"]
    account.request("POST", f"/v2/pdf?deliver={made}", PDF, headers=ORDER)
    wait_until(lambda: account.request("GET", "/v2/deliveries?status=failed").json["deliveries"])
    page = sign_in(account, viewport={"width": 390, "height": 844})
    open_account(page)
    region = page.get_by_role("region", name="Destinations")
    region.get_by_text("1 undelivered").click()
    row = region.get_by_role("row", name="job_")
    expect(row).to_contain_text("there is no invoice for Peppol")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert find_violations(page) == []
    button = row.get_by_role("button", name="Deliver again")
    button.focus()
    page.keyboard.press("Enter")
    wait_until(
        lambda: len(account.request("GET", "/v2/deliveries").json["deliveries"][0]["attempts"]) == 2
    )
    region.get_by_role("button", name="Send a test").click()
    expect(region.get_by_role("row", name="pressroom-test")).to_be_visible()


def test_the_audit_log_and_the_history_of_a_tag_say_who_did_what(page: Page, account):
    made = account.store_template(PDF)
    path = f"/v2/templates/{made}"
    for _ in range(2):
        send(account, "POST", f"{path}/versions", {"message": "Ready"})
        account.request("PUT", path, PDF + b"<!-- -->", headers={"Content-Type": "text/xml"})
    for version in (1, 2):
        send(account, "PUT", f"{path}/tags/stable", {"version": version})
    page.goto(page.url.partition("#")[0] + f"#/templates/{made}")
    page.get_by_text("History of stable").click()
    history = page.get_by_role("group", name="History of stable")
    told = ["moved from version 1 to 2", "set to version 1"]
    expect(history.get_by_role("rowheader")).to_have_text(told)
    open_account(page)
    log = page.get_by_role("group", name="Audit log")
    expect(log.get_by_role("row", name="tag.set").first).to_contain_text("tag: stable, version: 2")
    expect(log.get_by_role("row", name="version.published")).to_have_count(2)
