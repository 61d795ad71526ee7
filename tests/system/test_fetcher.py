"""Images at URLs on a whole farm: fetched once for a batch, and waited for while no fetcher runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from io import BytesIO

import pikepdf
import pytest

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.loopback import free_port
from shared.parent_death import with_parent_death_signal
from tests.servers import Server
from tests.system.conftest import DOCUMENTS, open_account

LOGO = (DOCUMENTS / "logo.png").read_bytes()
HEAD = f"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: {len(LOGO)}\r\n\r\n"
DOCUMENTS_OF_A_BATCH = 600


@pytest.fixture(scope="module")
def reached():
    """Return the port that this farm expects the fetcher on; no process listens yet."""
    return free_port()


@pytest.fixture(scope="module")
def farm(tmp_path_factory, reached):
    environment = {
        "PRESSROOM_FETCHER_URL": f"http://127.0.0.1:{reached}",
        "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
    }
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture
def start_fetcher(reached, tmp_path):
    """Provide a function that starts a fetcher on the port that the farm expects."""
    started = []

    def start():
        environment = {
            **{name: value for name, value in os.environ.items() if "PRESSROOM" not in name},
            "PRESSROOM_FETCHER_BIND": f"127.0.0.1:{reached}",
            "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
        }
        command = with_parent_death_signal([sys.executable, "-m", "workers.fetcher.main"])
        with (tmp_path / "fetcher.log").open("wb") as log:
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))

    yield start
    for process in started:
        process.terminate()
        assert process.wait(30) == 0


def picture(url):
    return f'<document><flow><p>{{{{ n }}}}</p><img src="{url}" height="9mm" alt=""/></flow></document>'


def test_without_a_fetcher_jobs_wait_and_a_batch_then_asks_once_for_all_its_documents(
    farm, start_fetcher
):
    account = open_account(farm, plan="paid")
    with Server(HEAD.encode() + LOGO) as server:
        document = picture(server.url("/logo.png")).replace("{{ n }}", "Hello")
        refused = account.render(document)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "2")
        assert "fetcher is not available" in refused.json["message"]
        assert account.render("<document><flow><p>Hello</p></flow></document>").status == 200
        uploaded = account.request(
            "POST",
            "/v2/images",
            json.dumps({"name": "logo", "source_url": server.url()}).encode(),
            headers={"Content-Type": "application/json"},
        )
        assert (uploaded.status, uploaded.headers["Retry-After"]) == (503, "2")
        template = account.store_template(
            picture(server.url("/logo.png"))
            .replace("<flow>", '<data><field name="n" type="integer"/></data><flow>', 1)
            .encode()
        )
        job = account.request(
            "POST",
            "/v2/pdf",
            document.encode(),
            headers={"Content-Type": "text/xml", "Prefer": "respond-async"},
        ).json["id"]
        lines = "".join(f'{{"n": {n}}}\n' for n in range(DOCUMENTS_OF_A_BATCH))
        batch = account.request(
            "POST",
            f"/v2/batches?template={template}",
            lines.encode(),
            headers={"Content-Type": "application/x-ndjson"},
        ).json["id"]
        time.sleep(3)
        assert account.request("GET", f"/v2/jobs/{job}").json["status"] in {"queued", "running"}
        record = account.request("GET", f"/v2/batches/{batch}").json
        assert (record["succeeded"], record["failed"]) == (0, 0)
        assert server.requests == []

        start_fetcher()
        assert account.await_end(f"/v2/jobs/{job}")["status"] == "succeeded"
        record = account.await_end(f"/v2/batches/{batch}")
        assert (record["succeeded"], record["failed"]) == (DOCUMENTS_OF_A_BATCH, 0)
        assert len(server.requests) == 1
        pdf = account.request("GET", f"/v2/jobs/{job}/pdf").body
        with pikepdf.open(BytesIO(pdf)) as opened:
            assert any(
                each.get("/Subtype") == "/Image"
                for each in opened.objects
                if isinstance(each, pikepdf.Stream)
            )
    report = account.settled_usage(pages=DOCUMENTS_OF_A_BATCH + 2)
    assert report["pagesGenerated"] == DOCUMENTS_OF_A_BATCH + 2
