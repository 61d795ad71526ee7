"""Runs that are split by bytes: a file has at most as many, whatever is drawn on its pages."""

from __future__ import annotations

import pytest

from shared.batches.plans import OWN_BYTES, RESOURCES, Plan, RunDocument, Split, arrange
from tests.batches import store_template
from tests.farm.runs import accept_run, account_of, titles
from tests.farm.test_covers import COVER

# Words of their own in each letter, so that pages are of some size and fonts of many glyphs.
LETTERS = [
    {
        "n": n,
        "to": {"zip": f"{n * 37 % 60:03}"},
        "extra": [" ".join(f"{chr(0x41 + (n + at) % 58)}{n * at}" for at in range(60))] * (n % 3),
    }
    for n in range(60)
]
MOST = 40_000
MARKS = {"left": 3, "top": 3, "clear": 1, "width": 20, "height": 20}
CODE = {
    "type": "datamatrix",
    "format": "{job}{set:06}{sheet:02}{count:02}{inserts}",
    "job": "J" * 20,
}


@pytest.fixture
def begin(caller, numbered):
    """Return a function that accepts a run split by bytes and returns its id."""

    def begin(plan, template=numbered):
        split = {"sort": ["to.zip"], "split": {"bytes": MOST}}
        return accept_run(caller, template, split | plan, LETTERS)

    return begin


def check(caller, batch_id):
    """Check that documents are in order, in files that are below the limit and not much smaller."""
    files = account_of(caller, batch_id)["files"]
    names = [name for each in files for name, _ in titles(caller, batch_id, each["number"])]
    assert names == [str(each["n"]) for each in sorted(LETTERS, key=lambda each: each["to"]["zip"])]
    assert 2 <= len(files) <= 20
    assert all(MOST / 2 < each["bytes"] <= MOST for each in files[:-1]), files
    assert files[-1]["bytes"] <= MOST
    return files


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"duplex": True},
        {"duplex": True, "marks": {"type": "omr"} | MARKS, "inserts": [{"feeder": 2}]},
        {"marks": CODE | MARKS},
        {"household": "to.zip"},
    ],
    ids=["plain", "duplex", "lines", "codes", "households"],
)
def test_files_of_a_run_have_at_most_as_many_bytes(caller, run, plan):
    check(caller, run(plan))


def test_covers_come_on_top_of_the_bytes_of_a_file(caller, run):
    cover = store_template(caller, COVER)
    batch_id = run({"split": {}, "bundle": {"cover": cover, "bytes": MOST}, "duplex": True})
    [file] = account_of(caller, batch_id)["files"]
    assert file["covers"] >= 2


def test_a_set_of_more_bytes_than_a_file_is_a_file():
    sizes = [10_000, 90_000, 10_000, 10_000, 70_000]
    documents = [
        RunDocument(at, 1, {OWN_BYTES: size, RESOURCES: "a:5000 b:5000"})
        for at, size in enumerate(sizes)
    ]
    files = arrange(Plan(split=Split(bytes=50_000)), documents)
    assert [[each.index for each in file.documents] for file in files] == [[0], [1], [2, 3], [4]]
    # Both would not fit if each brought its resources.
    assert len(arrange(Plan(split=Split(bytes=36_000)), documents[2:4])) == 1
