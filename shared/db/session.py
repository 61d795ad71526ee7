"""Database connections and units of work, each one transaction."""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.clock import ticks
from shared.errors import StorageFull, Unavailable
from shared.telemetry.observer import NULL_OBSERVER, Observer, Store, timed

Session: TypeAlias = Connection  # the connection of one unit of work

DEFAULT_CONNECTIONS: Final = 5
_FILE_CONNECTIONS: Final = 32  # each costs SQLite a file descriptor
_POOL_SECONDS: Final = 2.5
# Shorter than the 5 s within which a 503 is due, like `lock_timeout` below.
_BUSY_SECONDS: Final = 4.0
_WAIT_FOR_LOCK: Final = f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}"
_FAIL_ON_LOCK: Final = "PRAGMA busy_timeout = 0"
_PRIVATE_MODE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_RETRY_SECONDS: Final = 0.002
_PRIMARY_CODE: Final = 0xFF  # of SQLite's extended result codes
_PING_SECONDS: Final = 1.5
_POSTGRES_OPTIONS: Final[Mapping[str, Any]] = {
    "connect_timeout": 2,
    # A server that stops responding is detected within the 5 s in which a 503 is due.
    "tcp_user_timeout": 4_000,
    "options": "-c lock_timeout=4s -c statement_timeout=30s -c timezone=UTC",
}
_POSTGRES_DISK_FULL: Final = "53100"
_READS_ONLY: Final = "pressroom_reads_only"
_LOCK_SECONDS: Final = "pressroom_lock_seconds"


class Database:
    """A database and its connection pool. Create it after a fork, never before."""

    def __init__(
        self,
        engine: Engine,
        *,
        snapshot_options: Mapping[str, Any],
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self._engine = engine
        self._observer = observer
        self._snapshot_options = snapshot_options

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a unit of work that may write; it commits at the end and rolls back on an exception.

        On SQLite it acquires the write lock at its start (BEGIN IMMEDIATE), so that rows it has read do not
        change before it writes.

        Raises:
            Unavailable: the database does not answer, or stayed locked for its `lock_seconds`.
        """
        with (
            timed(self._observer, Store.DATABASE, "write"),
            _translate_errors(),
            self._engine.begin() as session,
        ):
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Open a read-only unit of work on one snapshot; it does not wait for writers.

        Raises:
            Unavailable: the database does not answer.
        """
        with (
            timed(self._observer, Store.DATABASE, "read"),
            _translate_errors(),
            self._engine.connect() as connection,
        ):
            yield connection.execution_options(**self._snapshot_options)

    def check(self) -> None:
        """Check that the database answers.

        Raises:
            Unavailable: it does not.
        """
        with self.snapshot() as session:
            session.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()


def open_database(
    url: str,
    *,
    connections: int = DEFAULT_CONNECTIONS,
    observer: Observer = NULL_OBSERVER,
    statement_seconds: float | None = None,
    lock_seconds: float = _BUSY_SECONDS,
) -> Database:
    """Open the database of a URL, `sqlite:////path` or `postgresql+psycopg://user:pw@host/db`.

    At most `connections` are open to PostgreSQL; a unit of work that gets none within 2.5 s raises
    `Unavailable`. `?pooler=transaction` declares PgBouncer in transaction mode. The first unit of work
    connects. A statement that PostgreSQL does not answer within `statement_seconds` raises `Unavailable`.
    SQLite has one writer; a unit of work waits for its lock for `lock_seconds`.

    Raises:
        ValueError: the URL is malformed, or names an unsupported kind of pooler.
    """
    if make_url(url).get_backend_name() == "sqlite":
        engine = _open_sqlite(url, lock_seconds)
        return Database(engine, snapshot_options={_READS_ONLY: True}, observer=observer)
    address, options = _read_pooler(make_url(url))
    engine = create_engine(
        address,
        pool_pre_ping=True,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
        connect_args={**_POSTGRES_OPTIONS, **options},
    )
    if statement_seconds is not None:
        # Not at the top: it loads the driver, which SQLite does without.
        from shared.db.postgres import TimedConnection

        kind = TimedConnection.limited(statement_seconds, _PING_SECONDS)
        event.listen(engine, "do_connect", lambda _, __, args, more: kind.connect(*args, **more))
    return Database(
        engine,
        snapshot_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
        observer=observer,
    )


def _read_pooler(url: URL) -> tuple[URL, Mapping[str, Any]]:
    """Return the URL without `pooler`, and what psycopg needs for it.

    Prepared statements belong to a server connection, and the next transaction may use another one.
    """
    pooler = url.query.get("pooler")
    if pooler is None:
        return url, {}
    if pooler != "transaction":
        raise ValueError(f"PRESSROOM_DATABASE_URL: pooler={pooler!r}; accepted is transaction")
    return url.difference_update_query(["pooler"]), {"prepare_threshold": None}


def _open_sqlite(url: str, lock_seconds: float) -> Engine:
    engine = create_engine(
        url,
        pool_size=_FILE_CONNECTIONS,
        max_overflow=0,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,  # error messages are logged, and must not contain clients' data
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        execution_options={_LOCK_SECONDS: lock_seconds},
    )
    event.listen(engine, "do_connect", _restrict_permissions)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _restrict_permissions(
    _dialect: Any, _record: Any, arguments: Sequence[Any], _options: Any
) -> None:
    """Restrict the file to its owner; SQLite gives `-wal` and `-shm` the same mode."""
    path = Path(arguments[0])
    if not path.is_absolute():
        return  # `:memory:`; paths of files are absolute here
    # SQLite reports errors of the path when it connects.
    with suppress(OSError):
        path.touch(mode=_PRIVATE_MODE)
        if path.stat().st_mode & _OTHERS:
            path.chmod(_PRIVATE_MODE)


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # `_begin_sqlite` starts transactions: the driver's deferred ones would let two units of work read the
    # same state and both write.
    connection.isolation_level = None
    connection.execute(_WAIT_FOR_LOCK)
    _enable_wal(connection)
    connection.execute("PRAGMA foreign_keys = ON")


def _enable_wal(connection: sqlite3.Connection) -> None:
    # SQLite fails this immediately while others open the same new database, to avoid a deadlock. It has no
    # effect on a database that is already in this mode.
    _retry_while_busy(lambda: connection.execute("PRAGMA journal_mode = WAL"), _BUSY_SECONDS)


def _retry_while_busy(try_once: Callable[[], object], seconds: float) -> None:
    """Retry for so long while the database is locked, yielding to other greenlets between attempts.

    SQLite's own busy handler would block all greenlets of the thread, also the one that holds the lock.
    """
    give_up_at = ticks() + seconds
    while True:
        try:
            try_once()
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & _PRIMARY_CODE == sqlite3.SQLITE_BUSY
            if not is_busy or ticks() >= give_up_at:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    driver = connection.connection.driver_connection
    assert driver is not None  # the connection is open
    options = connection.get_execution_options()
    if options.get(_READS_ONLY, False):
        driver.execute("BEGIN")
        return
    driver.execute(_FAIL_ON_LOCK)
    try:
        _retry_while_busy(lambda: driver.execute("BEGIN IMMEDIATE"), options[_LOCK_SECONDS])
    finally:
        driver.execute(_WAIT_FOR_LOCK)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable("database") from error
    except sqlite3.OperationalError as error:
        # Statements run directly on the driver raise its exceptions, not SQLAlchemy's.
        raise _unavailable(error) from error
    except DBAPIError as error:
        if _is_outage(error):
            raise _unavailable(error.orig) from error
        raise


def _unavailable(error: BaseException | None) -> Unavailable:
    is_full = (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or getattr(error, "sqlstate", None) == _POSTGRES_DISK_FULL
    )
    return StorageFull("database") if is_full else Unavailable("database")


def _is_outage(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        # SQLite also reports invalid SQL as OperationalError (code 1), which is a bug and not an outage.
        code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        return isinstance(error, OperationalError) and code != sqlite3.SQLITE_ERROR
    return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
