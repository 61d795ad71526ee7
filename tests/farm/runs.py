"""Runs and batches of tests: plans stored, files read back, and processes that end where a test says."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import Any

import pikepdf
import pypdfium2
import pytest
import zxingcpp

from tests.batches import accept, ndjson


class KilledError(BaseException):
    """Represents the end of the process: nothing after it is done."""


def die(*_: object, **__: object) -> None:
    raise KilledError


@contextmanager
def killed_in(owner: object, name: str) -> Iterator[None]:
    """Expect the process of the block to end where it calls a function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(KilledError):
            yield


@pytest.fixture
def run(begin: Callable[..., str], slices) -> Callable[..., str]:
    """Return a function that takes a run to its end, as the module's `begin` accepts it."""

    def run(*arguments: Any, **options: Any) -> str:
        batch_id = begin(*arguments, **options)
        slices.work_off()
        return batch_id

    return run


def accept_run(caller, template: str, plan: dict, documents: list, **options: Any) -> str:
    """Store a plan and accept documents that leave by it."""
    store(caller, plan)
    options = {"output": "merged", "query": "&plan=letters"} | options
    return accept(caller, template, ndjson(documents), **options)


def store(caller, plan, name="letters"):
    answer = caller.put(f"/v2/plans/{name}", json=plan)
    assert answer.status_code in (200, 201), answer.json
    return answer.json


def titles(caller, batch_id, number):
    answer = caller.get(f"/v2/batches/{batch_id}/files/{number}")
    assert answer.status_code == 200, answer.json
    with pikepdf.open(BytesIO(answer.data)) as pdf, pdf.open_outline() as outline:
        assert not pdf.check_pdf_syntax()
        entries = [(entry.title.removeprefix("Number "), entry) for entry in outline.root]
        pages = [page.obj.objgen for page in pdf.pages]
        return [(title, pages.index(entry.destination[0].objgen) + 1) for title, entry in entries]


def account_of(caller, batch_id):
    account = caller.get(f"/v2/batches/{batch_id}/account").json
    ends = ("delivered", "held", "rejected", "failed", "cancelled", "open")
    assert account["asked"] == sum(account[end] for end in ends), account
    return account


def index_of(caller, batch_id):
    """Return the rows of the index of a run."""
    return list(csv.DictReader(StringIO(caller.get(f"/v2/batches/{batch_id}/index").text)))


def read_pages(caller, batch_id, name):
    """Return the codes of each page of a file, as a camera of 216 dpi sees them."""
    pdf = caller.get(f"/v2/batches/{batch_id}/files/{name}").data
    pages = [page.render(scale=3, grayscale=True).to_pil() for page in pypdfium2.PdfDocument(pdf)]
    found = [zxingcpp.read_barcodes(page, try_rotate=False) for page in pages]
    return [[code.text for code in codes] for codes in found]


def decide(caller, batch_id, what, status=200, **body):
    answer = caller.post(f"/v2/batches/{batch_id}/{what}", json=body)
    assert answer.status_code == status, answer.json
    return answer.json


def read_contents(pdf: bytes, own: int | None = None) -> list[list[bytes]]:
    """Return the content streams of each page, without those that `own` adds at both ends."""
    with pikepdf.open(BytesIO(pdf)) as opened:
        pages = [page.obj.get("/Contents") for page in opened.pages]
        parts = [
            [] if each is None else list(each) if isinstance(each, pikepdf.Array) else [each]
            for each in pages
        ]
        return [[part.read_raw_bytes() for part in page][own : own and -own] for page in parts]
