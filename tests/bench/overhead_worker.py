"""The two workers that `overhead.py` compares: `farm` is the product's, `stock` plain Celery.

Both run the same work: a millisecond of computing and a PDF, of 30 KB or as `BENCH_PDF_BYTES` says.
"""

from __future__ import annotations

import base64
import os
import sys
import time
from functools import cache

from celery import Celery

from shared.settings import get_settings
from workers.engine.pipeline import validate
from workers.engine.ports import Rendered
from workers.farm.main import run_worker
from workers.farm.worker import create_worker_app
from workers.render.run import Engine

WORK_SECONDS = 0.001
PDF_BYTES = "BENCH_PDF_BYTES"
SMALL = 30 * 1024
PDF = bytes(range(256)) * (int(os.environ.get(PDF_BYTES, SMALL)) // 256)


def work() -> bytes:
    end = time.perf_counter() + WORK_SECONDS
    while time.perf_counter() < end:
        pass
    return PDF


def render(_template, _payload, **_options):
    return Rendered(pdf=work(), pages=1)


@cache
def stock_app() -> Celery:
    url = get_settings().redis_url
    app = Celery("stock", broker=url, backend=url)

    @app.task(name="stock.render")
    def stock_render(_body: str) -> str:
        return base64.b64encode(work()).decode()

    return app


if __name__ == "__main__":
    if sys.argv[1] == "farm":
        engine = Engine(prepare=lambda source, _: source, render=render, validate=validate)
        run_worker(create_worker_app(engine))
    else:
        stock_app().worker_main(["worker", "--concurrency=1", "--loglevel=ERROR"])
