"""The Studio for everybody: no finding of axe, by keyboard alone, narrow, enlarged, dark and in German."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

PLACES = {
    "templates": "Templates",
    "templates/service-invoice": "Invoice",
    "templates/service-invoice/compare/live/1": "Compare",
    "templates/service-invoice/batch": "Batch from a spreadsheet",
    "images": "Images",
    "fonts": "Fonts",
    "jobs": "Jobs",
    "batches": "Batches",
    "batches/plans": "Output plans",
    "account": "Account",
}
# Tables that scroll sideways, and targets below 24 px (WCAG 2.2, 2.5.8), which links in a sentence may be.
CUT_OR_SMALL = """() => [
  ...[...document.querySelectorAll('.wide')].filter(each => each.scrollWidth > each.clientWidth),
  ...[...document.querySelectorAll('button, summary, .bar a')].filter(each => {
    const { width, height } = each.getBoundingClientRect();
    return width && (width < 24 || height < 24);
  }),
].map(each => each.outerHTML.slice(0, 200))"""
NARROW = 320  # CSS px: 1280 at 400 %, WCAG 2.2 success criterion 1.4.10


def go_to(page: Page, place: str) -> None:
    page.goto(page.url.partition("#")[0] + f"#/{place}")
    page.get_by_role("heading", name=PLACES[place], exact=True, level=1).wait_for()
    expect(page.get_by_text("Loading…")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, sign_in, account, address, scheme, find_violations):
    page = open_page(color_scheme=scheme)
    page.goto(address)
    page.get_by_role("button", name="Sign in").wait_for()
    assert find_violations(page) == []
    account.store_template(b"<document><flow/></document>")
    account.render("<document><flow><p>One page</p></flow></document>")
    page = sign_in(account, color_scheme=scheme)
    for place in PLACES:
        go_to(page, place)
        assert find_violations(page) == [], place
    page.get_by_role("button", name="New key").click()
    assert find_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_nothing_is_found(sign_in, account, scheme, find_violations):
    page = sign_in(account, color_scheme=scheme)
    for place in ("nowhere", "templates/unknown", "templates/unknown/edit", "templates/unknown/batch",
                  "templates/unknown/compare/1/2", "batches/unknown"):  # fmt: skip
        page.goto(page.url.partition("#")[0] + f"#/{place}")
        expect(page.get_by_text(re.compile("Page not found|unknown"))).not_to_have_count(0)
        assert find_violations(page) == [], place


@pytest.mark.parametrize("width", [NARROW, 390, 600])
def test_nothing_is_cut_off_where_the_page_is_narrow(sign_in, account, width):
    account.store_template(b"<document><flow/></document>")
    account.store_logo()
    page = sign_in(account, viewport={"width": width, "height": 640})
    for place in PLACES:
        go_to(page, place)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width, place
        assert page.evaluate(CUT_OR_SMALL) == [], place


def test_lists_are_readable_on_phones(sign_in, account):
    """Names keep their width, and below them stands what the hidden columns say."""
    body = b"<document><flow><p>One page</p></flow></document>"
    headers = {"Content-Type": "text/xml", "Prefer": "respond-async, wait=20"}
    job = account.request("POST", "/v2/pdf", body, headers=headers)
    assert job.status in (200, 202)
    page = sign_in(account, viewport={"width": 390, "height": 844})
    go_to(page, "jobs")
    name = page.get_by_role("rowheader").first
    expect(name).to_contain_text("1 page ·")
    expect(page.get_by_role("columnheader", name="Accepted")).to_be_hidden()
    assert name.bounding_box()["width"] > 130
    expect(page.get_by_role("link", name="Jobs")).to_be_in_viewport(ratio=1)
    go_to(page, "account")
    expect(page.get_by_role("link", name="Account", exact=True)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_mapped_csv_is_accessible_and_not_cut_off(sign_in, account, scheme, find_violations):
    text = b'<document><data><json>{"name": "?"}</json></data><flow><p>{{ name }}</p></flow></document>'
    template = account.store_template(text)
    page = sign_in(account, color_scheme=scheme)
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/batch")
    file = {"name": "orders.csv", "mimeType": "text/csv", "buffer": b"name,internal\nAda,a\nBo,b\n"}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Path of the column internal").wait_for()
    expect(
        page.get_by_role("listitem").filter(has_text="Document 2").get_by_role("img")
    ).to_be_visible()
    assert find_violations(page) == []
    page.set_viewport_size({"width": NARROW, "height": 640})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= NARROW


def test_everything_is_done_by_keyboard(page: Page):
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    button = page.get_by_role("button", name="New template")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="By keyboard").wait_for()
    expect(page.get_by_role("main")).to_be_focused()


def test_the_page_is_translated_to_german(sign_in, account):
    page = sign_in(account, locale="de-AT")
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("link", name="Konto", exact=True).click()
    page.get_by_label("Sprache").select_option("en")
    expect(page.get_by_role("heading", name="Account", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Account", level=1)).to_be_visible()


def test_a_first_visit_is_small_and_from_one_origin(open_page, address):
    page = open_page()
    loaded = []

    def note(answer):  # the library marks the functions that it calls, which it cannot a list's own
        loaded.append(answer)

    page.on("response", note)
    page.goto(address, wait_until="networkidle")
    assert {each.url.split("/")[2] for each in loaded} == {address.split("/")[2]}
    sizes = [each.request.sizes()["responseBodySize"] for each in loaded]
    assert sum(sizes) < 60 * 1024
