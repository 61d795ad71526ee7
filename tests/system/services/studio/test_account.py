"""The account in the Studio: usage by day, keys that are shown once, and webhooks."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def open_account(page: Page) -> None:
    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("heading", name="Usage").wait_for()


def test_usage_is_listed_and_plotted(page: Page, account):
    for query in ("", "?draft=true"):
        answer = account.render("<document><flow><p>One page</p></flow></document>", query=query)
        assert answer.status == 200
    account.settled_usage(pages=1)
    page.wait_for_timeout(1500)  # until the counter has written the days, too
    open_account(page)
    usage = page.get_by_role("region", name="Usage").first
    expect(usage.locator(".figure-value").first).to_have_text("1 of 1,000")
    expect(usage.locator("canvas")).to_have_count(2)
    page.get_by_text("Usage by day as a table").click()
    cells = page.get_by_role("group", name="Usage by day as a table").get_by_role("cell")
    assert cells.all_inner_texts() == ["1", "1"]
    page.get_by_text("Usage by template as a table").click()
    rows = page.get_by_role("group", name="Usage by template as a table").get_by_role("row")
    assert rows.nth(1).inner_text().split("\t") == ["Without a template", "1", "0.1%", "1"]
    for plot in usage.locator("canvas").all():
        assert plot.evaluate(
            "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
            ".data.some((value) => value !== 0)"
        )
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_text("No renders in this period.")).to_be_visible()


def test_a_new_key_is_shown_once(page: Page, account):
    open_account(page)
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Shop")
    for scope in ("Reading", "Templates", "Account"):
        dialog.get_by_role("checkbox", name=re.compile(f"^{scope}")).uncheck()
    dialog.get_by_role("button", name="Create the key").click()
    key = page.locator(".secret code").inner_text()
    assert re.fullmatch("pr_[0-9A-Za-z]{40}", key)
    headers = {"Authorization": f"Bearer {key}"}
    assert account.request("GET", "/v2/authcheck", headers=headers).status == 200
    page.reload()
    expect(page.get_by_role("row", name="Shop")).to_contain_text("Rendering")
    expect(page.get_by_role("row", name="Shop")).not_to_contain_text("Account")
    assert account.request("GET", "/v2/keys", headers=headers).status == 403
    expect(page.locator("body")).not_to_contain_text(key)
    page.get_by_role("button", name="Revoke: Shop").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name="Shop")).to_contain_text("Revoked")
    assert account.request("GET", "/v2/authcheck", headers=headers).status == 401


def test_a_key_of_few_scopes_sees_what_it_may(open_page, address, account):
    made = account.request(
        "POST", "/v2/keys", b'{"scopes": ["render"]}', headers={"Content-Type": "application/json"}
    )
    page = open_page()
    page.goto(address)
    page.get_by_label("API key").fill(made.json["key"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
    assert names == ["Jobs", "Batches", "Account"]
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_text("You cannot see usage, keys, webhooks, destinations")).to_be_visible()


def test_a_webhook_is_added_rotated_and_deleted(page: Page, account):
    open_account(page)
    page.get_by_role("button", name="Add webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("https://203.0.114.9/pressroom")
    dialog.get_by_label("job.failed").uncheck()
    dialog.get_by_role("button", name="Add webhook").click()
    first = page.locator(".secret code").inner_text()
    assert first.startswith("whsec_")
    (webhook,) = account.request("GET", "/v2/webhooks").json["webhooks"]
    assert webhook["events"] == ["job.succeeded", "batch.finished"]
    page.get_by_text("Deliveries", exact=True).click()
    expect(page.get_by_text("No deliveries yet.")).to_be_visible()
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("row", name="webhook.test")).to_contain_text("Failed")
    page.get_by_role("button", name="New secret").click()
    page.get_by_role("dialog").get_by_role("button", name="New secret").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.locator(".secret code").inner_text() != first
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No webhooks yet")).to_be_visible()


def test_a_rejected_address_is_reported_in_the_dialog(page: Page):
    open_account(page)
    page.get_by_role("button", name="Add webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("http://127.0.0.1/")
    dialog.get_by_role("button", name="Add webhook").click()
    expect(dialog.get_by_role("alert")).to_contain_text("url is not allowed")
