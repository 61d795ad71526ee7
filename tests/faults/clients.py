"""Clients that use a farm hard, do as the interface tells them, and write down what they saw."""

from __future__ import annotations

import http.client
import io
import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

import pikepdf

from tests.faults.history import Entry, History, instant
from tests.soundness import find_problems

NOTE = "<document><flow><h1>Note {n}</h1>{pages}</flow></document>"
_BROKEN = (OSError, http.client.HTTPException)


class Client:
    """Speaks to the front with one account's key; every request becomes an entry."""

    def __init__(self, port: int, key: str, history: History) -> None:
        self._port = port
        self._key = key
        self.history = history

    def render(
        self, number: int, *, text: str = "", breaks_off: float | None = None, timeout: float = 90
    ) -> Entry:
        """Render a note of one or two pages; `breaks_off` is after how many seconds to hang up."""
        body = note(number, text)
        return self._record("render", "/v2/pdf", body, breaks_off=breaks_off, timeout=timeout)

    def accept(self, number: int, *, text: str = "") -> Entry:
        """Send a note to be rendered without waiting for it."""
        headers = {"Prefer": "respond-async"}
        return self._record("accept", "/v2/pdf", note(number, text), headers=headers)

    def submit(self, template: str, count: int, output: str = "files") -> Entry:
        """Submit a batch of notes."""
        lines = "".join(json.dumps({"n": n}) + "\n" for n in range(count)).encode()
        return self._record(
            "batch",
            f"/v2/batches?template={template}&output={output}",
            lines,
            headers={"Content-Type": "application/x-ndjson"},
        )

    def upload(self, name: str, data: bytes) -> Entry:
        """Store an image."""
        headers = {"Content-Type": "image/png"}
        return self._record("upload", f"/v2/images/{name}", data, method="PUT", headers=headers)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
        """Send a request outside of the history and return its JSON; None if there is no answer."""
        with suppress(*_BROKEN), self._connected(30) as connection:
            connection.request(method, path, body, self._headers(headers))
            answer = connection.getresponse()
            return {"status": answer.status, **json.loads(answer.read() or b"{}")}
        return None

    def _record(
        self,
        call: str,
        path: str,
        body: bytes,
        *,
        method: str = "POST",
        headers: dict[str, str] | None = None,
        breaks_off: float | None = None,
        timeout: float = 90,
    ) -> Entry:
        started = instant()
        try:
            with self._connected(timeout) as connection:
                sent = self._headers({"Content-Type": "text/xml"} | (headers or {}))
                connection.request(method, path, body, sent)
                if breaks_off is not None:
                    time.sleep(breaks_off)
                    return self._add(Entry(call, started, instant(), None))
                answer = connection.getresponse()
                entry = read_answer(call, started, answer.status, answer.headers, answer.read())
        except _BROKEN:
            entry = Entry(call, started, instant(), None)
        return self._add(entry)

    def _add(self, entry: Entry) -> Entry:
        self.history.add(entry)
        return entry

    def _headers(self, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}", **headers}

    @contextmanager
    def _connected(self, timeout: float) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=timeout)
        try:
            yield connection
        finally:
            connection.close()


def note(number: int, text: str = "") -> bytes:
    """Return a document of one page, or of two for odd numbers."""
    second = "<p break-before='page'>Second page</p>" if number % 2 else ""
    return NOTE.format(n=number, pages=f"<p>Some text. {text}</p>{second}").encode()


def read_answer(call: str, started: float, status: int, headers: Any, body: bytes) -> Entry:
    """Make an entry of an answer, and look for what is wrong with it."""
    entry = Entry(call, started, instant(), status, flaw=_find_flaw(status, headers, body))
    if entry.flaw:
        return entry
    if status == 200 and call == "render":
        return Entry(call, started, entry.ended, status, headers["X-Job-Id"],
                     int(headers["X-Page-Count"]))  # fmt: skip
    if status == 202:
        record = json.loads(body)
        if call == "batch":
            return Entry(call, started, entry.ended, status, batch_id=record["id"],
                         total=record["total"])  # fmt: skip
        return Entry(call, started, entry.ended, status, record["id"])
    return entry


def _find_flaw(status: int, headers: Any, body: bytes) -> str | None:
    if status == 200 and headers.get("Content-Type") == "application/pdf":
        if problems := find_problems(body):
            return f"a broken PDF: {'; '.join(problems[:3])}"
        with pikepdf.open(io.BytesIO(body)) as pdf:
            pages = len(pdf.pages)
        told = int(headers["X-Page-Count"])
        return None if pages == told else f"a PDF of {pages} pages that says {told}"
    if status < 400:
        return None
    try:
        said = json.loads(body)
    except ValueError:
        return "an error that is not JSON"
    if said.get("statusCode") != status or not said.get("message"):
        return "an error body that is not the interface's"
    if status == 503 and not headers.get("Retry-After"):
        return "a 503 without Retry-After"
    return None


class Crowd:
    """Clients in threads, each doing `act(client, number)` over and over with the next number.

    They go on until `total` numbers are used up and the block has ended.
    """

    def __init__(
        self,
        make: Callable[[], Client],
        *,
        clients: int,
        total: int,
        act: Callable[[Client, int], object],
    ) -> None:
        self._total = total
        self._numbers = itertools.count()
        self._act = act
        self._threads = [threading.Thread(target=self._run, args=(make(),)) for _ in range(clients)]
        self._may_end = threading.Event()
        self._must_end = threading.Event()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._may_end.set()
        if error[0] is not None:
            self._must_end.set()
        for thread in self._threads:
            thread.join()

    def _run(self, client: Client) -> None:
        while not self._must_end.is_set():
            number = next(self._numbers)
            if number >= self._total and self._may_end.is_set():
                return
            self._act(client, number)


def render_patiently(client: Client, number: int) -> None:
    """Render until it is answered 200, as a client does that heeds Retry-After."""
    for _ in range(60):
        entry = client.render(number)
        if entry.status not in (429, 503, None):
            return
        time.sleep(0.5 + random.random() / 2)


def render_and_accept(client: Client, number: int) -> None:
    """Render, of five times once without waiting for it, and rest after a 503."""
    entry = client.accept(number) if number % 5 == 0 else client.render(number)
    if entry.status == 503:
        time.sleep(0.3)
