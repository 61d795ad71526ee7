"""Access of operator commands to a farm: by its data folder, or by the URLs of a production farm."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from deploy.cli.output import CommandFailed, Result
from deploy.embedded.data_folder import DEFAULT_FOLDER, DataFolder, FarmRecord, open_folder
from deploy.embedded.plan import operator_environment
from shared.errors import Unavailable
from shared.shards import PerShard, ShardAddress, parse_shards

if TYPE_CHECKING:
    from redis import Redis

    from shared.auth.admission import ShardedAdmissionCache
    from shared.db.session import Database, Session
    from shared.queue.states import JobStates

T = TypeVar("T")


class FarmStores:
    """The database of a farm, and its Redis servers, which are connected on first use.

    `key_states` and `job_states` are None while an embedded farm is stopped: its start drops every cached
    state.
    """

    def __init__(self, database: Database, shards: tuple[ShardAddress, ...] = ()) -> None:
        self.database = database
        self._shards = shards

    @cached_property
    def key_states(self) -> ShardedAdmissionCache | None:
        """The cached states of keys."""
        if not self._shards:
            return None
        from shared.auth.admission import AdmissionCache, ShardedAdmissionCache

        return ShardedAdmissionCache(
            PerShard(self._shards, lambda shard: AdmissionCache(self._servers.get(shard.name)))
        )

    @cached_property
    def job_states(self) -> PerShard[JobStates] | None:
        """The states of jobs in the queues, by shard."""
        if not self._shards:
            return None
        from shared.queue.states import JobStates

        return PerShard(self._shards, lambda shard: JobStates(self._servers.get(shard.name)))

    @cached_property
    def _servers(self) -> PerShard[Redis]:
        from shared.queue.connection import connect

        return PerShard(self._shards, lambda shard: connect(shard.url))

    def change(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction.

        Raises:
            CommandFailed: an object does not exist, or a value is out of range.
        """
        try:
            with self.database.session() as session:
                return work(session)
        except (LookupError, ValueError) as error:
            raise CommandFailed(str(error.args[0])) from error

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` in a read-only snapshot of the database.

        Raises:
            CommandFailed: an object does not exist.
        """
        try:
            with self.database.snapshot() as session:
                return work(session)
        except LookupError as error:
            raise CommandFailed(str(error.args[0])) from error

    def invalidate_keys(self, account_id: str, digests: Sequence[str]) -> None:
        """Drop cached keys of an account, so that every front applies a committed change at once.

        Raises:
            CommandFailed: Redis does not respond, so fronts apply the change only once the cache expires.
        """
        if self.key_states is None:
            return
        try:
            self.key_states.drop(account_id, digests)
        except Unavailable as error:
            raise CommandFailed(
                "the change is stored, but Redis does not respond, so fronts may not apply it yet; run the"
                " command again once Redis responds"
            ) from error

    def end_sessions(self, key_id: str) -> None:
        """End the sessions of a key; an embedded farm that is stopped has none.

        Raises:
            CommandFailed: Redis does not respond.
        """
        if not self._shards:
            return
        from shared.auth.studio_sessions import end_sessions

        try:
            end_sessions(self._servers.of(key_id), key_id)
        except Unavailable as error:
            raise CommandFailed("nothing is changed: Redis does not respond") from error


_BROKER, _MEMORY_REDIS = "PRESSROOM_BROKER_URL", "PRESSROOM_MEMORY_REDIS_URL"


@dataclass(frozen=True, slots=True)
class FarmLocation:
    """The addresses of a farm's stores.

    `folder` is set for an embedded farm, and `record` while it runs; otherwise its Redis is down, and
    `shards` is empty.
    """

    database_url: str
    shards: tuple[ShardAddress, ...]
    blob_url: str | None
    broker_url: str = ""  # where it is not Redis
    memory_url: str = ""  # of the Redis that keeps nothing
    folder: DataFolder | None = None
    record: FarmRecord | None = None


@contextmanager
def open_farm(data: Path | None) -> Iterator[FarmStores]:
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
        # Creates the tables of a new data folder.
        if not is_current(database):
            from shared.db.migrate import upgrade

            upgrade(place.database_url)
        yield FarmStores(database, place.shards)
    finally:
        database.close()


def find_farm(data: Path | None) -> FarmLocation:
    """Locate the farm that `data` or the environment names, without opening or creating anything.

    Raises:
        CommandFailed: only one of the two URLs is set, or the Redis URL is invalid.
    """
    environment = operator_environment()
    database_url = environment.get("PRESSROOM_DATABASE_URL")
    redis_url = environment.get("PRESSROOM_REDIS_URL")
    if data is not None or not (database_url or redis_url):
        return _find_embedded(open_folder(data or DEFAULT_FOLDER))
    if not (database_url and redis_url):
        missing = "PRESSROOM_DATABASE_URL" if redis_url else "PRESSROOM_REDIS_URL"
        raise CommandFailed(f"{missing} is not set; set both URLs, or use --data DIR")
    try:
        shards = parse_shards(redis_url)
    except ValueError as error:
        raise CommandFailed(f"PRESSROOM_REDIS_URL: {error}") from error
    blob_url, broker_url = environment.get("PRESSROOM_BLOB_URL"), environment.get(_BROKER, "")
    return FarmLocation(
        database_url, shards, blob_url, broker_url, environment.get(_MEMORY_REDIS, "")
    )


def _find_embedded(folder: DataFolder) -> FarmLocation:
    record = folder.find_running()
    if record is None:
        return FarmLocation(folder.database_url, (), folder.blob_url, folder=folder)
    shards = parse_shards(record.redis_url)
    urls = record.blob_url, record.broker_url, record.memory_redis_url
    return FarmLocation(record.database_url, shards, *urls, folder, record)


def run_migrate(arguments: argparse.Namespace) -> Result:
    """Migrate the tables and the public templates to this release; idempotent."""
    # Imported here, so that other commands do not load the database.
    from shared.db.migrate import upgrade

    place = find_farm(arguments.data)
    if place.folder is not None:
        place.folder.create()
    upgrade(place.database_url)
    return {"migrated": True}
