"""A render frees its memory when it ends: a worker's child makes thousands of documents."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from shared.clock import now
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

ROOT = Path(__file__).parents[2]
FILLING = b"x" * 1_000_000
LONG_TEXT = b"<document><flow><p>x</p></flow><!--%b--></document>" % FILLING
PICTURE = b'<document><flow><img src="picture" alt="" width="60mm"/></flow></document>'
OF_DATA = b'<document><data><json>{"b": ""}</json></data><flow><p>{{ b }}</p></flow></document>'
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">%b<path d="M0 0h9v9z"/></svg>'
    % (b"<desc>%b</desc>" % FILLING)
)


class Pictures:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def find_image(self, _name: str) -> bytes:
        return self._data


def noise() -> bytes:
    file = io.BytesIO()
    Image.effect_noise((800, 800), 120).save(file, "PNG")
    return file.getvalue()


def make(source: bytes, payload: Payload | None = None, picture: bytes = b"") -> None:
    template = prepare_template(source)
    render(template, payload, options=RenderOptions(now=now()), resources=Pictures(picture))


@pytest.mark.long
@pytest.mark.parametrize(
    "work",
    [
        lambda: make(LONG_TEXT),
        lambda: prepare_template(b"<!--%b--><!DOCTYPE document>" % FILLING),
        lambda: make(PICTURE, picture=noise()),
        lambda: make(PICTURE, picture=SVG),
        lambda: make(OF_DATA, Payload(PayloadKind.JSON, b'{"a": "%b", "b": 1}' % FILLING)),
    ],
    ids=["text", "declaration", "image", "svg", "data"],
)
def test_a_render_leaves_no_bytes_to_the_collector(work: Callable[[], object]):
    work()
    assert sum(map(len, bytes_in_cycles(work))) < 100_000


def test_tables_in_a_document_with_references_leave_nothing_to_the_collector():
    table = '<table><tr><td>%d</td></tr></table><p id="p%d">on <ref to="p%d" show="page"/></p>'
    flow = "".join(table % (at, at, 299 - at) for at in range(300))
    template = prepare_template(f"<document><flow>{flow}</flow></document>".encode())
    gc.collect()
    gc.disable()
    try:
        render(template, None, options=RenderOptions(now=now()))
        left = gc.collect()
    finally:
        gc.enable()
    assert left < 1_000


def bytes_in_cycles(work: Callable[[], object]) -> list[bytes | str]:
    """Return the bytes and strings held by reference cycles that the work leaves."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        work()
        gc.collect()
        return [
            each
            for item in gc.garbage
            for each in gc.get_referents(item)
            if isinstance(each, bytes | str)
        ]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


STARVED = """
import resource
from workers.engine.pipeline import prepare_template
from workers.engine.ports import RenderOptions
text = b"<document><flow><p>x</p></flow><!--" + b"x" * 32_000_000 + b"--></document>"
prepare_template(b"<document><flow><p>x</p></flow></document>")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 90_000_000, -1))
try:
    prepare_template(text)
except MemoryError:
    print("no memory")
"""


@pytest.mark.long
def test_too_little_memory_is_no_mistake_of_the_text():
    done = subprocess.run(
        [sys.executable, "-c", STARVED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "no memory\n"
