"""The image, the farm of the compose file, and an account whose every request is written down."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pytest

from pressroom_client import Pressroom
from shared.queue.states import AWAITED_SECONDS
from tests.containers import podman
from tests.containers.farm import ContainerFarm
from tests.faults.checker import State, find_violations
from tests.faults.clients import Client
from tests.faults.farm import TEMPLATE
from tests.faults.figures import TITLE, describe
from tests.faults.history import History
from tests.waiting import wait_until

LINES: list[str] = []


@pytest.fixture(scope="session")
def image() -> Iterator[str]:
    """Build the image from these sources; only what is the same for all of them is kept."""
    assert os.geteuid() == 0, "images are built, and networks are made, by root: run it as root"
    podman.build_base()
    podman.build_stand_ins()
    podman.build_image("local")
    yield f"{podman.IMAGE}:local"
    podman.run(
        "podman", "rmi", "--ignore", "--force", f"{podman.IMAGE}:local", f"{podman.IMAGE}:next"
    )


@pytest.fixture(scope="session")
def farm(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerFarm]:
    """Run the farm of the compose file for the tests that are behind those of the files beside it."""
    farm = ContainerFarm(tmp_path_factory.mktemp("farm"))
    with farm.running():
        yield farm


@dataclass(frozen=True, slots=True)
class Tenant:
    """An account of the farm."""

    farm: ContainerFarm
    account: str
    key: str
    history: History

    @property
    def api(self) -> Pressroom:
        """Return a client that is no part of the history."""
        return Pressroom(f"http://127.0.0.1:{self.farm.port}", self.key)

    def client(self) -> Client:
        """Return a client whose requests are part of the history."""
        return Client(self.farm.port, self.key, self.history)

    def is_served(self) -> bool:
        """Return whether both kinds of work are accepted, and a render is done."""
        client = self.client()
        return client.accept(1).status == 202 and client.render(1).status == 200

    def find_violations(self) -> list[str]:
        """Compare the history with the farm, where an answer that came too late to tell is a connection that broke off.

        The proxy answers 502 or 504 for a front that broke off, and a front 503 when it had no Redis for as long as it
        waits: the render may have ended.
        """
        entries = [
            replace(entry, status=None)
            if entry.status in (502, 504)
            or (entry.status == 503 and entry.ended - entry.started >= AWAITED_SECONDS)
            else entry
            for entry in self.history
        ]
        return find_violations(entries, self.read_state())

    def assert_sound(self, name: str) -> State:
        """Wait until everything has ended well, is counted once, and can be read."""
        wait_until(lambda: not self.find_violations(), 240, pause=2, explain=self.find_violations)
        state = self.read_state()
        assert {status for status, _ in state.jobs.values()} == {"succeeded"}
        for job in chain(state.jobs, state.batch_items):
            assert self.api.pdf(job).pdf.startswith(b"%PDF-"), job
        LINES.append(describe(name, self.history, 0))
        return state

    def read_state(self) -> State:
        """Read the ledger by the operator's command, and all else as the account does."""
        usage = self.api.usage()
        export = ("pressroom", "ledger", "export", "--account", self.account)
        rows = map(
            json.loads, self.farm.execute("maintenance", *export, "--format", "ndjson").splitlines()
        )
        batches = list(self.api.batches())
        items = chain.from_iterable(self.api.items(each.id) for each in batches)
        return State(
            ledger=[(row["job_id"], row["pages"]) for row in rows],
            totals=(usage["pagesGenerated"], usage["apiCalls"]),
            jobs={job.id: (job.status, job.pages) for job in self.api.jobs()},
            batches={
                each.id: (each.status, each.total, {"succeeded": each.succeeded}, each.pages)
                for each in batches
            },
            batch_items={item.job_id: item.pages for item in items if item.pages},
        )


def create_tenant(farm: ContainerFarm, folder: Path) -> Tenant:
    """Create an account as the head of the compose file does."""
    create = ("pressroom", "account", "create", "--email", "you@example.org", "--plan", "paid")
    made = json.loads(farm.run_once("front", *create, "--json"))
    return Tenant(farm, made["account_id"], made["api_key"], History(folder / "history"))


@pytest.fixture(scope="session")
def tenant(farm: ContainerFarm, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    """Create the account of the farm's tests."""
    return create_tenant(farm, tmp_path_factory.mktemp("seen"))


@pytest.fixture(scope="session")
def template(tenant: Tenant) -> str:
    """Store the template of the batches."""
    return str(tenant.api.templates.create("note", TEMPLATE).id)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report what was measured."""
    if LINES:
        terminalreporter.section("containers")
        for line in (TITLE, *LINES):
            terminalreporter.line(line)
