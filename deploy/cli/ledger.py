"""`pressroom ledger export|dead` and `pressroom audit export|verify`: metered jobs, and who changed what."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from deploy.cli.farm import find_farm, open_farm
from deploy.cli.output import CommandFailed, read_file
from shared.clock import timestamp

if TYPE_CHECKING:
    from shared.usage.repository import LedgerRow


def run_export(arguments: argparse.Namespace) -> None:
    """Stream the rows to the output; a file is replaced once it is complete."""
    since, until = arguments.since, arguments.until
    if since and until and since >= until:
        raise CommandFailed(f"--from {since:%Y-%m-%d} is not before --to {until:%Y-%m-%d}")
    from shared.usage.repository import read_ledger

    with open_farm(arguments.data) as farm:
        rows = read_ledger(farm.database, since=since, until=until, account_id=arguments.account)
        with _open_output(arguments.output) as output:
            count = _WRITERS[arguments.format](rows, output)
    print(f"{count:,} rows", file=sys.stderr)


def run_audit_export(arguments: argparse.Namespace) -> None:
    """Write the audit log as NDJSON, chain by chain."""
    from shared.auth.audit import read_all

    with (
        open_farm(arguments.data) as farm,
        farm.database.snapshot() as session,
        _open_output(arguments.output) as output,
    ):
        output.writelines(json.dumps(entry) + "\n" for entry in read_all(session))


def run_audit_verify(arguments: argparse.Namespace) -> int:
    """Verify the hashes of the audit log, of the farm or of an exported file; return 1 if a chain is broken."""
    from shared.auth.audit import find_breaks, read_all

    try:
        if arguments.file is not None:
            lines = read_file(arguments.file).splitlines()
            found = list(find_breaks(map(json.loads, lines)))
        else:
            with open_farm(arguments.data) as farm, farm.database.snapshot() as session:
                found = list(find_breaks(read_all(session)))
    except (ValueError, KeyError, TypeError) as error:
        raise CommandFailed(f"{arguments.file} is not an exported audit log") from error
    print("\n".join(found) or "all entries are as they were written")
    return 1 if found else 0


def run_dead(arguments: argparse.Namespace) -> None:
    """Print the usage events that the counter could not read, a JSON object a line, and end them as asked."""
    from shared.queue.connection import connect  # late: an export needs no Redis
    from shared.queue.usage import end_dead, list_dead

    shards = find_farm(arguments.data).shards
    if not shards:
        raise CommandFailed("the farm is not running")
    for shard in shards:
        with connect(shard.url) as redis:
            for entry_id, entry in list_dead(redis):
                told = {
                    name.decode(): text.decode(errors="replace") for name, text in entry.items()
                }
                print(json.dumps({"shard": shard.name} | told))
                if arguments.retry or arguments.delete:
                    end_dead(redis, entry_id, retried=entry[b"event"] if arguments.retry else None)


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
    from shared.usage.repository import LedgerRow

    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(LedgerRow._fields)
    count = 0
    for row in rows:
        writer.writerow(_plain(row))
        count += 1
    return count


def _write_ndjson(rows: Iterable[LedgerRow], output: IO[str]) -> int:
    from shared.usage.repository import LedgerRow

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
    return (*row[:-3], timestamp(row.occurred_at), timestamp(row.recorded_at), row.cpu_us)
