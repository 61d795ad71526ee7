"""Images at addresses: fetched by the real worker, once a document, or a finding that names the element."""

from __future__ import annotations

import io
import time
from io import BytesIO
from types import SimpleNamespace

import pikepdf
import pytest
from msgspec.structs import replace

from deploy.embedded.loopback import free_port
from shared.errors import ErrorKind, Unavailable
from shared.jobs.records import FetchedImage, ImageProblem, OutcomeStatus
from shared.limits import MAX_REMOTE_IMAGES
from shared.outbound import Fetcher
from shared.queue.claims import ClaimLostError
from tests.conftest import running_fetcher
from tests.farm.conftest import real_worker
from tests.images import encode, plain
from tests.waiting import wait_until
from workers.engine.ports import ImageUnavailableError
from workers.render import remote_images
from workers.render.remote_images import AwaitedImages, RemoteImages, RemoteLimitError


def say(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def document(*sources, optional=""):
    images = "".join(f'<img src="{source}" height="9mm" alt=""{optional}/>' for source in sources)
    return f"<document><flow><p>Here:</p>{images}</flow></document>"


def is_lost(front, claim):
    try:
        front.claims.load(claim)
    except ClaimLostError:
        return True
    return False


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
        server = serve(say(encode("PNG", plain())))
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

    def test_a_file_that_is_not_an_image_is_an_authoring_error(self, front, serve):
        outcome = front.render(document(serve(say(b"<html>secret</html>")).url()))
        assert outcome.error.status == 400
        assert "secret" not in str(outcome.error)

    def test_where_the_front_fetches_no_server_is_waited_for(self, front, serve):
        server = serve(say(encode("PNG", plain())))
        job = front.send(
            document(server.url("/1"), server.url("/2"), server.url("/1")), is_fetched_for=True
        )
        suspended = front.wait(job)
        assert suspended.status is OutcomeStatus.SUSPENDED
        assert suspended.wanted == (server.url("/1"), server.url("/2"))
        assert server.requests == []
        claim = front.claims.store(job.id, encode("PNG", plain()))
        images = {
            server.url("/1"): FetchedImage(1, claim),
            server.url("/2"): FetchedImage(1, None, ImageProblem.AWAY, "its server answers 404"),
        }
        front.broker.publish(replace(job, images=images))
        outcome = front.wait(job)
        assert outcome.error.status == 400
        assert f'The image at "{server.url("/2")}" cannot be fetched: its server answers 404' in (
            outcome.error.message
        )
        assert server.requests == []

    def test_images_in_the_fetchers_cache_are_drawn_at_once(self, front, serve):
        server = serve(say(encode("PNG", plain())))
        front.render(document(server.url()))
        outcome = front.render(document(server.url()), is_fetched_for=True)
        assert count_pictures(front, outcome) == 1
        assert len(server.requests) == 1

    def test_without_optional_images_nothing_is_metered_before_they_are_there(self, front, serve):
        source = serve(say(encode("PNG", plain()))).url()
        text = document(source, optional=' optional="true"')
        job = front.send(text, is_fetched_for=True)
        assert front.wait(job).status is OutcomeStatus.SUSPENDED
        assert front.used() == (0, 0)
        claim = front.claims.store_external(
            job.id, BytesIO(encode("PNG", plain())), len(encode("PNG", plain()))
        )
        front.broker.publish(replace(job, images={source: FetchedImage(1, claim)}))
        assert count_pictures(front, front.wait(job)) == 1
        assert front.used() == (1, 1)
        # Dropped once the outcome is committed.
        wait_until(lambda: is_lost(front, claim))

    def test_a_slow_server_is_a_timeout_of_the_render(self, front, serve):
        server = serve(lambda *_: time.sleep(4))
        front.render(document(), budget=60.0)  # the worker is up
        outcome = front.render(document(server.url()), budget=2.0)
        assert (outcome.error.status, outcome.error.code) == (504, "ERR_RENDER_TIMEOUT")


@pytest.mark.long
def test_without_the_setting_an_image_on_a_private_address_is_refused(
    front, worker_environment, fetcher_url, tmp_path, serve
):
    server = serve(say(encode("PNG", plain())))
    with real_worker(worker_environment | {"PRESSROOM_FETCHER_URL": fetcher_url}, tmp_path):
        outcome = front.render(document(server.url("/logo.png")))
    assert outcome.error.status == 400
    assert "public" in outcome.error.message
    assert server.requests == []


@pytest.mark.long
def test_without_a_fetcher_a_render_is_a_retryable_503_even_for_an_optional_image(
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
        with pytest.raises(ImageUnavailableError, match="500"):
            images.find(server.url())
    assert len(server.requests) == 1


def test_a_document_names_only_so_many_addresses(images, serve):
    server = serve(say(encode("PNG", plain())))
    for number in range(MAX_REMOTE_IMAGES):
        images.find(server.url(f"/{number}"))
    with pytest.raises(ImageUnavailableError, match="50 addresses"):
        images.find(server.url("/one-more"))
    assert images.find(server.url("/0")) == encode("PNG", plain())


def test_the_next_document_of_a_part_asks_for_nothing_again(monkeypatch):
    monkeypatch.setattr(remote_images, "_BYTES_KEPT", 25)
    asked = []
    fetcher = SimpleNamespace(
        download=lambda request, file: (asked.append(request.url), file.write(b"x" * 10), 200)[2]
    )
    images = RemoteImages(fetcher, "acc_1")
    for _ in range(2):
        for number in range(3):
            images.find(f"http://x/{number}")
        images.begin_document()
    assert asked == ["http://x/0", "http://x/1", "http://x/2", "http://x/2"]
    for number in range(MAX_REMOTE_IMAGES + 2):  # and two that are kept
        images.find(f"http://x/{number}")
    with pytest.raises(RemoteLimitError, match="50 addresses"):
        images.find("http://x/one-more")


def test_a_document_takes_only_so_many_bytes(open_fetcher_url, serve, monkeypatch):
    monkeypatch.setattr(remote_images, "MAX_IMAGE_BYTES", 1000)
    monkeypatch.setattr(remote_images, "MAX_REMOTE_BYTES", 1500)
    images = RemoteImages(Fetcher(open_fetcher_url), "acc_1")
    server = serve(say(b"x" * 1000))
    images.find(server.url("/1"))
    with pytest.raises(ImageUnavailableError, match="larger"):
        images.find(server.url("/2"))


# --- images that a front has fetched --------------------------------------------------------------------

ADDRESS = "http://93.184.216.34/x.png"


@pytest.fixture
def awaited(front, open_fetcher_url):
    """Provide a function that makes the images of a job from the fetched ones."""

    def make(*given):
        job = replace(front.job(is_fetched_for=True), images=dict(given))
        return AwaitedImages(Fetcher(open_fetcher_url), job, front.claims)

    return make


def test_bytes_that_are_lost_are_wanted_again(front, awaited):
    claim = front.claims.store_external("job_1", BytesIO(b"bytes"), 5)
    given = (ADDRESS, FetchedImage(1, claim))
    assert awaited(given).find(ADDRESS) == b"bytes"
    front.claims.delete_claim(claim)
    images = awaited(given)
    with pytest.raises(ImageUnavailableError):
        images.find(ADDRESS)
    assert images.wanted == [ADDRESS]


def test_repeated_fetches_of_an_image_are_limited(awaited):
    images = awaited(("http://93.184.216.34/5.png", FetchedImage(5, None, ImageProblem.AWAY)))
    with pytest.raises(ImageUnavailableError, match="each layout pass"):
        images.find(ADDRESS)
    assert images.wanted == []


def test_images_that_are_too_large_may_be_drawn_by_another_document(awaited):
    images = awaited((ADDRESS, FetchedImage(1, None, ImageProblem.TOO_LARGE)))
    with pytest.raises(RemoteLimitError, match="50 MB"):
        images.find(ADDRESS)


def test_an_unavailable_fetcher_is_not_an_error_of_the_document(awaited):
    images = awaited((ADDRESS, FetchedImage(1, None, ImageProblem.UNFETCHED)))
    with pytest.raises(Unavailable):
        images.find(ADDRESS)


def test_a_refused_address_is_reported_without_a_fetch(awaited):
    images = awaited()
    with pytest.raises(ImageUnavailableError, match="http or https"):
        images.find("ftp://x/y")
    assert images.wanted == []
