"""POST /v2/images and /v2/fonts with source_url: fetching, and hostile remote servers."""

import threading
from dataclasses import replace
from io import BytesIO
from unittest.mock import Mock

import pytest
from PIL import Image

from api.app import create_app
from api.files.store import FONT, SourceUrlFetcher
from deploy.embedded.loopback import free_port
from shared.errors import ServiceError
from shared.limits import MAX_FONT_BYTES
from shared.outbound import Fetcher, FetcherBusy
from tests.golden.case import FOLDER
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("upload_worker")


@pytest.fixture
def settings(settings, open_fetcher_url):
    return replace(settings, fetcher_url=open_fetcher_url)


def draw(kind="PNG"):
    out = BytesIO()
    Image.new("RGB", (4, 3), "navy").save(out, kind)
    return out.getvalue()


def say(body, status="200 OK", length=None):
    return f"HTTP/1.1 {status}\r\nContent-Length: {length or len(body)}\r\n\r\n".encode() + body


def post(caller, url):
    return caller.post("/v2/images", json={"name": "logo", "source_url": url})


def test_the_image_at_an_address_is_stored(caller, serve):
    server = serve(say(draw()))
    answer = post(caller, server.url("/logo.png"))
    assert answer.status_code == 201
    assert (answer.json["content_type"], answer.json["width"]) == ("image/png", 4)
    assert caller.get("/v2/images/logo").json == answer.json
    assert post(caller, server.url("/logo.png")).status_code == 200


def test_the_font_at_an_address_is_stored(caller, serve):
    font = (FOLDER / "fonts" / "brand-bold.woff2").read_bytes()
    server = serve(say(font))
    fields = {"name": "brand", "source_url": server.url("/brand.woff2")}
    answer = caller.post("/v2/fonts", json=fields)
    assert answer.status_code == 201
    assert (answer.json["format"], answer.json["bytes"]) == ("woff2", len(font))
    assert caller.get("/v2/fonts/brand").json == answer.json
    assert len(server.requests) == 1


def test_what_is_no_font_at_an_address_is_rejected_as_an_upload_is(caller, serve):
    def post_font(url):
        return caller.post("/v2/fonts", json={"name": "brand", "source_url": url})

    refused = post_font(serve(say(draw())).url())
    assert refused.status_code == 400
    assert "not TrueType, OpenType" in refused.json["message"]
    large = post_font(serve(say(bytes(MAX_FONT_BYTES + 1))).url())
    assert (large.status_code, large.json["message"]) == (
        413,
        "The font at source_url is larger than 20 MB.",
    )
    missing = post_font(serve(say(b"", "404 Not Found")).url())
    assert missing.status_code == 400
    assert "The font at source_url could not be fetched" in missing.json["message"]
    both = {"name": "brand", "data": "AAAA", "source_url": "https://example.org/a.ttf"}
    assert caller.post("/v2/fonts", json=both).status_code == 400
    assert caller.get("/v2/fonts").json["fonts"] == []


@pytest.mark.parametrize("body", [b"", b"<html>the secret of the house</html>", b"GIF89a\x01\x00"])
def test_a_fetched_file_that_is_not_an_image_is_rejected_like_an_upload(caller, serve, body):
    answer = post(caller, serve(say(body)).url())
    assert answer.status_code == 400
    assert "PNG, JPEG" in answer.json["message"]
    assert "secret" not in answer.text


def test_more_than_50_mb_is_413(caller, serve):
    answer = post(caller, serve(say(draw(), length=50 * 1024**2 + 1)).url())
    assert answer.status_code == 413
    assert "50 MB" in answer.json["message"]


def test_a_redirect_to_a_closed_address_is_rejected(caller, serve):
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    answer = post(caller, serve(moved).url())
    assert answer.status_code == 400
    assert "refused" in answer.json["message"]


def test_an_invalid_name_causes_no_fetch(caller, serve):
    server = serve(say(draw()))
    answer = caller.post("/v2/images", json={"name": "Logo!", "source_url": server.url()})
    assert answer.status_code == 400
    assert server.requests == []


def test_a_failed_fetch_leaves_the_image_that_was_there(caller, serve):
    first = post(caller, serve(say(draw())).url()).json
    post(caller, serve(say(b"", "500 No")).url())
    assert caller.get("/v2/images/logo").json == first


@pytest.mark.long
def test_too_many_concurrent_fetches_of_an_account_are_a_429(serve, open_fetcher_url, monkeypatch):
    monkeypatch.setattr("api.files.store.SLOT_WAIT_SECONDS", 0.1)
    is_over = threading.Event()
    server = serve(lambda *_: is_over.wait(30))
    sources = SourceUrlFetcher(Fetcher(open_fetcher_url), FONT, of_account=1)

    def hold():
        with pytest.raises(ServiceError), receive(sources, server.url()):
            pass

    holding = threading.Thread(target=hold)
    holding.start()
    wait_until(lambda: server.requests)
    with pytest.raises(ServiceError) as refused, receive(sources, server.url()):
        pass
    assert refused.value.body.status == 429
    assert "Too many fonts" in refused.value.body.message
    is_over.set()
    holding.join()


def test_a_fetcher_without_a_free_slot_is_a_503_with_retry_after(monkeypatch):
    fetcher = Fetcher("http://127.0.0.1:1")
    monkeypatch.setattr(fetcher, "download", Mock(side_effect=FetcherBusy))
    with pytest.raises(ServiceError) as refused, receive(SourceUrlFetcher(fetcher, FONT), "url"):
        pass
    assert refused.value.body.status == 503
    assert "Too many fonts" in refused.value.body.message
    assert refused.value.headers["Retry-After"] == "5"


def test_without_a_fetcher_it_is_503_and_not_an_error_of_the_document(ports, account, serve):
    away = replace(ports, fetcher=Fetcher(f"http://127.0.0.1:{free_port()}"))
    client = create_app(away).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    answer = post(client, "http://93.184.216.34/logo.png")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert "fetcher" in answer.json["message"]


def receive(sources, url):
    return sources.fetch(url, account_id="acc_1")
