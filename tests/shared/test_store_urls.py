"""The URLs of managed stores say all that these want: TLS, certificates, regions."""

import pytest
from sqlalchemy import make_url

from shared.blobs.s3 import S3Store
from shared.blobs.store import BlobMissingError
from shared.db.session import open_database
from shared.errors import Unavailable
from tests.servers import Server

POSTGRESQL = "postgresql+psycopg://user:p%40ss@db.example.com:6432/farm"


@pytest.mark.parametrize(
    ("query", "passed"),
    [
        ("", {}),
        ("?sslmode=require", {"sslmode": "require"}),
        (
            "?sslmode=verify-full&sslrootcert=/etc/ssl/db.pem&application_name=pressroom",
            {
                "sslmode": "verify-full",
                "sslrootcert": "/etc/ssl/db.pem",
                "application_name": "pressroom",
            },
        ),
    ],
)
def test_tls_options_of_a_database_url_reach_the_driver(query, passed):
    url = make_url(POSTGRESQL + query)
    _, options = url.get_dialect()().create_connect_args(url)
    place = {"host": "db.example.com", "port": 6432, "user": "user", "password": "p@ss"}
    assert options == place | {"dbname": "farm"} | passed


def test_required_tls_rejects_a_database_without_it(tmp_path):
    missing = tmp_path / "none.pem"
    url = f"postgresql+psycopg://u:p@127.0.0.1:1/farm?sslmode=verify-full&sslrootcert={missing}"
    with pytest.raises(Unavailable):
        open_database(url).check()


@pytest.mark.parametrize(
    ("query", "region"), [("", "us-east-1"), ("?region=eu-central-1", "eu-central-1")]
)
def test_requests_to_an_object_store_are_signed_for_its_region(query, region):
    with Server(
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ) as server:
        store = S3Store.of_url(f"s3+http://key:se%2Fcret@127.0.0.1:{server.port}/bucket{query}")
        with pytest.raises(BlobMissingError):
            store.read("name")
    [request] = server.requests
    assert f"/{region}/s3/aws4_request".encode() in request


@pytest.mark.parametrize(
    "query",
    [
        "?region=", "?region=a&region=b", "?region=a%2Fb", "?regoin=eu-central-1", "?x",
        "?region=A b",
    ],
)  # fmt: skip
def test_errors_in_a_store_url_are_reported(query):
    with pytest.raises(ValueError, match=r"\?region=NAME|bad query field"):
        S3Store.of_url(f"s3://key:secret@s3.example.com/bucket{query}")
