"""Request bodies with `Content-Encoding: gzip`: streamed, bounded, and rejected if damaged."""

from __future__ import annotations

import gzip
import resource
import time
import zlib
from random import Random

import pytest

from shared.limits import MAX_BODY_BYTES, MB
from tests.batches import accept, items_of, numbered, numbers, send, slices  # noqa: F401 - fixtures

XML = {"Content-Type": "application/xml"}
PACKED = {"Content-Encoding": "gzip"}


def post(caller, data, path="/v2/pdf", **headers):
    return caller.post(path, data=data, headers=XML | PACKED | headers)


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", " gzip "])
def test_a_worker_gets_the_decompressed_body(caller, worker, coding):
    body = b"<document>" + b"x" * 200_000 + b"</document>"
    assert post(caller, gzip.compress(body), **{"Content-Encoding": coding}).status_code == 200
    assert worker.bodies == [body]


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 262_144, 1_048_577, 5_000_000])
def test_bodies_of_every_size_arrive_whole(caller, worker, size):
    noise = Random(size).randbytes(size // 2) + b"a" * (size - size // 2)
    assert post(caller, gzip.compress(b"<" + noise)).status_code == 200
    assert worker.bodies == [b"<" + noise]


def test_a_body_of_several_members_is_one_body(caller, worker):
    packed = b"".join(gzip.compress(part) for part in (b"<doc", b"", b"ument/>", b""))
    assert post(caller, packed).status_code == 200
    assert worker.bodies == [b"<document/>"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"<document/>", "not valid gzip"),
        (gzip.compress(b"<document/>")[:-1], "is truncated"),
        (gzip.compress(b"<document/>")[:5], "is truncated"),
        (gzip.compress(b"<document/>") + b"rest", "not valid gzip"),
        (gzip.compress(b"<document/>")[:-6] + b"\0" * 6, "not valid gzip"),
        (zlib.compress(b"<document/>"), "not valid gzip"),
        (b"", "empty"),
        (gzip.compress(b""), "empty"),
        (gzip.compress(b"") * 10_001, "members"),
    ],
    ids=["plain", "cut", "head", "rest", "sum", "zlib", "none", "nothing", "members"],
)
def test_a_body_that_cannot_be_decompressed_is_400(caller, data, told):
    answer = post(caller, data)
    assert answer.status_code == 400
    assert told in answer.json["message"]


def test_a_body_over_32_mb_decompressed_is_413(caller, worker):
    largest = gzip.compress(b"a" * MAX_BODY_BYTES, 1)
    assert post(caller, largest).status_code == 200
    answer = post(caller, gzip.compress(b"a" * (MAX_BODY_BYTES + 1), 1))
    assert (answer.status_code, "32 MB" in answer.json["message"]) == (413, True)


@pytest.mark.long
def test_a_decompression_bomb_is_rejected_in_bounded_time_and_memory(caller):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    megabyte = b"\0" * MB
    bomb = b"".join(packer.compress(megabyte) for _ in range(256)) + packer.flush()
    assert len(bomb) < 2 * MB  # of 256 MB
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert post(caller, bomb).status_code == 413
    assert time.process_time() - begun < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024  # KB


def test_small_json_and_templates_may_be_compressed_too(caller):
    made = post(caller, gzip.compress(b"<d/>"), "/v2/templates?name=T")
    assert made.status_code == 201
    path = f"/v2/templates/{made.json['id']}"
    assert caller.get(path).json["content"] == "<d/>"
    packed = gzip.compress(b'{"message": "First"}')
    version = post(caller, packed, f"{path}/versions", **{"Content-Type": "application/json"})
    assert version.json["message"] == "First"


def test_an_idempotency_key_covers_the_decompressed_body(caller, worker):
    key = {"Idempotency-Key": "one"}
    first = post(caller, gzip.compress(b"<document/>", 1), **key)
    again = post(caller, gzip.compress(b"<document/>", 9), **key)
    plain = caller.post("/v2/pdf", data=b"<document/>", headers=XML | key)
    assert first.headers["X-Job-Id"] == again.headers["X-Job-Id"] == plain.headers["X-Job-Id"]
    assert post(caller, gzip.compress(b"<other/>"), **key).status_code == 422


@pytest.mark.long
def test_a_batch_is_decompressed_as_it_is_read(caller, numbered, slices):  # noqa: F811
    body = gzip.compress(numbers(90))
    batch_id = accept(caller, numbered, body, headers=PACKED)
    assert len(items_of(caller, batch_id)) == 90
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["succeeded"] == 90
    refused = send(caller, numbered, body[:-3], headers=PACKED)
    assert (refused.status_code, "decompressed" in refused.json["message"]) == (400, True)


@pytest.mark.long
def test_a_batch_over_512_mb_decompressed_is_413(caller, numbered):  # noqa: F811
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    line = b'{"n": "' + b"a" * (16 * MB) + b'"}\n'
    bomb = b"".join(packer.compress(line) for _ in range(33)) + packer.flush()
    answer = send(caller, numbered, bomb, headers=PACKED)
    assert (answer.status_code, "512 MB" in answer.json["message"]) == (413, True)
