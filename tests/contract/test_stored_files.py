"""Results as files: sizes, ranges and conditions (RFC 9110, 13 and 14)."""

from __future__ import annotations

import io
import random
import zipfile

import pytest

from tests.contract.test_batches import accept, ndjson

FIRST = "bytes=0-3"


@pytest.fixture(params=["job", "item", "zip", "merged"])
def result(request, caller, numbered, worker, slices):
    """Return the path of a result of each kind."""
    if request.param == "job":
        job_id = caller.post(
            "/v2/pdf", data=b"<d/>", content_type="text/xml", headers={"Idempotency-Key": "k"}
        ).headers["X-Job-Id"]
        return f"/v2/jobs/{job_id}/pdf"
    output = "files" if request.param == "item" else request.param
    batch_id = accept(caller, numbered, ndjson([{"n": 0}, "x", {"n": 2}]), output=output)
    slices.work_off()
    if request.param == "item":
        return f"/v2/jobs/{batch_id.replace('batch', 'job')}-2/pdf"
    return f"/v2/batches/{batch_id}/result"


def test_a_result_has_its_size_and_an_etag_and_comes_in_parts(caller, result):
    whole = caller.get(result)
    size = len(whole.data)
    assert whole.status_code == 200
    assert whole.headers["Content-Length"] == str(size)
    assert whole.headers["Accept-Ranges"] == "bytes"
    head = caller.head(result)
    assert (head.headers["Content-Length"], head.headers["ETag"]) == (
        str(size),
        whole.headers["ETag"],
    )
    chosen = random.Random(1)
    parts = [(0, 0), (0, size - 1), (size - 1, size - 1), (size // 2, size * 2)]
    parts += [tuple(sorted(chosen.choices(range(size), k=2))) for _ in range(40)]
    for first, last in parts:
        answer = caller.get(result, headers={"Range": f"bytes={first}-{last}"})
        assert answer.status_code == 206
        assert answer.data == whole.data[first : last + 1]
        end = min(last, size - 1)
        assert answer.headers["Content-Range"] == f"bytes {first}-{end}/{size}"
        assert answer.headers["Content-Length"] == str(len(answer.data))


def test_a_range_is_open_at_one_side_or_ignored_or_beyond_the_end(caller, result):
    whole = caller.get(result).data
    for sent, part in (
        ("bytes=5-", slice(5, None)),
        ("bytes=-7", slice(-7, None)),
        ("bytes=-999999999", slice(None)),
        ("BYTES=1-2 ", slice(1, 3)),
    ):
        answer = caller.get(result, headers={"Range": sent})
        assert (sent, answer.status_code, answer.data) == (sent, 206, whole[part])
    unknown = ("bytes=0-1,3-4", "bytes=3-1", "bytes=-", "bytes=a-b", "lines=1-2", "", "bytes 0-3")
    for sent in unknown:
        assert caller.get(result, headers={"Range": sent}).status_code == 200, sent
    for sent in ("bytes=99999999-", "bytes=-0"):  # beyond the end
        answer = caller.get(result, headers={"Range": sent})
        assert answer.status_code == answer.json["statusCode"] == 416
        assert answer.headers["Content-Range"] == f"bytes */{len(whole)}"


def test_conditions_of_a_result_are_those_of_rfc_9110(caller, result):
    etag = caller.get(result).headers["ETag"]
    for headers, status in (
        ({"If-None-Match": etag}, 304),
        ({"If-None-Match": f'W/{etag}, "x"', "Range": FIRST}, 304),
        ({"If-None-Match": '"x"', "Range": FIRST}, 206),
        ({"If-Match": '"x"'}, 412),
        ({"Range": FIRST, "If-Range": etag}, 206),
        ({"Range": FIRST, "If-Range": f"W/{etag}"}, 200),
        ({"Range": FIRST, "If-Range": '"x"'}, 200),
        ({"Range": FIRST, "If-Range": "Thu, 26 Nov 2026 00:00:00 GMT"}, 200),
    ):
        assert caller.get(result, headers=headers).status_code == status, headers
    assert caller.head(result, headers={"Range": FIRST}).status_code == 200


def test_a_zip_resumed_at_any_byte_is_the_same_zip(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson([{"n": 0}, {"n": 1}]), output="zip")
    slices.work_off()
    path = f"/v2/batches/{batch_id}/result"
    whole = caller.get(path).data
    for at in range(0, len(whole), max(len(whole) // 50, 1)):
        rest = caller.get(path, headers={"Range": f"bytes={at}-"}).data
        assert whole[:at] + rest == whole
    assert zipfile.ZipFile(io.BytesIO(whole)).testzip() is None
