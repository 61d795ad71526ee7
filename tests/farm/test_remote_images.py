"""Images at addresses: fetched by the real worker, once a document, or a finding that names the element."""

from __future__ import annotations

import io
import time

import pikepdf
import pytest
from PIL import Image

from deploy.embedded.loopback import free_port
from shared.errors import ErrorKind
from shared.limits import MAX_REMOTE_IMAGES
from shared.outbound import Fetcher
from tests.conftest import running_fetcher
from tests.farm.conftest import real_worker
from workers.engine.ports import ImageAwayError
from workers.farm import remote
from workers.farm.remote import RemoteImages


def draw():
    drawn = io.BytesIO()
    Image.new("RGB", (30, 10), "navy").save(drawn, "PNG")
    return drawn.getvalue()


def say(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def document(*sources, optional=""):
    images = "".join(f'<img src="{source}" height="9mm" alt=""{optional}/>' for source in sources)
    return f"<document><flow><p>Here:</p>{images}</flow></document>"


def count_pictures(front, outcome):
    """Count the images in the file, drawn or not."""
    with pikepdf.open(io.BytesIO(b"".join(front.replies.fetch_pdf(outcome.pdf)))) as pdf:
        return sum(
            each.get("/Subtype") == "/Image"
            for each in pdf.objects
            if isinstance(each, pikepdf.Stream)
        )


class TestOfOneWorker:
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def worker(cls, real_environment, tmp_path_factory):
        """Run one worker for the tests whose fetcher goes to loopback."""
        with running_fetcher(outbound_allow_private=True) as reached:
            own = real_environment | {"PRESSROOM_FETCHER_URL": reached}
            with real_worker(own, tmp_path_factory.mktemp("log")):
                yield

    def test_an_image_at_an_address_is_fetched_once_and_drawn_wherever_it_stands(
        self, front, serve
    ):
        server = serve(say(draw()))
        source = server.url("/logo.png")
        outcome = front.render(document(source, source, source))
        assert outcome.error is None
        assert count_pictures(front, outcome) == 1
        assert len(server.requests) == 1
        assert server.requests[0].startswith(b"GET /logo.png ")

    def test_an_image_that_cannot_be_had_fails_the_render_and_names_the_element(self, front, serve):
        server = serve(say(b"secret", "404 Not Found"))
        outcome = front.render(document(server.url("/x.png")))
        assert outcome.error.status == 400
        assert "its server answers 404" in outcome.error.message
        [place] = outcome.error.stack_trace
        assert (place["tagName"], place["lineStart"]) == ("img", 1)
        assert "secret" not in str(outcome.error)

    def test_an_optional_image_that_cannot_be_had_is_left_out(self, front, serve):
        server = serve(say(b"", "500 No"))
        outcome = front.render(document(server.url(), optional=' optional="true"'))
        assert outcome.error is None
        assert count_pictures(front, outcome) == 0

    def test_what_is_no_image_is_an_authoring_error(self, front, serve):
        outcome = front.render(document(serve(say(b"<html>secret</html>")).url()))
        assert outcome.error.status == 400
        assert "secret" not in str(outcome.error)

    def test_a_slow_server_is_a_timeout_of_the_render(self, front, serve):
        server = serve(lambda *_: time.sleep(4))
        front.render(document(), budget=60.0)  # the worker is up
        outcome = front.render(document(server.url()), budget=2.0)
        assert (outcome.error.status, outcome.error.code) == (504, "ERR_RENDER_TIMEOUT")


def test_without_the_setting_an_image_on_a_private_address_is_refused(
    front, worker_environment, fetcher_url, tmp_path, serve
):
    server = serve(say(draw()))
    with real_worker(worker_environment | {"PRESSROOM_FETCHER_URL": fetcher_url}, tmp_path):
        outcome = front.render(document(server.url("/logo.png")))
    assert outcome.error.status == 400
    assert "public" in outcome.error.message
    assert server.requests == []


def test_without_a_fetcher_a_render_is_503_and_can_be_asked_for_again_optional_image_or_not(
    front, worker_environment, tmp_path
):
    nobody = {"PRESSROOM_FETCHER_URL": f"http://127.0.0.1:{free_port()}"}
    with real_worker(worker_environment | nobody, tmp_path):
        for optional in ("", ' optional="true"'):
            outcome = front.render(document("http://93.184.216.34/x.png", optional=optional))
            assert (outcome.error.status, outcome.error.kind) == (503, ErrorKind.UNAVAILABLE)
            assert "fetcher is not available" in outcome.error.message
        assert front.render(document()).error is None


@pytest.fixture
def images(open_fetcher_url):
    return RemoteImages(Fetcher(open_fetcher_url), "acc_1")


def test_a_failure_is_remembered_too(images, serve):
    server = serve(say(b"", "500 No"))
    for _ in range(2):
        with pytest.raises(ImageAwayError, match="500"):
            images.find(server.url())
    assert len(server.requests) == 1


def test_a_document_names_only_so_many_addresses(images, serve):
    server = serve(say(draw()))
    for number in range(MAX_REMOTE_IMAGES):
        images.find(server.url(f"/{number}"))
    with pytest.raises(ImageAwayError, match="50 addresses"):
        images.find(server.url("/one-more"))
    assert images.find(server.url("/0")) == draw()


def test_a_document_takes_only_so_many_bytes(images, serve, monkeypatch):
    monkeypatch.setattr(remote, "MAX_IMAGE_BYTES", 1000)
    images._bytes_left = 1500
    server = serve(say(b"x" * 1000))
    images.find(server.url("/1"))
    with pytest.raises(ImageAwayError, match="larger"):
        images.find(server.url("/2"))
