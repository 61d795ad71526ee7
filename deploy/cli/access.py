"""Where an operator's command finds the farm: its data folder, or the URLs of a production farm."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from deploy.cli.output import CommandFailed
from deploy.embedded.home import DEFAULT_FOLDER, DataFolder, FarmRecord, open_folder
from deploy.embedded.plan import operator_environment
from shared.errors import Unavailable
from shared.shards import PerShard, ShardAddress, parse_shards

if TYPE_CHECKING:
    from redis import Redis

    from shared.buckets.keys import KeyStates
    from shared.db.session import Database, Session
    from shared.queue.states import JobStates

T = TypeVar("T")


class FarmAccess:
    """The stores of a command. What needs Redis is None while an embedded farm is down: its start
    drops every cached state. It is loaded when it is asked for: most commands never do.
    """

    def __init__(self, database: Database, shards: tuple[ShardAddress, ...] = ()) -> None:
        self.database = database
        self._shards = shards

    @cached_property
    def cache(self) -> KeyStates | None:
        """Return the cached states of keys."""
        if not self._shards:
            return None
        from shared.buckets.admission import AdmissionCache
        from shared.buckets.keys import KeyStates

        return KeyStates(
            PerShard(self._shards, lambda shard: AdmissionCache(self._servers.get(shard.name)))
        )

    @cached_property
    def states(self) -> PerShard[JobStates] | None:
        """Return the states of jobs in the queues."""
        if not self._shards:
            return None
        from shared.queue.states import JobStates

        return PerShard(self._shards, lambda shard: JobStates(self._servers.get(shard.name)))

    @cached_property
    def _servers(self) -> PerShard[Redis]:
        from shared.queue.connection import connect

        return PerShard(self._shards, lambda shard: connect(shard.url))

    def change(self, work: Callable[[Session], T]) -> T:
        """Do `work` in one unit of work.

        Raises:
            CommandFailed: it names something that is not there, or a value out of its range.
        """
        try:
            with self.database.session() as session:
                return work(session)
        except (LookupError, ValueError) as error:
            raise CommandFailed(str(error.args[0])) from error

    def read(self, work: Callable[[Session], T]) -> T:
        """Do `work`, which only reads, on one moment of the database.

        Raises:
            CommandFailed: it names something that is not there.
        """
        try:
            with self.database.snapshot() as session:
                return work(session)
        except LookupError as error:
            raise CommandFailed(str(error.args[0])) from error

    def drop_cached(self, account_id: str, digests: list[str]) -> None:
        """Make a change of an account's keys that is committed seen by every front at once.

        Raises:
            CommandFailed: Redis does not answer, so the change is seen only once states expire.
        """
        if self.cache is None:
            return
        try:
            self.cache.drop(account_id, digests)
        except Unavailable as error:
            raise CommandFailed(
                "the change is in the database, but Redis does not answer, so fronts may not see it"
                " yet; run the command again when it does"
            ) from error


def add_farm_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data`; without it the environment's URLs are used, then the default folder."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="data folder of an embedded farm; without it PRESSROOM_DATABASE_URL and"
        f" PRESSROOM_REDIS_URL, then {DEFAULT_FOLDER}",
    )


@dataclass(frozen=True, slots=True)
class FarmPlace:
    """Where the stores of a farm are. `folder` is an embedded farm's, `record` one's that runs;
    without a record its Redis is down, and there are no `shards`.
    """

    database_url: str
    shards: tuple[ShardAddress, ...]
    blob_url: str | None
    folder: DataFolder | None = None
    record: FarmRecord | None = None


@contextmanager
def open_farm(data: Path | None) -> Iterator[FarmAccess]:
    """Open the stores of the farm that `data` or the environment names.

    Raises:
        CommandFailed: only one of the two URLs is set.
    """
    from shared.db.revision import is_current
    from shared.db.session import open_database

    place = find_farm(data)
    if place.folder is not None:
        place.folder.create()
    database = open_database(place.database_url)
    try:
        # A folder without a farm yet gets its tables; elsewhere nothing is done.
        if not is_current(database):
            from shared.db.migrate import upgrade

            upgrade(place.database_url)
        yield FarmAccess(database, place.shards)
    finally:
        database.close()


def find_farm(data: Path | None) -> FarmPlace:
    """Tell where the farm is that `data` or the environment names; nothing is opened or made.

    Raises:
        CommandFailed: only one of the two URLs is set, or the one of Redis cannot be read.
    """
    environment = operator_environment()
    database_url = environment.get("PRESSROOM_DATABASE_URL")
    redis_url = environment.get("PRESSROOM_REDIS_URL")
    if data is not None or not (database_url or redis_url):
        return _find_embedded(open_folder(data or DEFAULT_FOLDER))
    if not (database_url and redis_url):
        missing = "PRESSROOM_DATABASE_URL" if redis_url else "PRESSROOM_REDIS_URL"
        raise CommandFailed(f"{missing} is not set; both URLs are needed, or --data DIR")
    try:
        shards = parse_shards(redis_url)
    except ValueError as error:
        raise CommandFailed(f"PRESSROOM_REDIS_URL: {error}") from error
    return FarmPlace(database_url, shards, environment.get("PRESSROOM_BLOB_URL"))


def _find_embedded(folder: DataFolder) -> FarmPlace:
    record = folder.find_running()
    if record is None:
        return FarmPlace(folder.database_url, (), folder.blob_url, folder)
    shards = parse_shards(record.redis_url)
    return FarmPlace(record.database_url, shards, record.blob_url, folder, record)
