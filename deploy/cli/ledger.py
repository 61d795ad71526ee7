"""`pressroom ledger export`: the metered jobs of a date range, for invoicing and archiving."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from deploy.cli.farm import open_farm
from deploy.cli.output import CommandFailed
from shared.clock import timestamp

if TYPE_CHECKING:
    from shared.usage.ledger import LedgerRow


def run_export(arguments: argparse.Namespace) -> int:
    """Stream the rows to the output; a file is replaced once it is complete."""
    since, until = arguments.since, arguments.until
    if since and until and since >= until:
        raise CommandFailed(f"--from {since:%Y-%m-%d} is not before --to {until:%Y-%m-%d}")
    from shared.usage.ledger import read_ledger

    with open_farm(arguments.data) as farm:
        rows = read_ledger(farm.database, since=since, until=until, account_id=arguments.account)
        with _open_output(arguments.output) as output:
            count = _WRITERS[arguments.format](rows, output)
    print(f"{count:,} rows", file=sys.stderr)
    return 0


@contextmanager
def _open_output(file: Path | None) -> Iterator[IO[str]]:
    if file is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    draft = file.with_name(f".{file.name}.part")
    try:
        with draft.open("w", encoding="utf-8", newline="") as output:
            yield output
        draft.replace(file)
    except OSError as error:
        raise CommandFailed(f"cannot write {file}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _write_csv(rows: Iterable[LedgerRow], output: IO[str]) -> int:
    from shared.usage.ledger import LedgerRow

    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(LedgerRow._fields)
    count = 0
    for row in rows:
        writer.writerow(_plain(row))
        count += 1
    return count


def _write_ndjson(rows: Iterable[LedgerRow], output: IO[str]) -> int:
    from shared.usage.ledger import LedgerRow

    count = 0
    for row in rows:
        output.write(json.dumps(dict(zip(LedgerRow._fields, _plain(row), strict=True))) + "\n")
        count += 1
    return count


_WRITERS: Final[dict[str, Callable[[Iterable[LedgerRow], IO[str]], int]]] = {
    "csv": _write_csv,
    "ndjson": _write_ndjson,
}


def _plain(row: LedgerRow) -> tuple[object, ...]:
    return (*row[:-2], timestamp(row.occurred_at), timestamp(row.recorded_at))
