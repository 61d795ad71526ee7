"""Previews on a real farm: quick, unmetered, and unharmed by what is hostile."""

from __future__ import annotations

import io
import json
import time
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from tests.system.conftest import open_account
from tests.system.test_scrapes import scrape
from tests.waiting import wait_until

JSON = {"Content-Type": "application/json"}
# Some seconds of layout, without an end in C.
HEAVY = (
    '<document><data><json>{"rows": []}</json></data><flow><table>'
    '<tr for="r in rows"><td><p>{{ r.a }}</p></td><td><p>{{ r.b }}</p></td></tr></table></flow></document>'
)
ROWS = [{"a": f"word {n} and more words to be broken", "b": "x" * (n % 50)} for n in range(60_000)]


@pytest.fixture(scope="module")
def author(farm):
    return open_account(farm, plan="paid")


def ask(account, template, **fields):
    body = json.dumps({"template": template, **fields}).encode()
    while (answer := account.request("POST", "/v2/preview", body, headers=JSON)).status == 429:
        time.sleep(0.2)  # more than twenty in a second
    return answer


def page_of(text, page='<page margin="5mm"/>'):
    return f"<document>{page}<flow>{text}</flow></document>"


def picture_of(answer):
    return Image.open(io.BytesIO(b64decode(answer.json["file"]["data"])))


def test_a_page_is_shown_with_its_lines(author):
    answer = ask(author, "service-invoice", payload={"number": "2026-0043"})
    assert answer.status == 200, answer.body
    assert answer.json["findings"] == {"valid": True, "errors": [], "warnings": []}
    assert picture_of(answer).size == (794, 1123)
    assert len(answer.json["boxes"]) > 40
    stages = [part.split(";")[0] for part in answer.headers["Server-Timing"].split(", ")]
    assert stages == ["queue", "merge", "layout", "finish"]


@pytest.mark.parametrize("size", ["5000mm 5000mm", "5000mm 20mm", "20mm 5000mm"])
def test_a_bomb_of_pixels_is_drawn_small(author, size):
    answer = ask(author, page_of("<p>a</p>", f'<page size="{size}" margin="5mm"/>'), scale=8)
    assert answer.status == 200, answer.body
    width, height = picture_of(answer).size
    assert width * height <= 16_000_000
    assert answer.json["file"]["scale"] < 8


def test_an_encrypted_document_is_shown(author):
    text = page_of("<p>a</p>").replace("<flow>", '<security user-password="s"/><flow>')
    assert picture_of(ask(author, text)).size == (794, 1123)


def test_a_newer_call_of_a_session_stops_the_older_in_its_worker(farm, author):
    def is_busy(slots):
        return scrape(farm, "worker_metrics")["pressroom_worker_slots_busy", ()] == slots

    def send_newer_beside_older():
        wait_until(lambda: is_busy(0))
        with ThreadPoolExecutor(1) as pool:
            older = pool.submit(ask, author, HEAVY, payload={"rows": ROWS}, session="tab")
            wait_until(lambda: is_busy(1) or older.done())
            newer = ask(author, page_of("<p>new</p>"), session="tab")
            return newer.status, older.result()

    def find_stopped():
        newer, older = send_newer_beside_older()
        # On a busy machine either may be over its budget before the other comes.
        return older if (newer, older.status) == (200, 409) else None

    answer = wait_until(find_stopped)
    assert answer.json["data"]["code"] == "ERR_PREVIEW_SUPERSEDED"
    # Both slots are free again: two at once are answered soon.
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: ask(author, page_of("<p>a</p>")).status, range(2)))
    assert both == [200, 200]
