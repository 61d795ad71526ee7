"""`pressroom account export`: all that a farm has of an account, as JSON lines and files."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from deploy.cli.farm import find_farm, open_farm
from deploy.cli.output import CommandFailed, Result, write_file
from shared.auth import accounts, audit
from shared.auth.administration import list_owned_rows
from shared.clock import now, timestamp

if TYPE_CHECKING:
    from shared.blobs.store import BlobStore
    from shared.db.session import Session

# Whoever has them can act in the name of the account.
_SECRETS: Final = frozenset(("digest", "secret", "previous_secret"))
_KEYS: Final = ("pdf_key", "body_key", "result_key", "blob_key")
_AT_ONCE: Final = 20  # a template has up to some megabytes


def run_export(arguments: argparse.Namespace) -> Result:
    """Write the rows and files of an account as they are at one moment; the manifest is last."""
    from shared.blobs.factory import open_store

    account_id, folder = arguments.account_id, arguments.folder
    blob_url = find_farm(arguments.data).blob_url
    if blob_url is None:
        raise CommandFailed("PRESSROOM_BLOB_URL is not set")
    with open_farm(arguments.data) as farm:
        farm.read(lambda session: accounts.get_account(session, account_id))
        try:
            folder.mkdir(mode=0o700, parents=True)
            farm.change(
                lambda session: audit.record(
                    session, account_id, audit.OPERATOR, "account.exported", account_id
                )
            )
            at = timestamp(now())
            with farm.database.snapshot() as session:
                counts = _export(session, open_store(blob_url), account_id, folder)
        except OSError as error:
            raise CommandFailed(f"{folder} cannot be written: {error.strerror}") from error
    manifest = {"account_id": account_id, "exported_at": at, **counts}
    write_file(folder / "manifest.json", msgspec.json.encode(manifest))
    return {"folder": str(folder)} | manifest


def _export(
    session: Session, blobs: BlobStore, account_id: str, folder: Path
) -> Mapping[str, object]:
    from sqlalchemy import select

    rows: dict[str, int] = {}
    found = {True: 0, False: 0}
    for table, is_own in list_owned_rows(account_id):
        columns = [each for each in table.c if each.name not in _SECRETS]
        query = select(*columns).where(is_own).execution_options(yield_per=_AT_ONCE)
        rows[table.name] = 0
        with (folder / f"{table.name}.jsonl").open("xb") as lines:
            for row in map(dict, session.execute(query).mappings()):
                rows[table.name] += 1
                lines.write(msgspec.json.encode(row) + b"\n")
                for key in _find_blobs(table.name, row):
                    found[_copy(blobs, key, folder / "files")] += 1
    return {"rows": rows, "files": found[True], "missing_files": found[False]}


def _find_blobs(table: str, row: Mapping[str, Any]) -> Iterator[str]:
    from shared.files.repository import FONTS, IMAGES
    from shared.jobs.records import ClaimStorage, RenderJob

    for kind in (IMAGES, FONTS):
        if table == kind.folder:
            yield kind.blob_key(row["workspace_id"], row["sha256"])
    for name in _KEYS:
        if row.get(name):
            yield row[name]
    if table == "jobs" and row["finished_at"] is None:
        claims = RenderJob.decode(row["message"]).claims
        yield from (each.key for each in claims if each.home is ClaimStorage.BLOB)


def _copy(blobs: BlobStore, key: str, folder: Path) -> bool:
    """Copy a blob to the file of its key; return whether it exists."""
    from shared.blobs.store import BlobMissingError

    # The store checks the key: it leads to no other folder.
    try:
        with blobs.open(key) as stream:
            file = folder / key
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
    except BlobMissingError:
        return False
    return True
