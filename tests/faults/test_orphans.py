"""Blobs that a killed process stored without a reference are swept, and no others."""

from __future__ import annotations

import pytest

from shared.blobs.factory import open_store
from shared.db.session import open_database
from tests.faults.conftest import assert_sound, change_module
from tests.faults.farm import FaultyFarm
from workers.maintenance.orphans import RemoveOrphanedBlobs, orphaned_job_blobs

pytestmark = [pytest.mark.faults, pytest.mark.long]

# The first process of the farm that has stored such bytes is killed before anything names them.
DEADLY = """
CLASS, METHOD, WHEN, MARK = {deadly!r}

def change(module):
    owner = getattr(module, CLASS) if CLASS else module
    method = getattr(owner, METHOD)

    def deadly(*args, **kwargs):
        given = None if WHEN == "before" else method(*args, **kwargs)
        try:
            pathlib.Path(MARK).touch(exist_ok=False)
        except FileExistsError:
            return given if WHEN == "after" else method(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, METHOD, deadly)
"""


@pytest.fixture
def start_deadly(start, tmp_path):
    def start_deadly(module: str, owner: str, method: str, when: str) -> FaultyFarm:
        deadly = (owner, method, when, str(tmp_path / "tmp/killed"))
        path = change_module(tmp_path, module, DEADLY.format(deadly=deadly))
        (tmp_path / "tmp").mkdir()  # where renders may write
        return start(PYTHONPATH=path, TMPDIR=str(tmp_path / "tmp"))

    return start_deadly


def test_a_pdf_whose_worker_died_before_its_commit_is_swept(start_deadly, tmp_path) -> None:
    farm = start_deadly("shared.jobs.lifecycle", "JobLifecycle", "store_pdf", "after")
    job = farm.client().accept(1)
    assert_sound(farm)
    assert (tmp_path / "tmp/killed").exists()
    assert len(stored(farm)) == 2
    assert sweep(farm) == 1
    answer = farm.client().ask("GET", f"/v2/jobs/{job.job_id}")
    assert answer is not None
    assert answer["status"] == "succeeded"
    assert_sound(farm)  # which reads every PDF on record


def test_a_body_whose_front_died_before_its_record_is_swept(start_deadly, tmp_path) -> None:
    farm = start_deadly("shared.jobs.intake", "JobIntake", "accept", "before")
    large = "<!--" + "x" * 100_000 + "-->"
    broken = farm.client().accept(1, text=large)
    assert broken.status is None
    assert (tmp_path / "tmp/killed").exists()
    assert farm.client().accept(1, text=large).status == 202
    assert_sound(farm)
    assert len(stored(farm)) == 2  # the lost body, and the PDF of the second
    assert sweep(farm) == 1
    assert_sound(farm)


def test_an_assembly_whose_worker_died_leaves_no_file(start_deadly, tmp_path) -> None:
    farm = start_deadly("workers.batches.assembly", "", "_join", "after")
    batch = farm.client().submit(farm.store_template(), 20, "merged")
    assert_sound(farm)
    assert (tmp_path / "tmp/killed").exists()
    status, _, items, _ = farm.read_state().batches[batch.batch_id or ""]
    assert (status, items) == ("finished", {"succeeded": 20})
    assert [path.name for path in (tmp_path / "tmp").rglob("*") if path.suffix == ".pdf"] == []
    # What it had stored goes with the batch, whose folder is deleted as it is found.
    results = [key for key in stored(farm, "batches/") if "/result-" in key]
    assert len(results) == 2


def stored(farm: FaultyFarm, folder: str = "jobs/") -> list[str]:
    return list(open_store(farm.farm.record.blob_url).list_keys(folder))


def sweep(farm: FaultyFarm) -> int:
    """Sweep as the maintenance process does, but at once."""
    blobs = open_store(farm.farm.record.blob_url)
    database = open_database(farm.farm.record.database_url)
    try:
        return RemoveOrphanedBlobs(orphaned_job_blobs(database, blobs), wait_seconds=0).run_once()
    finally:
        database.close()
