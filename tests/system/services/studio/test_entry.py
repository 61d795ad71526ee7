"""Signing in and out of the Studio, and requests forged by another site."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.system.services.studio.conftest import enter


def test_a_key_signs_in_and_signing_out_ends_it(open_page, address, account):
    page = open_page()
    page.goto(address)
    enter(page, account.api_key)
    assert page.evaluate("document.cookie") == ""
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert account.api_key not in stored
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert account.api_key not in page.url
    page.reload()
    page.get_by_role("heading", name="Templates", exact=True).wait_for()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert page.context.cookies() == []
    page.context.add_cookies([cookie])
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("key", ["wrong", "pr_" + "0" * 40, "schlüssel"])
def test_a_wrong_key_is_reported(open_page, address, key):
    page = open_page()
    page.goto(address)
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("key")
    assert page.context.cookies() == []


def test_localhost_is_as_good_as_its_address(open_page, address, account):
    page = open_page()
    page.goto(address.replace("127.0.0.1", "localhost"))
    enter(page, account.api_key)


def test_revoking_the_key_of_a_session_throws_it_out(sign_in, account):
    page, other = sign_in(account), sign_in(account)
    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("dialog")).to_contain_text("signs you out")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The API key is revoked.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    # Its pictures of templates may have been refused first: then it is out already.
    other.evaluate("location.hash = '#/account'")
    expect(other.get_by_text("The API key is revoked.")).to_be_visible()


def test_a_network_failure_is_reported_and_retried(page):
    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("heading", name="Usage").wait_for()
    page.context.set_offline(True)
    page.get_by_role("link", name="Templates").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No templates yet")).to_be_visible()


@pytest.fixture
def other_site(serve) -> str:
    """Serve an empty page of another origin."""
    page = "<!doctype html><title>other</title>"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
    return serve(f"{head}{page}".encode()).url()


ATTACKS = """async (address) => {
  const path = new URL("/v2/templates?name=forged", address).href;
  const tries = [
    {method: "POST", mode: "no-cors"},
    {method: "POST", mode: "cors"},
    {method: "POST", mode: "cors", headers: {"X-Pressroom-Studio": "1"}},
    {method: "POST", mode: "no-cors", body: "<document/>", headers: {"Content-Type": "text/plain"}},
    {method: "GET", mode: "cors", headers: {"X-Pressroom-Studio": "1"}},
  ];
  const ends = [];
  for (const each of tries) {
    try {
      const answer = await fetch(path, {...each, credentials: "include"});
      ends.push(answer.type + answer.status);
    } catch {
      ends.push("refused");
    }
  }
  return ends;
}"""


def test_another_site_changes_and_reads_nothing(page, account, address, other_site):
    """The other port is another origin, but the same site: SameSite alone would let it pass."""
    page.goto(other_site)
    ends = page.evaluate(ATTACKS, address)
    assert ends == ["opaque0", "refused", "refused", "opaque0", "refused"]
    assert account.request("GET", "/v2/templates").json == {"templates": []}


def test_a_form_of_another_site_changes_nothing(page, account, address, other_site):
    page.goto(other_site)
    page.evaluate(
        """(address) => {
          const form = document.createElement("form");
          form.method = "POST";
          form.action = new URL("/v2/templates?name=forged", address).href;
          document.body.append(form);
          form.submit();
        }""",
        address,
    )
    page.wait_for_url("**/v2/templates*")
    expect(page.locator("body")).to_contain_text("API key is required")
    assert account.request("GET", "/v2/templates").json == {"templates": []}


def test_no_other_site_shows_the_studio_in_a_frame(open_page, address, other_site):
    page = open_page()
    page.goto(other_site)
    page.evaluate(
        """(address) => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.onload = done;
          frame.src = address;
          document.body.append(frame);
        })""",
        address,
    )
    assert page.frames[1].url.startswith("chrome-error:")
    open_page.said.clear()  # the browser tells the other page why
