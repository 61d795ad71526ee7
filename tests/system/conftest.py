"""One embedded farm for all tests of this folder, and a client that speaks plain HTTP to it."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from tests.conftest import create_account_of
from tests.soundness import note_pdf
from tests.system.leaks import find_leaks
from tests.waiting import wait_until

DOCUMENTS = Path(__file__).parents[2] / "deploy/embedded/demo/documents"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def pages(self) -> int:
        return int(self.headers["X-Page-Count"])


@dataclass(frozen=True)
class Account:
    """An account of a running farm, and what one can ask with its key."""

    farm: LaunchedFarm
    id: str
    key_id: str
    api_key: str

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        timeout: float = 90,
    ) -> Answer:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.farm.record.ports["front"], timeout=timeout
        )
        try:
            sent = {"Authorization": f"Bearer {self.api_key}"} | (headers or {})
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, note_pdf(response.read()))
        finally:
            connection.close()

    def render(
        self, body: bytes | str, content_type: str = "text/xml", query: str = "", **options: Any
    ) -> Answer:
        content = body.encode() if isinstance(body, str) else body
        headers = {"Content-Type": content_type}
        return self.request("POST", f"/v2/pdf{query}", content, headers=headers, **options)

    def store_template(self, source: bytes, name: str = "test") -> str:
        made = self.request(
            "POST", f"/v2/templates?name={name}", source, headers={"Content-Type": "text/xml"}
        )
        assert made.status == 201, made.body
        return made.json["id"]

    def store_logo(self) -> None:
        logo = (DOCUMENTS / "logo.png").read_bytes()
        stored = self.request("PUT", "/v2/images/logo", logo, headers={"Content-Type": "image/png"})
        assert stored.status == 201, stored.body

    def await_end(self, path: str) -> dict[str, Any]:
        """Return the record of a job or a batch once it has ended."""

        def ended() -> dict[str, Any] | None:
            record: dict[str, Any] = self.request("GET", f"{path}?wait=10").json
            return None if record["status"] in ("queued", "running") else record

        return wait_until(ended)

    def usage(self) -> dict[str, Any]:
        answer = self.request("GET", "/v2/account/usage")
        assert answer.status == 200, answer.body
        return answer.json

    def settled_usage(self, *, pages: int, seconds: float = 120) -> dict[str, Any]:
        """Return the report once it shows `pages`, or the last one if it never does."""
        deadline = time.monotonic() + seconds
        while (report := self.usage())["pagesGenerated"] != pages:
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return report


def open_account(farm: LaunchedFarm, **terms: Any) -> Account:
    made = create_account_of(farm, **terms)
    return Account(farm, made.account_id, made.key_id, made.api_key)


@pytest.fixture(scope="session", autouse=True)
def quiet_logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Search the logs of every farm of these tests, after the last of them has stopped."""
    yield
    found = [
        leak
        for log in sorted(tmp_path_factory.getbasetemp().glob("**/log/*.log*"))
        for leak in find_leaks(log.read_text(errors="replace"))
    ]
    assert not found, found[:10]


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedFarm]:
    with launched_farm(tmp_path_factory.mktemp("farm")) as farm:
        yield farm


@pytest.fixture
def account(farm: LaunchedFarm) -> Account:
    return open_account(farm, plan="paid")


@pytest.fixture
def make_account() -> Callable[..., Account]:
    return open_account


@pytest.fixture
def documents() -> Path:
    return DOCUMENTS
