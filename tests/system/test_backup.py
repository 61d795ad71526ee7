"""A farm is backed up while it works, lost, restored, and continues: the ledger intact to the page."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from deploy.embedded.demo.show import launched_farm, pressroom
from tests.system.conftest import Account, open_account

HELLO = '<document version="1"><flow><p>Hello</p></flow></document>'
ASYNC = {"Content-Type": "text/xml", "Prefer": "respond-async"}


@pytest.mark.long
def test_a_running_farm_is_backed_up_lost_and_restored(tmp_path, documents):
    archive = tmp_path / "farm.tgz"
    with launched_farm(tmp_path / "farm") as farm:
        account = open_account(farm, max_pages=20)
        account.store_logo()
        template = account.store_template((documents / "invoice.xml").read_bytes())
        invoice = (documents / "invoice.json").read_bytes()
        reference = account.render(invoice, "application/json", f"?template={template}")
        assert reference.status == 200
        farm.command("queue", "drain", "batch", "--wait", "30")
        accepted = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC)
        assert accepted.status == 202
        for _ in range(5):
            assert account.render(HELLO).status == 200
        # At once: the events of the last renders are still on their way to the ledger.
        made = farm.command("backup", str(archive))
        assert made["usage_events_missing"] == 0
        before = account.settled_usage(pages=5 + reference.pages)
        lost = account.render(HELLO)
        assert lost.status == 200
    shutil.rmtree(tmp_path / "farm")

    command = pressroom("restore", str(archive), "--data", str(tmp_path / "farm"))
    subprocess.run(command, check=True, capture_output=True)
    with launched_farm(tmp_path / "farm") as farm:
        again = Account(farm, account.id, account.key_id, account.api_key)
        path = f"/v2/jobs/{accepted.json['id']}"
        ended = again.request("GET", f"{path}?wait=30").json
        assert (ended["status"], ended["pages"]) == ("succeeded", 1)
        assert again.request("GET", f"{path}/pdf").body.startswith(b"%PDF")
        # All that was metered before the backup, and the job that it kept.
        after = again.settled_usage(pages=before["pagesGenerated"] + 1)
        assert after["pagesGenerated"] == before["pagesGenerated"] + 1
        assert after["apiCalls"] == before["apiCalls"] + 1
        rendered = again.render(invoice, "application/json", f"?template={template}")
        assert rendered.body == reference.body
        assert farm.command("status")["problems"] == []


def test_backup_of_external_stores_refers_to_their_own_tools(tmp_path):
    environment = {"PRESSROOM_BLOB_URL": f"file://{tmp_path}/elsewhere"}
    with launched_farm(tmp_path / "farm", environment=environment) as farm:
        command = pressroom("backup", str(tmp_path / "b"), "--data", str(farm.folder.path))
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "not in the data folder" in ended.stderr
    assert not (tmp_path / "b").exists()
