"""Real parts for the tests: a private Redis-compatible server, databases, the front, a worker."""

from __future__ import annotations

import gc
import itertools
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import hypothesis
import pytest
import redis
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, event
from werkzeug.routing import Rule

from api.app import create_app
from api.ports import Ports
from api.wiring import wire
from deploy.embedded.demo.show import LaunchedFarm
from deploy.embedded.loopback import free_port
from shared.auth.accounts import CreatedAccount, create_account
from shared.batches.records import JobSlice
from shared.clock import now
from shared.db.migrate import upgrade
from shared.db.session import Database, open_database
from shared.encryption import new_key
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import JobOutcome, OutcomeStatus, RenderJob
from shared.jobs.repository import claim_jobs, end_job_slice, start_job_slice
from shared.queue.claims import Claims
from shared.queue.commits import Commits, DeliveryAction
from shared.queue.connection import connect
from shared.queue.names import INTERACTIVE, JOBS_TASK, PREVIEW, VALIDATE
from shared.settings import FetcherSettings, Settings, get_limits
from tests.farm.conftest import environment, real_worker
from tests.messages import read_message
from tests.postgresql import NoPostgresqlError, make_database, running_postgresql
from tests.rabbitmq import NoRabbitmqError, RabbitServer, running_rabbitmq
from tests.s3 import moto_url, rclone_url, store  # noqa: F401 - fixtures
from tests.servers import Answer, RedisServer, Server
from tests.soundness import pytest_runtest_call  # noqa: F401 - a hook
from tests.waiting import wait_until
from workers.fetcher.main import FetcherServer

# Examples take longer on a busy machine.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--faults-scale",
        type=float,
        default=0.02,
        help="size of the runs of tests/faults; 1 is what make test-faults asks for",
    )


@pytest.fixture(scope="session", autouse=True)
def small_pools() -> Iterator[None]:
    """Limit pools of connections to what a test may use: filling one takes milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shared.queue.connection.MOST_CONNECTIONS", 500)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_rules() -> Iterator[None]:
    """Compile each route of the front once: that took half the time of a test that makes a front."""
    compile_rule, compiled = Rule.compile, dict[tuple[str, str], Rule]()

    def compile_once(rule: Rule) -> None:
        first = compiled.setdefault((rule.rule, repr(rule.defaults)), rule)
        if first is rule:
            compile_rule(rule)
            return
        for name in ("_parts", "_trace", "_converters", "arguments"):
            setattr(rule, name, getattr(first, name))
        for name in ("_build", "_build_unknown"):
            setattr(rule, name, getattr(first, name).__func__.__get__(rule))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", compile_once)
        yield


@event.listens_for(Engine, "connect")
def _leave_unsynced(connection: object, _: object) -> None:
    """Let SQLite not wait for the disk in this process: no test takes the machine's power away."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def set_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Set limits and retention as an operator does, in this process alone."""

    def change(**values: int) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"PRESSROOM_{name.upper()}", str(value))
        get_limits.cache_clear()

    yield change
    get_limits.cache_clear()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Run one server for all tests of this process, set up as production demands."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of the emptied server: that of all tests, or that of the worker for uploads."""
    if "upload_worker" in request.fixturenames:
        url: str = request.getfixturevalue("upload_worker").redis_url
    else:
        url = request.getfixturevalue("redis_server").url
    with redis.Redis.from_url(url) as client:
        client.flushall()
    return url


@pytest.fixture
def free_tcp_port() -> int:
    """Return a port that no other process is given meanwhile."""
    return free_port()


@pytest.fixture(name="redis")
def redis_client(redis_url: str) -> Iterator[redis.Redis]:
    """Return a client of the emptied server, connected as the product does."""
    with connect(redis_url) as client:
        yield client


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with all tables and no rows, as a template."""
    path = tmp_path_factory.mktemp("database") / "empty.sqlite"
    upgrade(f"sqlite:///{path}")
    return path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run two cases of each test on PostgreSQL: further ones differ in what is asked, not in what SQL is sent."""
    kept, left_out = list[pytest.Item](), list[pytest.Item]()
    cases = Counter[tuple[Path, str]]()
    for item in items:
        test = item.path, item.nodeid.partition("[")[0]
        is_case = "[postgresql-" in item.nodeid
        cases[test] += is_case
        (left_out if is_case and cases[test] > 2 else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of each collection of garbage."""
    gc.freeze()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of a database of this test's own, with all tables: each test runs on both kinds."""
    if request.param == "postgresql":
        make: Callable[..., str] = request.getfixturevalue("make_postgresql")
        return make(template=request.getfixturevalue("migrated_postgresql"))
    return request.getfixturevalue("sqlite_url")


@pytest.fixture
def sqlite_url(migrated_database: Path, tmp_path: Path) -> str:
    """Return the URL of a SQLite file of this test, where the kind of database does not matter."""
    return copy_database(migrated_database, tmp_path)


def copy_database(migrated: Path, folder: Path) -> str:
    """Copy a migrated SQLite file into a folder and return its URL."""
    path = folder / "pressroom.sqlite"
    path.write_bytes(migrated.read_bytes())
    return f"sqlite:///{path}"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Open the database of this test."""
    database = open_database(database_url)
    yield database
    database.close()


@pytest.fixture(scope="session")
def postgresql_port() -> Iterator[int]:
    """Run one PostgreSQL server from its package; missing is a failure, never a skip."""
    try:
        with running_postgresql() as port:
            yield port
    except NoPostgresqlError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="module")
def rabbit() -> Iterator[RabbitServer]:
    """Run one RabbitMQ server for the tests of a module; missing is a failure, never a skip."""
    try:
        with running_rabbitmq() as server:
            yield server
    except NoRabbitmqError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def make_postgresql(postgresql_port: int) -> Callable[..., str]:
    """Provide a function that makes a database, empty or from a template, and returns its URL."""
    numbers = itertools.count(1)
    return lambda **options: make_database(postgresql_port, f"test_{next(numbers)}", **options)


@pytest.fixture(scope="session")
def migrated_postgresql(make_postgresql: Callable[..., str]) -> str:
    """Return the name of a PostgreSQL database with all tables and no rows, to be copied."""
    url = make_postgresql()
    upgrade(url)
    return url.rpartition("/")[2]


@pytest.fixture
def postgresql_url(make_postgresql: Callable[..., str]) -> str:
    """Return the URL of an empty PostgreSQL database."""
    return make_postgresql()


@pytest.fixture(scope="session")
def fetcher_url() -> Iterator[str]:
    """Run a fetcher that goes to public addresses only and return its URL."""
    with running_fetcher() as url:
        yield url


@pytest.fixture
def open_fetcher_url() -> Iterator[str]:
    """Run a fetcher of this test's own that goes to loopback too and return its URL."""
    with running_fetcher(outbound_allow_private=True) as url:
        yield url


@contextmanager
def running_fetcher(**options: object) -> Iterator[str]:
    """Run a fetcher within the block and return its URL."""
    fetcher = FetcherServer(FetcherSettings(fetcher_bind="127.0.0.1:0", **options))
    fetcher.start()
    try:
        yield fetcher.url
    finally:
        fetcher.stop()


@dataclass(frozen=True, slots=True)
class UploadWorker:
    """A running worker that inspects uploads, with a Redis server and a blob store of its own."""

    redis_url: str
    blobs: Path


@pytest.fixture(scope="session")
def upload_worker(
    migrated_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[UploadWorker]:
    """Run a real worker for all tests of this process that upload files; it takes seconds to start.

    It has its own Redis: on that of the other tests it would take their inspections.
    """
    folder = tmp_path_factory.mktemp("uploads")
    with RedisServer(tmp_path_factory.mktemp("uploads-redis")) as server:
        served = UploadWorker(server.url, folder / "blobs")
        own = environment(served.redis_url, migrated_database, folder, f"file://{served.blobs}")
        with real_worker(own | {"PRESSROOM_WORKER_QUEUES": VALIDATE}, folder):
            yield served


@pytest.fixture
def blobs_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty blob store: this test's own, or the worker's."""
    if "upload_worker" not in request.fixturenames:
        return f"file://{tmp_path}/blobs"
    folder = request.getfixturevalue("upload_worker").blobs
    for path in (*folder.glob("images/*"), *folder.glob("fonts/*")):
        shutil.rmtree(path)
    return f"file://{folder}"


@pytest.fixture
def render_budget() -> float:
    """Return the seconds of a render: the machine may be busy. A test of its end sets fewer."""
    return 60


@pytest.fixture
def settings(
    database_url: str, redis_url: str, fetcher_url: str, blobs_url: str, render_budget: float
) -> Settings:
    """Return the settings of a farm in this test's folder."""
    return Settings(
        database_url=database_url,
        redis_url=redis_url,
        blob_url=blobs_url,
        fetcher_url=fetcher_url,
        secret_keys=new_key(),
        render_budget=render_budget,
        enforce_rate_limits=False,
    )


@pytest.fixture
def ports(settings: Settings) -> Iterator[Ports]:
    """Wire the front's parts."""
    ports = wire(settings)
    yield ports
    ports.database.close()


def with_settings(ports: Ports, **changed: Any) -> Ports:
    """Return the parts of a front with other settings."""
    return replace(ports, settings=replace(ports.settings, **changed))


@pytest.fixture
def account(database: Database) -> CreatedAccount:
    """Make a free account of 100 pages and 10 draft pages."""
    with database.session() as session:
        return create_account(
            session, email="ada@example.org", name="Ada", max_pages=100, max_draft_pages=10
        )


def create_account_of(farm: LaunchedFarm, **terms: Any) -> CreatedAccount:
    """Make an account of a running farm, without the second that the command for it takes to start."""
    database = open_database(farm.record.database_url)
    try:
        with database.session() as session:
            return create_account(session, email="test@example.org", **terms)
    finally:
        database.close()


@pytest.fixture
def app(ports: Ports) -> Flask:
    """Return the front over the ports of this test, which all its clients share."""
    return create_app(ports)


@pytest.fixture
def caller(app: Flask, account: CreatedAccount) -> FlaskClient:
    """Return a client of the front that sends the account's key."""
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    return client


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    """Return a client of the front that sends no key."""
    return app.test_client()


class ScriptedWorker:
    """Takes jobs from the real queue in a thread and commits what `answer` makes of each."""

    def __init__(self, redis_url: str, claims: Claims, flow: JobLifecycle) -> None:
        self.queues = [INTERACTIVE, PREVIEW, VALIDATE]
        self.jobs: list[RenderJob] = []
        self.bodies: list[bytes] = []
        self.pdf = b"%PDF-1.7 scripted"
        self.answer: Callable[[RenderJob], JobOutcome | None] = self.succeed
        self.claims = claims
        self._flow = flow
        self.redis = connect(redis_url)
        self._commits = Commits(self.redis)
        self._polls = 0
        self._wake = f"test:wake:{id(self)}"  # a list that ends the poll in progress
        self._running = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def succeed(
        self, job: RenderJob, *, pages: int = 1, filename: str | None = None, cpu_us: int = 0
    ) -> JobOutcome:
        """Return the outcome of a successful render."""
        return JobOutcome(
            job.id,
            OutcomeStatus.SUCCEEDED,
            pages=pages,
            filename=filename,
            cpu_us=cpu_us,
            pdf=(
                self._flow.store_pdf(job.id, self.pdf)
                if job.is_recorded
                else self.claims.store(job.id, self.pdf)
            ),
            timings={"queue": 1.0, "merge": 2.0, "layout": 3.25, "finish": 4.0},
        )

    def __enter__(self) -> Self:
        self._running.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.clear()
        self._end_poll()
        self._thread.join()
        self.redis.close()

    def consume(self, *queues: str) -> None:
        """Consume only these queues, and wait for the poll in progress to end."""
        self.queues = list(queues)
        before = self._polls
        self._end_poll()
        wait_until(lambda: self._polls > before)

    def _end_poll(self) -> None:
        with suppress(
            redis.RedisError
        ):  # a server that the test has stopped; the poll ends by itself
            self.redis.lpush(self._wake, "")

    def _run(self) -> None:
        while self._running.is_set():
            self._polls += 1
            message = self.redis.brpop([*self.queues, self._wake], timeout=0.1)
            if message and message[0].decode() != self._wake:
                self._take(message[1])

    def _take(self, message: bytes) -> None:
        task, argument = read_message(message)
        if task == JOBS_TASK:
            self._take_slice(JobSlice.of_builtins(argument))
        else:
            self._take_job(RenderJob.decode(argument))

    def _take_slice(self, asked: JobSlice) -> None:
        with self._flow.database.session() as session:
            start_job_slice(session, asked)
            claimed = claim_jobs(session, asked, limit=100, at=now())
        for message in claimed:
            self._take_job(RenderJob.decode(message))
        with self._flow.database.session() as session:
            end_job_slice(session, asked)

    def _take_job(self, job: RenderJob) -> None:
        if self._commits.begin(job) is not DeliveryAction.RUN:
            return  # it was withdrawn
        self.jobs.append(job)
        self.bodies.append(self.claims.load(job.body))
        if outcome := self.answer(job):
            committed = self._commits.commit(job, outcome)
            if job.is_recorded and committed is not None:
                self._flow.record_ends({job.id: committed})


@pytest.fixture
def worker(redis_url: str, ports: Ports) -> Iterator[ScriptedWorker]:
    """Run a scripted worker for the length of the test."""
    cell = ports.cells.only
    assert cell is not None, "a farm of one shard"
    with ScriptedWorker(redis_url, cell.claims, cell.jobs) as worker:
        yield worker


@pytest.fixture
def serve() -> Iterator[Callable[[Answer | bytes], Server]]:
    """Provide a function that starts a server on loopback with given answers."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(Server(answer))
