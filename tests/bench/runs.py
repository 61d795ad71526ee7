"""Measure runs: `python -m tests.bench.runs [--documents 10000]`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from tests.bench.batches import Run, measure_batch
from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.farm import Client, farm_of

NOTE = """\
Letters of one to four pages as one merged batch, and as a run that is sorted by postcode, split at 2,500
sheets, printed on both sides and marked; in turns on a farm of this machine, the lesser of two figures each.
CPU is that of the pool of batches. Memory is the most that any process of its kind held."""
TEMPLATE = b"""<document><data><field name="n" type="integer"/><field name="zip" type="string"/>
<json>{"lines": []}</json></data>
<page size="A4" margin="25mm"/><flow><p>{{ zip }} Town</p><h1>Letter {{ n }}</h1>
<p for="line in lines">{{ line }}</p></flow></document>"""
PLAN = {
    "sort": ["zip"],
    "split": {"sheets": 2500},
    "duplex": True,
    "fields": ["n", "zip"],
    "marks": {"type": "omr", "left": 6, "top": 120},
}
LINE = "The contract is renewed by a year unless it is terminated in writing. " * 4
LINES_OF_PAGE = 19
ROUNDS = 2


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    show(measure(parser.parse_args().documents))


def measure(documents: int) -> Iterator[str]:
    """Yield the table, each line as soon as it is measured."""
    yield from (NOTE, "", HEAD)
    with farm_of(1) as farm:
        client = Client(farm)
        template = client.store(TEMPLATE)
        client.json("PUT", "/v2/plans/letters", json.dumps(PLAN).encode(), "application/json")
        outputs = ("merged", "merged&plan=letters")
        body = letters(documents)
        measured: dict[str, list[Run]] = {output: [] for output in outputs}
        for output in outputs * ROUNDS:
            measured[output].append(
                measure_batch(client, template, documents, output=output, body=body)
            )
    name = f"{documents:,} letters"
    plain, run = (min(each.cpu for each in measured[output]) for output in outputs)
    yield at_most(f"{name} as a run: CPU, of the plain merged batch's", run / plain, 1.05, "%")
    yield fact(f"{name}: CPU of the plain merged batch, of the run", f"{plain:.1f}, {run:.1f} s")
    plain, run = (min(each.render for each in measured[output]) for output in outputs)
    yield fact(f"{name}: time of the plain merged batch, of the run", f"{plain:.1f}, {run:.1f} s")
    for output, what in zip(outputs, ("merged", "as a run"), strict=True):
        most = max(each.memory["batch"] for each in measured[output])
        yield at_most(f"{name} {what}: memory of batch", most, 300, "MB")


def letters(count: int) -> bytes:
    """Return letters of one to four pages, of postcodes in no order."""
    return b"".join(
        json.dumps(
            {
                "n": number,
                "zip": f"{number * 7919 % 100_000:05}",
                "lines": [LINE] * (number % 4 * LINES_OF_PAGE + 1),
            }
        ).encode()
        + b"\n"
        for number in range(count)
    )


if __name__ == "__main__":
    main()
