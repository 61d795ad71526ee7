"""The Studio in Debian's Chromium, on the farm of this folder's parent; nothing may break its policy."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

import api.studio
from tests.system.conftest import Account

SOURCE = Path(api.studio.__file__).with_name("source")
SECONDS = 30
WORDS = {"en": ("API key", "Sign in", "Templates"), "de": ("API-Schlüssel", "Anmelden", "Vorlagen")}
expect.set_options(timeout=SECONDS * 1000)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the sources of the page and install their packages, pinned by digest; return the folder."""
    folder = tmp_path_factory.mktemp("studio") / "source"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(npm, cwd=folder, check=True, timeout=300)
    return folder


@pytest.fixture
def open_page(chromium) -> Iterator[Callable[..., Page]]:
    """Provide a function that opens a page in a new browser context, watched for errors until the end."""
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def open_page(**options) -> Page:
        options = {"locale": "en-GB", "viewport": {"width": 1200, "height": 800}} | options
        context = chromium.new_context(**options)
        context.set_default_timeout(SECONDS * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on(
            "console",
            lambda line: said.append(line.text) if "Content Security Policy" in line.text else None,
        )
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        go_again_after_a_change_of_network(page)
        return page

    open_page.said = said
    yield open_page
    for context in contexts:
        context.close()
    assert not said


def code(page: Page, kind: str = "xml") -> Locator:
    """Find the pane of *kind* in the editor: its template (``xml``) or its data (``json``)."""
    return page.locator(f'.code[data-kind="{kind}"] .cm-content')


def write(page: Page, text: str, kind: str = "xml") -> None:
    """Replace the text of a pane by keys; ``fill`` lets Chromium put styles into it that the policy refuses."""
    code(page, kind).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def go_again_after_a_change_of_network(page: Page) -> None:
    """Load a page again whose files Chromium dropped, as it does when an interface of the machine changes."""
    dropped: list[str] = []
    page.on(
        "requestfailed",
        lambda one: dropped.append(one.url) if "NETWORK_CHANGED" in (one.failure or "") else None,
    )
    go = page.goto

    def go_until_all_is_there(url: str, **options):
        for _ in range(5):
            dropped.clear()
            answer = go(url, **options)
            if not any(one.endswith((".js", ".css")) for one in dropped):
                break
        return answer

    page.goto = go_until_all_is_there  # type: ignore[method-assign]


@pytest.fixture
def address(farm) -> str:
    """Return the URL of the Studio, as `pressroom up` opens it."""
    return f"http://127.0.0.1:{farm.record.ports['front']}/studio/"


@pytest.fixture
def sign_in(open_page, address) -> Callable[..., Page]:
    """Provide a function that opens a page and signs in with the key of an account."""

    def sign_in(account: Account, **options) -> Page:
        page = open_page(**options)
        page.goto(address)
        enter(page, account.api_key)
        return page

    return sign_in


def enter(page: Page, key: str) -> None:
    field, button, title = WORDS[page.evaluate("document.documentElement.lang")]
    page.get_by_label(field).fill(key)
    page.get_by_role("button", name=button).click()
    page.get_by_role("heading", name=title, exact=True).wait_for()


@pytest.fixture
def page(sign_in, account) -> Page:
    """Return a page with a new account signed in."""
    return sign_in(account)


@pytest.fixture
def find_violations(built):
    """Provide a function that returns the violations axe finds on a page."""
    axe = (built / "node_modules/axe-core/axe.min.js").read_text()

    def find(page: Page) -> list[str]:
        page.evaluate(axe + "; undefined")
        found = page.evaluate("axe.run()")
        return [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    return find
