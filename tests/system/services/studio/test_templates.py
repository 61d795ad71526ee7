"""Templates in the Studio: made, published, named, rolled back and deleted; and names that attack the page."""

from __future__ import annotations

import json
from urllib.parse import quote

from playwright.sync_api import Page, expect


def test_a_template_from_nothing_to_its_end(page: Page, account):
    page.get_by_role("button", name="New template").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Reminder")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Reminder").wait_for()
    page.get_by_role("link", name="Versions, tags and slug").click()
    expect(page.get_by_text("No versions yet")).to_be_visible()
    template = account.request("GET", "/v2/templates").json["templates"][0]
    answer = account.render(b"{}", "application/json", f"?template={template['id']}")
    assert answer.pages == 1  # what the page offers as blank renders

    publish(page, "First")
    expect(page.get_by_text("Version 1 is published.")).to_be_visible()
    expect(page.get_by_role("button", name="Publish", exact=True)).to_be_disabled()

    path = f"/v2/templates/{template['id']}"
    changed = b"<document><flow><p>Second</p></flow></document>"
    account.request("PUT", path, changed, headers={"Content-Type": "text/xml"})
    page.reload()
    publish(page, "Second")
    expect(page.get_by_text("Version 2 is published.")).to_be_visible()

    page.get_by_role("button", name="Tag: version 1").click()
    page.get_by_role("dialog").get_by_label("Tag").fill("stable")
    page.get_by_role("dialog").get_by_role("button", name="Tag").click()
    expect(page.get_by_text("stable points to version 1.")).to_be_visible()
    assert account.request("GET", f"{path}/tags/stable").json["version"] == 1

    page.get_by_role("button", name="Make live: version 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Make live").click()
    expect(page.get_by_text("The live content is that of version 1.")).to_be_visible()
    assert b"Second" not in account.request("GET", path).body
    first = account.request("GET", f"{path}/versions/1").json
    assert account.request("GET", path).json["sha256"] == first["sha256"]

    page.get_by_role("button", name="Assign").click()
    page.get_by_role("dialog").get_by_label("Slug").fill("reminder")
    page.get_by_role("dialog").get_by_role("button", name="Assign").click()
    expect(page.get_by_text("template=reminder")).to_be_visible()

    page.get_by_role("button", name="Remove the tag stable").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the tag").click()
    expect(page.get_by_text("The tag stable is removed.")).to_be_visible()
    page.get_by_role("button", name="Release").click()
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    expect(page.get_by_text("A slug is a readable name")).to_be_visible()

    page.get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Dunning letter")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_role("heading", name="Dunning letter").wait_for()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No templates yet")).to_be_visible()


def test_a_copy_of_a_public_template_is_ones_own(page: Page, account):
    page.get_by_role("button", name="Start from this: Invoice").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Our invoice")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Our invoice").wait_for()
    own = account.request("GET", "/v2/templates").json["templates"][0]
    public = account.request("GET", "/v2/templates/service-invoice").json
    assert own["sha256"] == public["sha256"]


def test_a_public_template_is_read_only(page: Page):
    page.get_by_role("link", name="Letter").click()
    expect(page.get_by_text("Public, read only")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)


def test_a_concurrent_change_is_reported_and_not_overwritten(page: Page, account):
    template_id = account.store_template(b"<document><flow/></document>")
    page.goto(page.url.partition("#")[0] + f"#/templates/{template_id}")
    page.get_by_role("button", name="Rename").click()
    path = f"/v2/templates/{template_id}"
    fields = json.dumps({"name": "Theirs"}).encode()
    account.request("PATCH", path, fields, headers={"Content-Type": "application/json"})
    page.get_by_role("dialog").get_by_label("Name").fill("Ours")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("alert")).to_contain_text("has changed")
    assert account.request("GET", path).json["name"] == "Theirs"


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "{{constructor.constructor('alert(1)')()}}",
    "javascript:alert(1)",
    "\u202egnp.exe \u2066",
    "x" * 200,
]


def test_names_that_attack_are_text(page: Page, account):
    """Text never becomes markup; a script that ran would be a dialog, which fails the test."""
    for name in HOSTILE:
        body = b"<document><!--</script><script>alert(2)</script>--><flow/></document>"
        made = account.request(
            "POST", f"/v2/templates?name={quote(name)}", body, headers={"Content-Type": "text/xml"}
        )
        assert made.status == 201
        note = json.dumps({"message": name}).encode()
        account.request(
            "POST",
            f"/v2/templates/{made.json['id']}/versions",
            note,
            headers={"Content-Type": "application/json"},
        )
    page.reload()
    for name in HOSTILE:
        page.get_by_role("link", name=name, exact=True).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
        page.get_by_role("link", name="Templates", exact=True).first.click()
    assert page.locator("main img, main script").count() == 0


def test_an_unknown_address_shows_a_message(page: Page):
    for fragment in ("#/nothing", "#/templates/none-such", "#/%E0%A4%A"):
        page.goto(page.url.partition("#")[0] + fragment)
        page.reload()
        said = page.get_by_text("Page not found").or_(page.get_by_role("alert"))
        expect(said).to_be_visible()


def publish(page: Page, note: str) -> None:
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_label("Note").fill(note)
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
