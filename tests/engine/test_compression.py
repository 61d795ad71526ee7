"""Streams are compressed to the same bytes everywhere, and too little memory is an exception."""

from __future__ import annotations

import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.pdf_writer import compress

ROOT = Path(__file__).parents[2]


def numbers(count: int) -> bytes:
    """Return numbers without a pattern, the same on every run."""
    value, found = 1, []
    for _ in range(count):
        value = value * 69069 % 2**32
        found.append(b"%d" % (value >> 20))
    return b" ".join(found)


@given(st.binary(max_size=5_000))
def test_what_is_compressed_is_read_by_zlib(data):
    assert zlib.decompress(compress(data)) == data


def test_no_data_are_a_stream_too():
    assert zlib.decompress(compress(b"")) == b""


def test_equal_data_have_equal_bytes_on_every_processor():
    """Recorded with the locked version of libdeflate; a newer one may write other bytes."""
    written = [compress(numbers(count)) for count in (1, 20, 2_000, 60_000)]
    assert [len(each) for each in written] == [12, 68, 3_967, 114_295]
    assert sha256(b"".join(written)).hexdigest()[:16] == "ebb644bc180e6395"


def test_threads_compress_at_once():
    data = [numbers(count) for count in range(500, 540)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(compress, data)) == list(map(compress, data))


STARVED = """
import resource
from workers.engine.pdf_writer import compress
held = []
spare = bytes(200_000)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 50_000_000, -1))
for block in (1 << at for at in range(24, 13, -1)):
    try:
        while True:
            held.append(bytes(block))
    except MemoryError:
        pass
del spare  # not enough for the tables
try:
    compress(b"text" * 100)
except MemoryError:
    held.clear()
    print("no memory")
"""


@pytest.mark.long
def test_too_little_memory_is_an_exception():
    done = subprocess.run(
        [sys.executable, "-c", STARVED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "no memory\n"
