"""Where an operator's command finds the farm: its data folder, or the URLs of a production farm."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from deploy.cli.output import CommandFailed
from deploy.embedded.home import DEFAULT_FOLDER, DataFolder, open_folder
from deploy.embedded.plan import operator_environment
from shared.buckets.admission import AdmissionCache
from shared.db.migrate import upgrade
from shared.db.session import Database, Session, open_database
from shared.errors import Unavailable
from shared.queue.connection import connect
from shared.queue.states import JobStates

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FarmAccess:
    """The stores of a command. `cache` and `states` are None while an embedded farm is down: its
    start drops every cached state.
    """

    database: Database
    cache: AdmissionCache | None
    states: JobStates | None = None

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

    def drop_cached(self, digests: list[str]) -> None:
        """Make a change that is committed seen by every front at once.

        Raises:
            CommandFailed: Redis does not answer, so the change is seen only once states expire.
        """
        if self.cache is None:
            return
        try:
            self.cache.drop(digests)
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


@contextmanager
def open_farm(data: Path | None) -> Iterator[FarmAccess]:
    """Open the stores of the farm that `data` or the environment names.

    Raises:
        CommandFailed: only one of the two URLs is set.
    """
    database_url, redis_url = _find_urls(data)
    upgrade(database_url)  # a folder without a farm yet gets its tables; elsewhere nothing is done
    database = open_database(database_url)
    redis = connect(redis_url) if redis_url else None
    try:
        yield FarmAccess(
            database,
            AdmissionCache(redis) if redis else None,
            JobStates(redis) if redis else None,
        )
    finally:
        database.close()


def _find_urls(data: Path | None) -> tuple[str, str | None]:
    environment = operator_environment()
    database_url = environment.get("PRESSROOM_DATABASE_URL")
    redis_url = environment.get("PRESSROOM_REDIS_URL")
    if data is not None or not (database_url or redis_url):
        return _find_embedded(open_folder(data or DEFAULT_FOLDER))
    if not (database_url and redis_url):
        missing = "PRESSROOM_DATABASE_URL" if redis_url else "PRESSROOM_REDIS_URL"
        raise CommandFailed(f"{missing} is not set; both URLs are needed, or --data DIR")
    return database_url, redis_url


def _find_embedded(folder: DataFolder) -> tuple[str, str | None]:
    record = folder.find_running()
    if record is not None:
        return record.database_url, record.redis_url
    folder.create()
    return folder.database_url, None
