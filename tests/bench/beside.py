"""The engine alone, timed while something else runs: the speed of a machine changes within minutes."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from shared.clock import now
from tests.bench.works import WORKS, Logo
from workers.engine.pipeline import PreparedTemplate, prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

INVOICE = (Path(__file__).with_name("documents") / "invoice.xml").read_bytes()
# Twenty documents each; they take 4 % of a core.
SAMPLE_EVERY_SECONDS = 3.0
_KINDS = 200  # of data: no two documents of a sample are alike


def invoices(number: int) -> Iterator[bytes]:
    """Yield the data of invoices, one line each."""
    work = WORKS["invoice"]
    lines = [work.write_data(seed).encode() + b"\n" for seed in range(_KINDS)]
    for at in range(number):
        yield lines[at % _KINDS]


class Engine:
    """The engine in a loop over invoices."""

    def __init__(self) -> None:
        self._template: PreparedTemplate = prepare_template(INVOICE)
        self._options, self._logo = RenderOptions(now()), Logo()
        self._payloads = [Payload(PayloadKind.JSON, line) for line in invoices(_KINDS)]
        self.render(_KINDS)

    def render(self, number: int) -> None:
        """Render a number of documents."""
        for at in range(number):
            payload = self._payloads[at % _KINDS]
            render(self._template, payload, options=self._options, resources=self._logo)


@contextmanager
def engine_beside(*, rest: float, nice: int = 0) -> Iterator[list[float]]:
    """Run the engine in a process next to the block, with some seconds of rest between its turns;
    the CPU seconds of a document are in the list when it is over.
    """
    context = multiprocessing.get_context("spawn")
    is_ready, is_over, results = context.Event(), context.Event(), context.SimpleQueue()
    process = context.Process(target=_run, args=(rest, nice, is_ready, is_over, results))
    process.start()
    measured: list[float] = []
    is_ready.wait()
    try:
        yield measured
    finally:
        is_over.set()
        measured.append(results.get())
        process.join()


def _run(rest: float, nice: int, is_ready: Event, is_over: Event, results: Any) -> None:
    os.nice(nice)
    engine = Engine()
    is_ready.set()
    spent = 0.0
    for rounds in count(1):
        engine.render(2)  # after a rest the first ones find the caches of others
        begun = time.process_time()
        engine.render(20)
        spent += time.process_time() - begun
        if is_over.wait(rest):
            results.put(spent / (20 * rounds))
            return
