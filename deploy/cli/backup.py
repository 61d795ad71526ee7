"""`pressroom backup` and `pressroom restore`: backup of an embedded farm to one file."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import Final
from urllib.parse import urlsplit

from deploy.cli.farm import FarmLocation, find_farm
from deploy.cli.output import CommandFailed, Result
from deploy.embedded.backup import make_backup, restore_backup
from deploy.embedded.data_folder import DataFolder, open_folder
from shared.clock import ticks
from shared.db.migrate import upgrade
from shared.errors import Unavailable
from shared.queue.connection import connect
from shared.queue.usage import count_older, find_newest
from shared.shards import ShardAddress

_LEDGER_PATIENCE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1


def run_backup(arguments: argparse.Namespace) -> Result:
    """Back up a farm, after all metered usage has been recorded in the ledger."""
    place = find_farm(arguments.data)
    folder = _require_local_stores(place)
    missing = _await_ledger(place)
    manifest = make_backup(folder, arguments.file.resolve())
    shown = {"file": str(arguments.file)} | asdict(manifest) | {"usage_events_missing": missing}
    shown["bytes"] = arguments.file.stat().st_size
    return shown


def run_restore(arguments: argparse.Namespace) -> Result:
    """Restore a stopped farm; its next start resumes unfinished work."""
    folder = open_folder(arguments.data)
    manifest = restore_backup(arguments.file, folder, replace=arguments.replace)
    upgrade(folder.database_url)  # a backup of an older release
    return {"data": str(folder.path)} | asdict(manifest)


def _require_local_stores(place: FarmLocation) -> DataFolder:
    assert place.folder is not None
    if place.database_url != place.folder.database_url:
        raise CommandFailed(
            "this farm's database is not in the data folder: back it up with pg_dump, see the runbook"
        )
    if urlsplit(place.blob_url or "").scheme != "file" or place.blob_url != place.folder.blob_url:
        raise CommandFailed(
            "this farm's blobs are not in the data folder: copy their bucket, see the runbook"
        )
    return place.folder


def _await_ledger(place: FarmLocation) -> int:
    """Wait until all usage events up to now are recorded; return the number that are not."""
    give_up_at = ticks() + _LEDGER_PATIENCE_SECONDS
    return sum(_await_shard(shard, give_up_at) for shard in place.shards)


def _await_shard(shard: ShardAddress, give_up_at: float) -> int:
    redis = connect(shard.url)
    try:
        newest = find_newest(redis)
        while newest and (left := count_older(redis, newest)):
            if ticks() > give_up_at:
                return left
            time.sleep(_POLL_SECONDS)
    except Unavailable as error:
        raise CommandFailed(
            "Redis does not respond, so pages may be missing in the ledger; try again once it responds"
        ) from error
    finally:
        redis.close()
    return 0
