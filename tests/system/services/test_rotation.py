"""Secrets are changed see the runbook, on real parts under load: no accepted job is lost."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress

import psycopg
import pytest
import redis
from psycopg.conninfo import make_conninfo
from sqlalchemy import make_url
from standardwebhooks.webhooks import Webhook

from deploy.embedded.loopback import free_port
from shared.blobs.factory import open_store
from shared.encryption import new_key
from shared.parent_death import with_parent_death_signal
from tests.deploy.deployment import ROOT
from tests.postgresql import connect_postgresql
from tests.s3 import rclone_binary
from tests.servers import RedisServer, Server
from tests.system.services.conftest import await_port
from tests.system.services.parts import Parts
from tests.waiting import wait_until

HELLO = b"<document><flow><p>Hello</p></flow></document>"
LOGO_BYTES = 3 * 1024 * 1024
LANES = ("async", "waited")
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


class S3:
    """An S3 server whose keys are changed by starting it again on the same bytes."""

    def __init__(self, folder):
        self.port = free_port()
        self._folder = folder
        (folder / "data").mkdir(parents=True)
        self._process = None

    def admit(self, *keys):
        self.stop()
        command = [rclone_binary(), "serve", "s3", str(self._folder / "data")]
        command += ["--addr", f"127.0.0.1:{self.port}", "--config", str(self._folder / "none.conf")]
        for key in keys:
            command += ["--auth-key", key]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                with_parent_death_signal(command), stdout=log, stderr=log
            )
        await_port(self.port, self._process, said=self._folder / "log")

    def url(self, key):
        return f"s3+http://{key.replace(',', ':')}@127.0.0.1:{self.port}/farm"

    def stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    server = S3(tmp_path_factory.mktemp("s3"))
    server.admit("first,a-long-secret")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        with redis.Redis(port=server.port) as admin:
            admin.acl_setuser("default", enabled=True, passwords=["+one"], nopass=False)
        yield server.port


@pytest.fixture(scope="module")
def farm(tmp_path_factory, postgresql_port, redis_port, s3):
    with connect_postgresql(postgresql_port) as admin:
        admin.execute("CREATE ROLE farm LOGIN PASSWORD 'one'")
        admin.execute("CREATE DATABASE rotated OWNER farm")
    parts = Parts(
        tmp_path_factory.mktemp("farm"),
        {
            "PRESSROOM_DATABASE_URL": database_url(postgresql_port, "farm", "one"),
            "PRESSROOM_REDIS_URL": f"redis://:one@127.0.0.1:{redis_port}/0",
            "PRESSROOM_BLOB_URL": s3.url("first,a-long-secret"),
            "PRESSROOM_SECRET_KEYS": new_key(),
        },
    )
    parts.command("migrate")
    try:
        parts.start()
        yield parts
    finally:
        parts.stop()


def database_url(port, role, password):
    return f"postgresql+psycopg://{role}:{password}@127.0.0.1:{port}/rotated"


class Caller:
    """A client that sends a call again, with its key, until it is answered."""

    def __init__(self, farm, account):
        self._farm = farm
        self.key = account["api_key"]
        self.answered = Counter()  # calls of a load, by lane

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self._farm.port, timeout=150)
        try:
            sent = {"Authorization": f"Bearer {self.key}"} | {
                name.replace("_", "-"): value for name, value in headers.items()
            }
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def insist(self, method, path, body=None, **headers):
        """Repeat a request until the answer is neither a broken connection nor a request to retry."""

        def answered():
            with suppress(OSError, http.client.HTTPException):
                status, answer = self.ask(method, path, body, **headers)
                if status not in (409, 503):
                    return status, answer
            return None

        return wait_until(
            answered, seconds=200, pause=0.2, explain=lambda: self._farm.said()[-5000:]
        )

    def read(self, path):
        return json.loads(self.insist("GET", path)[1])


@pytest.fixture
def account(farm):
    return farm.command("account", "create", "--email", "a@example.org", "--plan", "paid")


@contextmanager
def load(farm, account):
    """Send renders, waited for and not, in the block; afterwards each has been done and counted once."""
    caller, stop = Caller(farm, account), threading.Event()
    accepted, failed = [], []

    def go_on(lane):
        number = 0
        while not stop.is_set():
            number += 1
            headers = {"Content_Type": "text/xml", "Idempotency_Key": f"{lane}-{number}"}
            if lane == "async":
                headers["Prefer"] = "respond-async"
            status, answer = caller.insist("POST", "/v2/pdf", HELLO, **headers)
            caller.answered[lane] += 1
            if status == 202:
                accepted.append(json.loads(answer)["id"])
            elif status == 200:
                accepted.append(None)
            else:
                failed.append((status, answer))
            time.sleep(0.1)

    threads = [threading.Thread(target=go_on, args=[lane]) for lane in LANES]
    for thread in threads:
        thread.start()
    try:
        yield caller
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert len(accepted) > 5
    for job_id in filter(None, accepted):
        assert caller.read(f"/v2/jobs/{job_id}?wait=60")["status"] == "succeeded"
    wait_until(
        lambda: caller.read("/v2/account/usage")["pagesGenerated"] == len(accepted), pause=0.2
    )


@pytest.mark.long
def test_the_password_of_postgresql(farm, account, postgresql_port):
    guide = (ROOT / "deploy/docs/security.md").read_text().replace("pressroom", "farm")
    *add, remove = re.findall(r"`((?:CREATE|ALTER) ROLE [^`]*)`", guide)
    assert len(add) == 2
    with load(farm, account), connect_postgresql(postgresql_port) as admin:
        for statement in add:
            admin.execute(statement.replace("…", "two"))
        farm.environment["PRESSROOM_DATABASE_URL"] = database_url(postgresql_port, "farm_b", "two")
        farm.replace()
        admin.execute(remove.replace("…", "three"))
        assert not admits(postgresql_port, "farm", "one")
        farm.command("migrate")
        # The next time, the other way round.
        farm.environment["PRESSROOM_DATABASE_URL"] = database_url(postgresql_port, "farm", "three")
        farm.replace()
        admin.execute("ALTER ROLE farm_b PASSWORD 'four'")
        assert not admits(postgresql_port, "farm_b", "two")
    with connect_postgresql(postgresql_port) as admin:
        admin.execute("SELECT 1")
    url = make_url(farm.environment["PRESSROOM_DATABASE_URL"])
    owners = f"host=127.0.0.1 port={postgresql_port} user=pressroom dbname={url.database}"
    with psycopg.connect(owners) as connection:
        found = connection.execute(
            "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    assert found == [("farm",)]


def admits(port, role, password):
    where = make_conninfo(
        host="127.0.0.1", port=port, user=role, password=password, dbname="rotated"
    )
    try:
        psycopg.connect(where).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.long
def test_the_password_of_redis(farm, account, redis_port):
    with load(farm, account), redis.Redis(port=redis_port, password="one") as admin:
        admin.acl_setuser("default", enabled=True, passwords=["+two"])
        farm.environment["PRESSROOM_REDIS_URL"] = f"redis://:two@127.0.0.1:{redis_port}/0"
        farm.replace()
        admin.acl_setuser("default", enabled=True, passwords=["-one"])
    with redis.Redis(port=redis_port, password="one") as old, pytest.raises(redis.RedisError):
        old.ping()


@pytest.mark.long
def test_the_key_of_the_object_store(farm, account, s3):
    image = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--%b--></svg>'
    with load(farm, account) as caller:
        stored, _ = caller.insist(
            "PUT", "/v2/images/logo", image % (b"x" * LOGO_BYTES), Content_Type="image/svg+xml"
        )
        assert stored == 201
        s3.admit("first,a-long-secret", "second,another-secret")
        farm.environment["PRESSROOM_BLOB_URL"] = s3.url("second,another-secret")
        farm.replace()
        s3.admit("second,another-secret")
        # A draft, so that it is not counted among those of the load.
        drawn = b'<document><flow><img src="logo" alt=""/></flow></document>'
        status, pdf = caller.insist(
            "POST", "/v2/pdf?draft=true", drawn, Content_Type="text/xml", Idempotency_Key="drawn"
        )
        assert (status, pdf[:4]) == (200, b"%PDF")
    with pytest.raises(Exception, match="object store"):
        open_store(s3.url("first,a-long-secret")).check()


def test_the_secret_of_a_webhook(farm, account):
    with Server(OK) as server, load(farm, account) as caller:
        asked = json.dumps({"url": server.url(), "events": ["job.succeeded"]}).encode()
        made = json.loads(
            caller.insist("POST", "/v2/webhooks", asked, Content_Type="application/json")[1]
        )
        wait_until(lambda: server.requests)
        assert verify(server.requests[0], made["secret"])
        rotated = json.loads(caller.insist("POST", f"/v2/webhooks/{made['id']}/rotate")[1])
        count = len(server.requests) + 3  # one may have been on its way
        wait_until(lambda: len(server.requests) > count)
        old, new = farm.environment["PRESSROOM_SECRET_KEYS"], new_key()
        for keys, changed in ((f"{new} {old}", 2), (new, 0)):  # of both secrets
            farm.environment["PRESSROOM_SECRET_KEYS"] = keys
            before = len(read_encrypted(farm))
            farm.replace()
            told = wait_until(lambda before=before: read_encrypted(farm)[before:])
            assert [each["changed"] for each in told] == [changed]
        count = len(server.requests) + 3
        wait_until(lambda: len(server.requests) > count)
        for secret in (made["secret"], rotated["secret"]):
            assert verify(server.requests[-1], secret)


def read_encrypted(farm):
    """Return what was logged of secrets that were encrypted with the newest key."""
    event = "secrets encrypted with the newest key"
    return [json.loads(line) for line in farm.said().splitlines() if event in line]


def verify(request, secret):
    head, _, body = request.partition(b"\r\n\r\n")
    lines = [line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:]]
    return Webhook(secret).verify(body, {name.lower(): value for name, value in lines})


def test_the_key_of_an_account(farm, account):
    with load(farm, account) as caller:
        made = farm.command("key", "create", account["account_id"])
        old = Caller(farm, account)
        accepted = json.loads(
            old.insist("POST", "/v2/pdf?draft=true", HELLO, Content_Type="text/xml",
                       Prefer="respond-async")[1]
        )  # fmt: skip
        assert old.ask("GET", "/v2/authcheck")[0] == 200
        caller.key = made["api_key"]
        assert caller.ask("GET", "/v2/authcheck")[0] == 200
        before = caller.answered.copy()  # one more of each may have the old key
        wait_until(lambda: all(caller.answered[lane] > before[lane] + 1 for lane in LANES))
        farm.command("key", "revoke", account["key_id"])
        assert old.ask("GET", "/v2/authcheck")[0] == 401
        assert caller.read(f"/v2/jobs/{accepted['id']}?wait=30")["status"] == "succeeded"
