"""Measure how soon an editor shows a page after a keystroke: `python -m tests.bench.previews`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from deploy.embedded.demo.show import LaunchedFarm
from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.farm import Client, farm_of

TEMPLATES = Path(__file__).parents[2] / "shared/templates/public_templates"
INVOICE = (TEMPLATES / "service-invoice.xml").read_text("utf-8")
STATEMENT = Path(__file__).with_name("documents") / "statement.xml"
WARM, CALLS = 30, 300
NOTE = """\
One editor, one connection, one session: each call sends the whole text of a template that differs from the
one before in one word, and gets the page at 96 dpi, its findings and its boxes. Client, front, Redis and
workers share the machine."""


def measure() -> Iterator[str]:
    """Yield the table, line by line."""
    with farm_of(PRESSROOM_PREVIEW_RATE="100000/second") as farm:
        editor = Editor(farm)
        yield from (NOTE, "", HEAD)
        typed = editor.time_keystrokes({"format": "png"})
        yield at_most("a one-page invoice after a keystroke, PNG: median", median(typed), 60, "ms")
        yield at_most("the same, 95th percentile", quantiles(typed, n=20)[-1], 120, "ms")
        for name in ("webp", "pdf"):
            times = editor.time_keystrokes({"format": name}, calls=CALLS // 3)
            yield fact(f"the same as {name}: median", f"{median(times):.1f} ms")
        large = editor.time_keystrokes({"scale": 192 / 72}, calls=CALLS // 3)
        yield fact("the same at 192 dpi, PNG: median", f"{median(large):.1f} ms")
        data = editor.time_data(calls=CALLS // 3)
        yield fact("the same text, other data, PNG: median", f"{median(data):.1f} ms")
        yield fact("stages of the last call", f"`{editor.stages}`")


class Editor:
    """Asks for previews on one kept connection."""

    def __init__(self, farm: LaunchedFarm) -> None:
        self._client = Client(farm)
        self._connection = self._client.connect()
        self._count = 0
        self.stages = ""

    def time_keystrokes(self, options: dict[str, object], *, calls: int = CALLS) -> list[float]:
        """Return the milliseconds of calls with a new template each."""
        return [self._type(options) for _ in range(WARM + calls)][WARM:]

    def time_data(self, *, calls: int) -> list[float]:
        """Return the milliseconds of calls with new data each."""
        return [self._ask({"template": INVOICE}) for _ in range(WARM + calls)][WARM:]

    def _type(self, options: dict[str, object]) -> float:
        text = INVOICE.replace("Invoice", f"Invoice{self._count}")
        return self._ask({"template": text, **options})

    def _ask(self, fields: dict[str, object]) -> float:
        self._count += 1
        payload = {"number": f"2026-{self._count:04}"}
        body = json.dumps({**fields, "payload": payload, "session": "bench"})
        began = time.perf_counter()
        response, answer = self._client.ask("POST", "/v2/preview", body, on=self._connection)
        taken = (time.perf_counter() - began) * 1000
        if response.status != 200 or "file" not in json.loads(answer):
            raise SystemExit(f"{response.status} {answer[:500]!r}")
        self.stages = response.headers["Server-Timing"]
        return taken


if __name__ == "__main__":
    show(measure())
