"""Processes are killed for real while renders run; afterwards the ledger adds up to the page."""

import http.client
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from deploy.embedded.demo.show import launch_farm, launched_farm
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

CLIENTS = 4
TWO_PAGES = "<document><flow><p>One</p><p break-before='page'>Two</p></flow></document>"


def processes_of(farm):
    """Return the processes of the farm once all of them run again."""

    def all_run():
        record = farm.folder.read_record()
        return record.restarts and record.restarts.keys() == record.processes.keys()

    wait_until(all_run)
    return farm.folder.read_record().processes


def members_of(groups):
    """Return the ids of all living processes of these process groups, threads and zombies apart."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if entry.name.isdigit():
                state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                if int(group) in groups and state not in "ZX":
                    found.append(int(entry.name))
    return found


class Load:
    """Clients that render without a pause, and what each of their requests came to."""

    def __init__(self, account):
        self.account = account
        self.pages = 0
        self.statuses = []
        self.broken = 0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._clients = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def __enter__(self):
        for client in self._clients:
            client.start()
        time.sleep(0.5)
        return self

    def stop(self):
        """Make each client end after its request."""
        self._stop.set()

    def __exit__(self, *_):
        self.stop()
        for client in self._clients:
            client.join()

    def _run(self):
        while not self._stop.is_set():
            try:
                answer = self.account.render(TWO_PAGES)
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.broken += 1
                continue
            with self._lock:
                self.statuses.append(answer.status)
                self.pages += answer.pages if answer.status == 200 else 0
            if answer.status == 503:
                time.sleep(0.1)


def test_a_killed_supervisor_leaves_no_process_and_loses_no_page(tmp_path, make_account):
    farm = launch_farm(tmp_path, environment={})
    account = make_account(farm, plan="paid")
    with Load(account) as load:
        groups = {farm.supervisor.pid, *processes_of(farm).values()}
        assert len(members_of(groups)) > len(groups)  # gunicorn's and Celery's children are seen
        farm.supervisor.kill()
        farm.supervisor.wait()
        wait_until(lambda: not members_of(groups))
        load.stop()
    with launched_farm(tmp_path, port=farm.record.ports["front"]):
        calls = load.statuses.count(200)
        usage = account.settled_usage(pages=load.pages)
        # A connection that broke has at most one row, and only if its render finished.
        assert load.pages <= usage["pagesGenerated"] <= load.pages + 2 * CLIENTS
        assert calls <= usage["apiCalls"] <= calls + CLIENTS
