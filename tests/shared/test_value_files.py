"""Numbers in mapped files: read while they change, and kept in memory while there is no storage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.telemetry import metrics
from shared.telemetry.front import FrontMetrics
from shared.telemetry.value_files import (
    SEGMENT_BYTES,
    MetricValues,
    read_values,
    value_file_name,
    write_values,
)

ROOT = Path(__file__).parents[2]

# The kernel refuses to allocate more than a segment of a file, then does no longer.
WITHOUT_STORAGE = """
import resource, sys, time
from shared.telemetry.value_files import SEGMENT_BYTES
from shared.telemetry.front import FrontMetrics
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), most))
front = FrontMetrics(sys.argv[1])
def answer():
    for number in range(200):
        front.observe(route=f"/v2/{number}", method="GET", status=200, seconds=0.02)
answer()
text = front.exposition().decode()
assert text.count('_http_requests_total{') == 200, "in memory"
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
time.sleep(1.1)
front.begin()
answer()
"""


@pytest.mark.long
def test_numbers_without_storage_are_in_memory_until_there_is_some(tmp_path):
    for limit in (0, SEGMENT_BYTES):
        folder = tmp_path / str(limit)
        command = [sys.executable, "-c", WITHOUT_STORAGE, str(folder), str(limit)]
        subprocess.run(command, cwd=ROOT, check=True)
        [file] = folder.iterdir()
        counted = {key: value for key, value in read_values(file) if "http_requests_total" in key}
        assert list(counted.values()) == [2.0] * 200


def test_numbers_over_many_segments_are_read_whole(tmp_path):
    counts = MetricValues(tmp_path)
    for number in range(3000):
        counts.series(metrics.ERRORS, f"kind {number}").inc(number)
    [file] = tmp_path.iterdir()
    assert file.name == value_file_name(os.getpid())
    assert file.stat().st_size >= 3 * SEGMENT_BYTES
    assert file.stat().st_blocks * 512 >= file.stat().st_size  # nothing of it is a hole
    assert sorted(value for _, value in read_values(file)) == list(range(3000))
    write_values(tmp_path / "again", dict(read_values(file)))
    assert dict(read_values(tmp_path / "again")) == dict(read_values(file))


@given(st.binary(max_size=300))
def test_a_file_of_anything_is_read_to_where_it_makes_sense(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("counts") / "1.counts"
    file.write_bytes(data)
    assert len(list(read_values(file))) <= len(data)


def test_a_front_without_a_folder_for_its_files_counts(tmp_path):
    taken = tmp_path / "file"
    taken.touch()
    front = FrontMetrics(str(taken / "metrics"))
    front.begin()
    assert "pressroom_http_requests_in_progress 1.0" in front.exposition().decode()
