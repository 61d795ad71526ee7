"""Workers are killed at random while they render and write a run: its account adds up, its sheets are complete."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pikepdf
import pytest

from pressroom_client import Pressroom
from tests.faults.conftest import assert_sound
from tests.faults.farm import FaultyFarm
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.long]

ENDED_SECONDS = 300
HELD = 7
PLAN = {
    "sort": ["-n"],
    "duplex": True,
    "split": {"sheets": 40},
    "fields": ["n"],
    "hold": {"conditions": [{"value": "n", "below": HELD}]},
}
ENDS = ("delivered", "held", "rejected", "failed", "cancelled", "open")


def account_of(farm: FaultyFarm, batch_id: str) -> dict[str, int]:
    """Return the account of a run, which adds up whenever it is read; empty while there is no answer."""
    account = farm.client().ask("GET", f"/v2/batches/{batch_id}/account") or {"status": 503}
    if account["status"] != 200:
        return {}
    assert account["asked"] == sum(account[end] for end in ENDS), account
    return account


def test_workers_are_killed_while_they_render_and_write_a_run(
    start, scaled, tmp_path: Path
) -> None:
    kill_workers(start, scaled, tmp_path, "merged")


def test_workers_are_killed_while_they_write_zips_of_a_run(start, scaled, tmp_path: Path) -> None:
    kill_workers(start, scaled, tmp_path, "zip")


def kill_workers(start, scaled, folder: Path, output: str) -> None:
    farm = start()
    headers = {"Content-Type": "application/json"}
    stored = farm.client().ask(
        "PUT", "/v2/plans/letters", json.dumps(PLAN | {"output": output}).encode(), **headers
    )
    assert stored["status"] == 201
    template = farm.store_template()
    documents = max(scaled(3000), 150)
    kills = max(scaled(100), 5)
    batch_id = farm.client().submit(template, documents, "merged&plan=letters").batch_id
    chance = random.Random(43)

    def is_delivered(count: int) -> bool:
        account = account_of(farm, batch_id)
        return bool(account) and account["delivered"] + account["failed"] >= count

    def strike(until: int) -> None:
        """Kill workers until so many faults have happened, whether or not the run ends before."""
        while farm.faults < until:
            if chance.random() < 0.2:
                farm.kill("batch")
            else:
                farm.kill_some_child("batch", chance)
            time.sleep(chance.random() * 1.5)
            account_of(farm, batch_id)

    strike(kills * 4 // 5)
    wait_until(lambda: is_delivered(documents - HELD), seconds=ENDED_SECONDS)
    account = account_of(farm, batch_id)
    assert account["held"] == HELD, (account, farm.client().ask("GET", f"/v2/batches/{batch_id}"))
    released = farm.client().ask("POST", f"/v2/batches/{batch_id}/release")
    assert released["status"] == 200
    strike(kills)
    wait_until(lambda: is_delivered(documents), seconds=ENDED_SECONDS)
    assert_sound(farm)
    check_sheets(farm, batch_id, account_of(farm, batch_id), folder / "run")


def open_files(file: Path) -> list[Path | BytesIO]:
    """Return the PDFs of a file of a run."""
    if file.suffix != ".zip":
        return [file]
    with ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".pdf")]
        return [BytesIO(archive.read(name)) for name in names]


def check_sheets(farm: FaultyFarm, batch_id: str, account: dict[str, int], folder: Path) -> None:
    """Check that each document that was delivered is in one file, once, and begins on a front."""
    client = Pressroom(f"http://127.0.0.1:{farm.farm.record.ports['front']}", farm.key)
    *files, _index = client.save_run(batch_id, folder)
    found: Counter[str] = Counter()
    sheets = 0
    for file in (pdf for path in files for pdf in open_files(path)):
        with pikepdf.open(file) as pdf, pdf.open_outline() as outline:
            pages = {page.obj.objgen: at for at, page in enumerate(pdf.pages)}
            starts = [pages[entry.destination[0].objgen] for entry in outline.root]
            assert not [start for start in starts if start % 2]
            found.update(entry.title for entry in outline.root)
            sheets += len(pdf.pages) // 2
    assert set(found.values()) == {1}
    assert len(found) == account["delivered"]
    assert sheets == account["sheets"] == account["delivered"]
    assert account["delivered"] + account["failed"] == account["asked"]
