"""Signed files on a whole farm: with certificates of their account only, and waited for without a signer."""

from __future__ import annotations

import io
import json
import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyhanko.pdf_utils.reader import PdfFileReader

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from shared import clock
from tests.certificates import make_pkcs12
from tests.deploy.test_signing import statuses
from tests.engine.finish.accessibility_rules import find_violations as find_accessibility_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.system.conftest import Account, open_account
from tests.waiting import wait_until

CONTRACT = """<document title="Contract" lang="en" profile="pdf/a-3a pdf/ua-1">
<data><json>{"buyer": "Ada"}</json></data>
<security sign="contract" sign-field="seller"/>
<flow><h1>Contract</h1><p>Between us and {{ buyer }}.</p>
<signature name="buyer" label="Signature of the buyer"/><signature name="seller" label="Ours"/></flow></document>"""
DOCUMENTS_OF_A_BATCH = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of certificates, which is empty when the farm starts."""
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def farm(tmp_path_factory, folder) -> Iterator[LaunchedFarm]:
    environment = {
        "PRESSROOM_SIGNER_CERTIFICATES": str(folder),
        "PRESSROOM_RENDER_BUDGET": "8",  # a signer that hangs is waited for half as long
    }
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture
def account(farm, folder) -> Account:
    """Open an account with a certificate `contract`, whose password is in a file."""
    account = open_account(farm, plan="paid")
    (folder / f"{account.id}.contract.p12").write_bytes(
        make_pkcs12(clock.now(), password=b"secret")
    )
    (folder / f"{account.id}.contract.password").write_text("secret\n")
    return account


def assert_signed(pdf: bytes) -> None:
    [status] = statuses(pdf)
    assert status.bottom_line
    assert status.coverage.name == "ENTIRE_FILE"
    [one] = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    assert one.field_name == "seller"


def submit(account: Account, path: str, body: str, content_type: str) -> str:
    headers = {"Content-Type": content_type, "Prefer": "respond-async"}
    answer = account.request("POST", path, body.encode(), headers=headers)
    assert answer.status == 202, answer.body
    return answer.json["id"]


def submit_batch(account: Account) -> str:
    template = account.store_template(CONTRACT.encode())
    lines = "".join(f"{json.dumps({'buyer': f'B{n}'})}\n" for n in range(DOCUMENTS_OF_A_BATCH))
    path = f"/v2/batches?template={template}&output=zip"
    return submit(account, path, lines, "application/x-ndjson")


def test_a_rendered_contract_is_signed_and_still_an_archive_file(account):
    answer = account.render(CONTRACT)
    assert answer.status == 200, answer.body
    assert answer.headers["X-Warning-Count"] in (None, "0")
    assert_signed(answer.body)
    assert find_archive_violations(answer.body, 3, signatures=1) == []
    assert find_accessibility_violations(answer.body, promises=True) == []


def test_an_account_signs_with_its_own_certificates_only(farm, account):
    other = open_account(farm, plan="paid")
    refused = other.render(CONTRACT)
    assert refused.status == 400
    assert 'no certificate "contract"; it has none' in refused.json["message"]
    for name in (f"{account.id}.contract", f"..{account.id}.contract"):
        assert other.render(CONTRACT.replace('"contract"', f'"{name}"')).status == 400
    unknown = account.render(CONTRACT.replace('"contract"', '"contrat"'))
    assert unknown.status == 400
    assert 'no certificate "contrat"; it has: contract' in unknown.json["message"]
    [place] = unknown.json["stackTrace"]
    assert place["lineStart"] == 3


def test_a_draft_is_not_signed_and_a_merged_batch_is_refused(account):
    draft = account.render(CONTRACT, query="?draft=true")
    assert draft.status == 200
    assert PdfFileReader(io.BytesIO(draft.body)).embedded_signatures == []
    template = account.store_template(CONTRACT.encode())
    batch = submit(
        account, f"/v2/batches?template={template}&output=merged", "{}\n", "application/x-ndjson"
    )
    assert account.await_end(f"/v2/batches/{batch}")["failed"] == 1


def test_jobs_and_batches_are_signed(account):
    job = submit(account, "/v2/pdf", CONTRACT, "text/xml")
    batch = submit_batch(account)
    assert account.await_end(f"/v2/jobs/{job}")["status"] == "succeeded"
    assert_signed(account.request("GET", f"/v2/jobs/{job}/pdf").body)
    assert_all_signed(account, batch)


def assert_all_signed(account: Account, batch: str) -> None:
    record = account.await_end(f"/v2/batches/{batch}")
    assert (record["succeeded"], record["failed"]) == (DOCUMENTS_OF_A_BATCH, 0)
    file = wait_until(lambda: find_result(account, batch), 60)
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        files = [archive.read(name) for name in archive.namelist() if name.endswith(".pdf")]
    assert len(files) == DOCUMENTS_OF_A_BATCH
    for pdf in files:
        assert_signed(pdf)


def find_result(account: Account, batch: str) -> bytes | None:
    answer = account.request("GET", f"/v2/batches/{batch}/result")
    return answer.body if answer.status == 200 else None


def test_without_an_answer_of_the_signer_renders_are_503_and_batches_wait_until_it_is_back(
    farm, account
):
    signer = farm.folder.read_record().processes["signer"]
    os.kill(signer, signal.SIGSTOP)
    refused = account.render(CONTRACT)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "2")
    assert "signer is not available" in refused.json["message"]
    unsigned = account.render(
        CONTRACT.replace('<security sign="contract" sign-field="seller"/>', "")
    )
    assert unsigned.status == 200
    job = submit(account, "/v2/pdf", CONTRACT, "text/xml")
    batch = submit_batch(account)
    os.kill(signer, signal.SIGKILL)
    wait_until(lambda: account.render(CONTRACT).status == 200, 60)
    assert account.await_end(f"/v2/jobs/{job}")["status"] == "succeeded"
    assert_all_signed(account, batch)


def test_the_keys_are_named_to_no_other_process(farm):
    named = {
        name
        for name, pid in farm.folder.read_record().processes.items()
        if b"PRESSROOM_SIGNER_CERTIFICATES=" in read_environment(pid)
    }
    assert named == {"signer"}


def read_environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()
