"""Batches whose bytes lie in an S3 server: parts read by range, bodies of unknown length."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.batches import accept, archive_of, items_of, numbers

pytestmark = pytest.mark.services


@pytest.fixture(params=["rclone_url", "moto_url"])
def settings(settings, request):
    server = request.getfixturevalue(request.param)
    return replace(settings, blob_url=f"{server}/b{time.monotonic_ns()}")


@pytest.mark.parametrize("output", ["files", "zip", "merged"])
def test_a_batch_is_stored_rendered_read_and_forgotten(caller, numbered, slices, output):
    batch_id = accept(caller, numbered, numbers(30), output=output)
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["succeeded"] == 30
    if output == "zip":
        assert len(archive_of(caller, batch_id).namelist()) == 31
    elif output == "merged":
        result = caller.get(f"/v2/batches/{batch_id}/result")
        assert result.data.startswith(b"%PDF")
    else:
        for item in items_of(caller, batch_id):
            pdf = caller.get(f"/v2/jobs/{item['job_id']}/pdf").data
            assert pdf.startswith(b"%PDF")
            assert pdf.rstrip().endswith(b"%%EOF")
    keys = list(slices.batch_context.blobs.list_keys(f"batches/{batch_id}/"))
    assert keys
    assert not any(key.endswith("/body") for key in keys)
