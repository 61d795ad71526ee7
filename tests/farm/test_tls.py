"""Front and worker use TLS with Redis and reject an unverifiable certificate."""

import asyncio
import gc
import ipaddress
import ssl
import threading
from contextlib import suppress

import pytest
from cryptography import x509

from shared.errors import Unavailable
from shared.queue.app import create_app
from shared.queue.connection import connect
from shared.settings import load_settings
from tests.certificates import write_certificate
from tests.farm.conftest import Front

LOOPBACK = "127.0.0.1"

# asyncio leaves the transport of a handshake that failed to the collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "redis.pem"
    return write_certificate(file, valid_for=x509.IPAddress(ipaddress.ip_address(LOOPBACK)))


class TlsEntrance:
    """Takes TLS on a port of its own and passes on what is in it, as a managed Redis does."""

    def __init__(self, upstream, certificate):
        self._upstream = upstream
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # clients that refuse us say so abruptly
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._serve, LOOPBACK, 0, ssl=self._context))
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self):
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _end(self):
        self._server.close()
        own = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not own]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        to_read, to_write = await asyncio.open_connection(LOOPBACK, self._upstream)
        try:
            await asyncio.gather(_pass_on(reader, to_write), _pass_on(to_read, writer))
        finally:
            writer.close()
            to_write.close()


async def _pass_on(reader, writer):
    with suppress(OSError, ssl.SSLError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@pytest.fixture
def entrance(own_redis, certificate):
    entrance = TlsEntrance(own_redis.port, certificate)
    yield entrance
    entrance.close()
    gc.collect()  # here, and not in the middle of another test


@pytest.fixture
def tls_url(entrance, certificate):
    return f"rediss://{LOOPBACK}:{entrance.port}/0?ssl_ca_certs={certificate}"


@pytest.mark.long
def test_a_render_crosses_redis_over_tls(tls_url, blob_url, start_worker):
    front = Front(tls_url, blob_url)
    start_worker(redis_url=tls_url)
    assert front.render("pages 2").pages == 2
    front.redis.close()


@pytest.mark.long
def test_a_redis_with_an_untrusted_certificate_is_rejected(
    entrance, blob_url, start_worker, tmp_path
):
    url = f"rediss://{LOOPBACK}:{entrance.port}/0"
    with pytest.raises(Unavailable):
        Front(url, blob_url).send("pages 1")
    assert start_worker(redis_url=url).wait(60) == 1
    assert "pressroom worker: " in (tmp_path / "worker0.log").read_text()


def test_the_worker_trusts_no_more_than_the_front():
    url = f"rediss://{LOOPBACK}:1/0"
    given = {"REDIS_URL": url, "DATABASE_URL": "sqlite://", "BLOB_URL": "file:///none"}
    settings = load_settings({f"PRESSROOM_{name}": value for name, value in given.items()})
    assert create_app(settings.own_shard.url).conf.broker_use_ssl == {
        "ssl_cert_reqs": ssl.CERT_REQUIRED
    }
    connection = connect(url).connection_pool.make_connection()
    assert (connection.cert_reqs, connection.check_hostname) == (ssl.CERT_REQUIRED, True)
