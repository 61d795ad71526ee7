"""Templates in the Studio: made, published, named, rolled back and deleted; and names that attack the page."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.system.services.studio.conftest import enter


def test_a_template_from_nothing_to_its_end(page: Page, account):
    page.get_by_role("button", name="New template").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Reminder")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Reminder").wait_for()
    page.get_by_role("link", name="Versions, tags and slug").click()
    expect(page.get_by_text("No versions yet")).to_be_visible()
    template = account.request("GET", "/v2/templates").json["templates"][0]
    query = f"?template={template['id']}&draft=true"
    answer = account.render(b"{}", "application/json", query)
    assert answer.pages == 1  # what the page offers as blank renders with its sample values

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
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type the name of the template").fill("Reminder")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("another one")
    dialog.get_by_label("Type the name of the template").fill("Dunning letter")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No templates yet")).to_be_visible()


def test_a_broken_template_is_published_only_when_confirmed(page: Page, account):
    made = account.request(
        "POST",
        "/v2/templates?name=Broken",
        b"<document><flow><tabel/></flow></document>",
        headers={"Content-Type": "text/xml"},
    ).json
    page.goto(page.url.split("#")[0] + f"#/templates/{made['id']}")
    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The template has 1 error")).to_be_visible()
    dialog.get_by_role("button", name="Publish").click()
    assert account.request("GET", f"/v2/templates/{made['id']}/versions").json["versions"] == []
    dialog.get_by_label("Publish it anyway").check()
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 1 is published.")).to_be_visible()


def test_a_copy_of_a_public_template_is_ones_own(page: Page, account):
    page.get_by_role("button", name="Start from this: Invoice").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Our invoice")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Our invoice").wait_for()
    own = account.request("GET", "/v2/templates").json["templates"][0]
    public = account.request("GET", "/v2/templates/service-invoice").json
    assert own["sha256"] == public["sha256"]


def test_a_public_template_is_read_only(page: Page):
    page.get_by_role("link", name="Letter", exact=True).click()
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
    assert page.locator("main img:not(.thumbnail img), main script").count() == 0


def test_two_versions_are_compared_as_text_and_as_pages(page: Page, account):
    first = "<document><page size='A6'/><flow><p>One</p>\n<p>Same</p><p>{}</p></flow></document>"
    path = f"/v2/templates/{account.store_template(first.format('old').encode())}"
    headers = {"Content-Type": "application/json"}
    account.request("POST", f"{path}/versions", b"{}", headers=headers)
    second = first.format("new<break/>Two").replace("<break/>", "</p><break/><p>")
    account.request("PUT", path, second.encode(), headers={"Content-Type": "text/xml"})
    page.goto(page.url.partition("#")[0] + "#" + path.removeprefix("/v2"))
    page.get_by_role("link", name="Compare: version 1").click()
    rows = page.get_by_role("group", name="Text").get_by_role("row")
    expect(rows.filter(has=page.get_by_label("removed"))).to_contain_text("old")
    expect(rows.filter(has=page.get_by_label("added"))).to_contain_text("new")
    expect(page.get_by_text("pixels differ.")).to_be_visible()
    count = """(canvas, [red, green, blue]) => {
      const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) found += 1;
      return found;
    }"""
    marked = page.get_by_role("img", name="Page 1 with changed pixels marked")
    for colour in ([179, 38, 30], [31, 95, 191]):  # of "old", and of "new"
        assert marked.evaluate(count, colour) > 10
    page.get_by_role("button", name="Next page").click()
    marked = page.get_by_role("img", name="Page 2 with changed pixels marked")
    expect(marked).to_be_visible()
    page.get_by_label("After").select_option("1")
    expect(page.get_by_text("The texts are the same.")).to_be_visible()
    expect(page.get_by_text("Page 1 is the same.")).to_be_visible()


def test_a_template_that_others_use_is_kept_and_names_them(page: Page, account):
    parent = account.store_template(b"<document><flow/></document>")
    path, headers = f"/v2/templates/{parent}", {"Content-Type": "application/json"}
    account.request("POST", f"{path}/versions", b"{}", headers=headers)
    child = account.store_template(f'<document extends="{parent}@1"/>'.encode())
    page.goto(page.url.partition("#")[0] + f"#/templates/{parent}")
    used_by = page.get_by_role("region", name="Used by")
    expect(used_by).to_contain_text(child)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("extend or import")
    expect(page.get_by_role("dialog").get_by_role("button", name="Delete")).to_be_disabled()


def test_templates_are_listed_with_a_picture_of_their_first_page(page: Page, account):
    account.store_template(b"<document><flow><p>Picture</p></flow></document>")
    page.reload()
    own = page.get_by_role("table").locator(".thumbnail img")
    expect(own).to_be_visible()
    assert own.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 50
    expect(page.locator(".card .thumbnail img").first).to_be_visible()


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


def test_a_guarded_tag_moves_to_what_another_key_approved(
    page: Page, open_page, address, account, find_violations
):
    headers = {"Content-Type": "application/json"}
    template = account.store_template(b"<document><flow><p>First</p></flow></document>")
    path = f"/v2/templates/{template}"
    account.request("POST", f"{path}/versions", b"{}", headers=headers)
    changed = b"<document><flow><p>Second</p></flow></document>"
    account.request("PUT", path, changed, headers={"Content-Type": "text/xml"})
    account.request("POST", f"{path}/versions", b"{}", headers=headers)
    page.goto(f"{address}#/templates/{template}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Tag: version 1").click()
    dialog.get_by_label("Tag").fill("released")
    dialog.get_by_label("Guarded").check()
    dialog.get_by_role("button", name="Tag").click()
    expect(page.get_by_text("released, guarded")).to_be_visible()
    assert find_violations(page) == []
    expect(page.get_by_role("row").filter(has_text="latest")).to_contain_text("waits for approval")
    page.get_by_role("button", name="Approve: version 2").click()
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_role("alert")).to_contain_text("another one has to approve")
    page.keyboard.press("Escape")

    made = account.request("POST", "/v2/keys", b'{"scopes": ["templates"]}', headers=headers)
    second = open_page()
    second.goto(address)
    enter(second, made.json["key"])
    second.goto(f"{address}#/templates/{template}")
    expect(second.get_by_text("released, guarded")).to_be_visible()
    expect(second.get_by_role("button", name="guard")).to_have_count(0)
    second.get_by_role("button", name="Approve: version 2").click()
    dialog = second.get_by_role("dialog")
    expect(dialog.get_by_role("link")).to_have_attribute("href", re.compile("compare/1/2$"))
    dialog.get_by_role("button", name="Approve").click()
    expect(second.get_by_text("Version 2 is approved.")).to_be_visible()
    expect(second.get_by_text("approved: ")).to_be_visible()
    second.get_by_role("button", name="Tag: version 2").click()
    dialog.get_by_label("Tag").fill("released")
    dialog.get_by_role("button", name="Tag").click()
    expect(second.get_by_text("released points to version 2.")).to_be_visible()
    second.get_by_role("button", name="Approve: version 1").click()  # to go back to it
    second.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(second.get_by_text("Version 1 is approved.")).to_be_visible()

    zipped = {"Content-Type": "application/zip"}
    account.request("PUT", f"{path}/cases", b"PK\x03\x04", headers=zipped)
    account.request("POST", f"{path}/versions", b"{}", headers=headers)
    page.reload()
    page.get_by_role("button", name="Approve: version 3").click()
    told = f"approve it with pressroom template approve {template} 3"
    expect(page.get_by_role("dialog")).to_contain_text(told)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="released, guarded: Take the guard away").click()
    page.get_by_role("dialog").get_by_role("button", name="Take the guard away").click()
    expect(page.get_by_text("The tag released is not guarded any more.")).to_be_visible()
    assert "guarded" not in account.request("GET", f"{path}/tags/released").json
