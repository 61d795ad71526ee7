"""Over TLS the name that was asked for is what the certificate must be of, whatever address was judged."""

from __future__ import annotations

import io
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from cryptography import x509

from shared.outbound import Outbound, TargetUnreachableError, connections
from tests.certificates import write_certificate
from tests.servers import read_request

NAME = "pictures.example"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "pictures.pem"
    return write_certificate(file, valid_for=x509.DNSName(NAME))


class TlsServer:
    """Answers over TLS and notes the names it was asked for, and the requests that came."""

    def __init__(self, certificate) -> None:
        self.names: list[str | None] = []
        self.requests: list[bytes] = []
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self) -> None:
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            plain.settimeout(5)
            with suppress(OSError), self._context.wrap_socket(plain, server_side=True) as secure:
                self.requests.append(read_request(secure))
                secure.sendall(ANSWER)


@pytest.fixture
def server(certificate) -> Iterator[TlsServer]:
    server = TlsServer(certificate)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server
    server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()
    thread.join(10)


@pytest.fixture
def trusted(certificate, monkeypatch):
    """Add the certificate to the machine's trust store, as an operator of a closed network would."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connections.tls_context.cache_clear()
    yield
    connections.tls_context.cache_clear()


@pytest.fixture
def outbound():
    """Return the outbound client, with every name resolved to loopback."""
    return Outbound(
        allow_private=True, resolve=lambda _, port: [(socket.AF_INET, ("127.0.0.1", port))]
    )


def fetch(outbound, url):
    file = io.BytesIO()
    outbound.download(url, file, limit_bytes=1000, deadline_seconds=5)
    return file.getvalue()


@pytest.mark.usefixtures("trusted")
def test_the_name_is_in_sni_host_and_certificate(server, outbound):
    assert fetch(outbound, f"https://{NAME}:{server.port}/") == b"hello"
    assert server.names == [NAME]
    assert f"host: {NAME}:{server.port}".encode() in server.requests[0].lower()


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
def test_a_certificate_of_another_name_is_not_trusted(server, outbound, host):
    with pytest.raises(TargetUnreachableError, match="TLS"):
        fetch(outbound, f"https://{host}:{server.port}/")
    assert not any(request.strip() for request in server.requests)


def test_a_certificate_without_a_trusted_issuer_is_rejected(server, outbound):
    with pytest.raises(TargetUnreachableError, match="TLS"):
        fetch(outbound, f"https://{NAME}:{server.port}/")
    assert not any(request.strip() for request in server.requests)


@pytest.mark.usefixtures("trusted")
def test_a_call_over_tls_sends_its_body(server, outbound):
    answered = outbound.post(
        f"https://{NAME}:{server.port}/hook", body=b"{}", headers={}, deadline_seconds=5
    )
    assert answered.status == 200


@pytest.mark.long
def test_a_server_that_speaks_no_tls_is_unreachable(serve, outbound):
    server = serve(ANSWER)
    with pytest.raises(TargetUnreachableError, match="TLS"):
        fetch(outbound, f"https://{NAME}:{server.port}/")
