"""A worker of batches inside the test: real stores, the real engine, and time in the test's hands."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import pytest
from flask.testing import FlaskClient

from shared.batches.records import Slice
from shared.queue.connection import connect
from shared.queue.names import BATCH
from shared.queue.slice_commits import Assembly
from shared.settings import Settings
from tests.messages import read_argument
from workers.batches.assembly import run_assembly
from workers.batches.slices import run_slice
from workers.engine.pipeline import prepare_template, render, validate
from workers.farm.worker import assemble
from workers.maintenance.recorded_work import batch_tasks
from workers.render.run import Engine

TEMPLATE = """
<document filename="doc-{{ n }}.pdf" title="Number {{ n }}">
  <data>
    <json>{ "n": 0, "extra": [] }</json>
    <field name="n" type="integer"/>
  </data>
  <flow>
    <p>This is number {{ n }}.</p>
    <p for="line in extra" height="200mm">{{ line }}</p>
  </flow>
</document>
"""


@pytest.fixture
def numbered(caller: FlaskClient) -> str:
    """Store a template that prints a number, and return its id."""
    return store_template(caller)


@pytest.fixture
def slices(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[SliceWorker]:
    """Yield a batch worker; it and any others that a test makes are closed."""
    # Chunks are whole slices, however slow the machine is.
    monkeypatch.setattr("workers.batches.slices.SLICE_SECONDS", 60.0)
    yield SliceWorker(settings)
    SliceWorker.close_all()


class SliceWorker:
    """Takes work on batches from the real queue on demand."""

    _at_work: ClassVar[list[SliceWorker]] = []

    def __init__(self, settings: Settings, *, render: Callable[..., Any] = render) -> None:
        self._at_work.append(self)
        engine = Engine(prepare_template, render, validate)
        self.batch_context = assemble(settings, engine=engine)
        self.redis = connect(settings.redis_url)
        self.taken: list[str] = []

    @classmethod
    def close_all(cls) -> None:
        """Close every connection of every worker of this test."""
        while cls._at_work:
            worker = cls._at_work.pop()
            worker.batch_context.database.close()
            worker.redis.close()

    def take(self) -> dict[str, Any] | None:
        """Remove and return the next message of the queue without processing it."""
        message = self.redis.rpop(BATCH)
        if message is None:
            return None
        return read_argument(message)

    def work_once(self) -> bool:
        """Process the next message of the queue and return whether there was one."""
        argument = self.take()
        if argument is None:
            return False
        self.run(argument)
        return True

    def run(self, argument: dict[str, Any]) -> None:
        self.taken.append(argument["batch"])
        if "chunk" in argument:
            run_slice(Slice.of_builtins(argument), self.batch_context)
        else:
            run_assembly(Assembly(argument["batch"]), self.batch_context)

    def work_off(self) -> None:
        """Process messages until the queue is empty."""
        while self.work_once():
            pass

    def keep(self) -> None:
        """Run each task of the maintenance process once, in a fixed order."""
        if not hasattr(self, "_tasks"):
            self._tasks = batch_tasks(self.batch_context.flow)
        for task in self._tasks:
            task.run_once()

    def events(self) -> list[dict[str, Any]]:
        """Return the usage events so far."""
        entries = self.redis.xrange("usage")
        return [json.loads(fields[b"event"]) for _, fields in entries]


def store_template(caller: FlaskClient, source: str = TEMPLATE) -> str:
    made = caller.post("/v2/templates?name=T", data=source.encode(), content_type="text/xml")
    assert made.status_code == 201, made.json
    return str(made.json["id"])


def ndjson(documents: Iterable[object]) -> bytes:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in documents)
    return "".join(f"{line}\n" for line in lines).encode()


def numbers(count: int) -> bytes:
    return ndjson({"n": number} for number in range(count))


def send(
    caller: FlaskClient,
    template: str,
    body: bytes,
    *,
    output: str = "zip",
    content_type: str = "application/x-ndjson",
    query: str = "",
    **options: Any,
) -> Any:
    path = f"/v2/batches?template={template}&output={output}{query}"
    return caller.post(path, data=body, content_type=content_type, **options)


def accept(caller: FlaskClient, template: str, body: bytes, **options: Any) -> str:
    answer = send(caller, template, body, **options)
    assert answer.status_code == 202, answer.json
    return str(answer.json["id"])


def items_of(caller: FlaskClient, batch_id: str, query: str = "") -> list[dict[str, Any]]:
    answer = caller.get(f"/v2/batches/{batch_id}/items{query}")
    assert answer.status_code == 200, answer.json
    return list(answer.json["items"])


def archive_of(caller: FlaskClient, batch_id: str) -> zipfile.ZipFile:
    answer = caller.get(f"/v2/batches/{batch_id}/result")
    assert answer.status_code == 200, answer.json
    archive = zipfile.ZipFile(io.BytesIO(answer.data))
    assert archive.testzip() is None
    return archive
