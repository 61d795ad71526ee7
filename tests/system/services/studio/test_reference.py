"""The page at /docs: every call with samples, a search, and a form that sends it with a key typed in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def open_reference(open_page, address):
    """Provide a function that opens the page."""

    def open_it(**options) -> Page:
        page = open_page(**options)
        page.goto(address.replace("/studio/", "/docs"))
        page.get_by_role("heading", name="Pressroom API").wait_for()
        return page

    return open_it


def find_call(page: Page, name: str):
    return page.get_by_role("region", name=name, exact=True)


def test_every_call_is_there_and_found_by_its_words(open_reference):
    page = open_reference()
    described = page.evaluate("fetch('/docs/openapi.json').then((one) => one.json())")
    names = [each["operationId"] for path in described["paths"].values() for each in path.values()]
    shown = page.evaluate("[...document.querySelectorAll('.operation')].map((one) => one.id)")
    assert sorted(shown) == sorted(names)
    page.get_by_label("Search the calls").fill("cancelBatch")
    expect(page.locator(".operation")).to_have_count(1)


def test_its_texts_are_in_the_language_of_the_page(open_reference):
    page = open_reference(locale="de-DE")
    call = find_call(page, "Ein PDF rendern")
    expect(call).to_contain_text("Die Vorlage, mit der gerendert wird.")
    expect(page.get_by_role("heading", name="Aufträge", exact=True)).to_be_visible()
    expect(page.locator("#Finding")).to_contain_text("Beschreibung des Problems.")
    page.get_by_label("Sprache").select_option("en")
    expect(find_call(page, "Render a PDF")).to_contain_text("The template to render with.")


@pytest.mark.parametrize("label", ["curl", "Python", "JavaScript"])
def test_a_copied_sample_runs_as_it_stands(open_reference, account, address, label, tmp_path):
    page = open_reference()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    call = find_call(page, "Render a PDF")
    call.get_by_label("Sample", exact=True).select_option(label)
    call.get_by_role("button", name="Copy").click()
    expect(call.get_by_text("Copied")).to_be_visible()
    sample = page.evaluate("navigator.clipboard.readText()")
    command = {
        "curl": ["sh", "-c", sample],
        "Python": [sys.executable, "-c", sample],
        "JavaScript": ["node", "--input-type=module", "-e", sample],
    }[label]
    environment = {
        "PATH": os.environ["PATH"],
        "PRESSROOM_URL": address.replace("/studio/", ""),
        "PRESSROOM_KEY": account.api_key,
    }
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=60)
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF")


def test_a_call_is_sent_with_the_key_and_the_values_typed_in(open_reference, account):
    template = account.store_template(b"<document><flow/></document>")
    page = open_reference(locale="de-DE")
    call = find_call(page, "Eine Vorlage lesen")
    call.get_by_text("Ausprobieren").click()
    call.get_by_label("template", exact=True).fill(template)
    call.get_by_role("button", name="Senden").click()
    expect(call.locator(".answer")).to_contain_text("401")
    page.get_by_label("API-Schlüssel").fill(account.api_key)
    call.get_by_role("button", name="Senden").click()
    expect(call.locator(".answer")).to_contain_text("200 OK")
    expect(call.get_by_role("group", name="Antwort: Eine Vorlage lesen")).to_contain_text(template)
    expect(call.get_by_role("group", name="Beispiel: Eine Vorlage lesen")).to_contain_text(template)


def test_a_pdf_is_saved_from_the_form(open_reference, account):
    page = open_reference()
    page.get_by_label("API key").fill(account.api_key)
    call = find_call(page, "Render a PDF")
    call.get_by_text("Try it").click()
    call.get_by_role("button", name="Send").click()
    with page.expect_download() as saved:
        call.get_by_role("button", name="Save the response").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_reference_has_no_finding_of_axe(open_reference, find_violations, scheme):
    page = open_reference(color_scheme=scheme, locale="de-DE")
    find_call(page, "Viele Dokumente rendern").get_by_text("Ausprobieren").click()
    # One component writes every call; axe takes minutes for all of them.
    page.get_by_role("searchbox").fill("zusammengeführt")
    expect(page.locator(".operation").nth(12)).not_to_be_attached()
    assert page.locator(".operation").count() > 1
    assert find_violations(page) == []
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert find_violations(page) == []
