"""The database as units of work: all of one lands, or nothing of it."""

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
from shared.errors import NoSpace, Unavailable
from shared.telemetry.watch import UNWATCHED, Store, Watch, timed

Session: TypeAlias = Connection  # the house's word for the connection of one unit of work

DEFAULT_CONNECTIONS: Final = 5
_FILE_CONNECTIONS: Final = 32  # to SQLite they cost a file descriptor each
_POOL_SECONDS: Final = 3
# Shorter than the 5 s within which a 503 is due (contract.md 1), like `lock_timeout` below.
_BUSY_TIMEOUT_MS: Final = 4_000
_PATIENT: Final = f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}"
_IMPATIENT: Final = "PRAGMA busy_timeout = 0"
_PRIVATE_MODE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_RETRY_SECONDS: Final = 0.002
_PRIMARY_CODE: Final = 0xFF  # of SQLite's extended result codes
_POSTGRES_OPTIONS: Final[Mapping[str, Any]] = {
    "connect_timeout": 3,
    # A server that stopped answering is found out within the 5 s of contract.md 1.
    "tcp_user_timeout": 4_000,
    "options": "-c lock_timeout=4s -c statement_timeout=30s -c timezone=UTC",
}
_POSTGRES_DISK_FULL: Final = "53100"
_READS_ONLY: Final = "pressroom_reads_only"


class Database:
    """One database and its pool of connections. Make it after a fork, never before."""

    def __init__(
        self, engine: Engine, *, snapshot_options: Mapping[str, Any], watch: Watch = UNWATCHED
    ) -> None:
        self._engine = engine
        self._watch = watch
        self._snapshot_options = snapshot_options

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a unit of work that may write: it commits at the end and rolls back on an error.

        On SQLite it takes the one writing place at its start, so that what it read still holds
        when it writes.

        Raises:
            Unavailable: the database does not answer, or stayed locked for 4 s.
        """
        with (
            timed(self._watch, Store.DATABASE, "write"),
            _failures_named(),
            self._engine.begin() as session,
        ):
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Open a unit of work that only reads, all of it from one moment; it waits for no writer.

        Raises:
            Unavailable: the database does not answer.
        """
        with (
            timed(self._watch, Store.DATABASE, "read"),
            _failures_named(),
            self._engine.connect() as connection,
        ):
            yield connection.execution_options(**self._snapshot_options)

    def check(self) -> None:
        """Ask the database for an answer.

        Raises:
            Unavailable: there is none.
        """
        with self.snapshot() as session:
            session.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()


def open_database(
    url: str, *, connections: int = DEFAULT_CONNECTIONS, watch: Watch = UNWATCHED
) -> Database:
    """Open the database of a URL, `sqlite:////path` or `postgresql+psycopg://user:pw@host/db`.

    At most `connections` are open to PostgreSQL at once; a unit of work that gets none within 3 s
    is refused. `?pooler=transaction` says that PgBouncer in transaction mode stands in between.
    Nothing is connected before the first unit of work.

    Raises:
        ValueError: the URL cannot be read, or names another kind of pooler.
    """
    if make_url(url).get_backend_name() == "sqlite":
        return Database(_open_sqlite(url), snapshot_options={_READS_ONLY: True}, watch=watch)
    address, options = _read_pooler(make_url(url))
    return Database(
        create_engine(
            address,
            pool_pre_ping=True,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=_POOL_SECONDS,
            hide_parameters=True,
            connect_args={**_POSTGRES_OPTIONS, **options},
        ),
        snapshot_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
        watch=watch,
    )


def _read_pooler(url: URL) -> tuple[URL, Mapping[str, Any]]:
    """Return the URL without `pooler`, and what psycopg needs for it.

    A statement is prepared on a server connection, and the next transaction may get another one.
    """
    pooler = url.query.get("pooler")
    if pooler is None:
        return url, {}
    if pooler != "transaction":
        raise ValueError(f"PRESSROOM_DATABASE_URL: pooler={pooler!r}; accepted is transaction")
    return url.difference_update_query(["pooler"]), {"prepare_threshold": None}


def _open_sqlite(url: str) -> Engine:
    engine = create_engine(
        url,
        pool_size=_FILE_CONNECTIONS,
        max_overflow=0,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,  # an error's text goes to the log, clients' data do not
        connect_args={"timeout": _BUSY_TIMEOUT_MS / 1000, "check_same_thread": False},
    )
    event.listen(engine, "do_connect", _keep_private)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _keep_private(_dialect: Any, _record: Any, arguments: Sequence[Any], _options: Any) -> None:
    """Let the owner alone read the file; its `-wal` and `-shm` get the same mode from SQLite."""
    path = Path(arguments[0])
    if not path.is_absolute():
        return  # `:memory:`; SQLAlchemy makes the path of a file absolute
    # SQLite itself reports, as it connects, what is wrong with the path.
    with suppress(OSError):
        path.touch(mode=_PRIVATE_MODE)
        if path.stat().st_mode & _OTHERS:
            path.chmod(_PRIVATE_MODE)


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # The driver's own idea of when a transaction begins would let two units read the same
    # state and both write; `_begin_sqlite` says it instead.
    connection.isolation_level = None
    connection.execute(_PATIENT)
    _write_ahead(connection)
    connection.execute("PRAGMA foreign_keys = ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    # Where several open a new database at once SQLite refuses this without waiting, since two that
    # waited for each other would wait for ever. Of one that is in this mode nothing is asked.
    _insist(lambda: connection.execute("PRAGMA journal_mode = WAL"))


def _insist(try_once: Callable[[], object]) -> None:
    """Repeat what a lock of the database refuses, for 4 s; others run between two attempts.

    SQLite's own wait stops the whole process where requests are greenlets of one thread, and would be
    in vain where one of them holds the lock.
    """
    give_up_at = ticks() + _BUSY_TIMEOUT_MS / 1000
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
    assert driver is not None  # it is connected
    if connection.get_execution_options().get(_READS_ONLY, False):
        driver.execute("BEGIN")
        return
    driver.execute(_IMPATIENT)
    try:
        _insist(lambda: driver.execute("BEGIN IMMEDIATE"))
    finally:
        driver.execute(_PATIENT)


@contextmanager
def _failures_named() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable("database") from error
    except sqlite3.OperationalError as error:
        # A new connection's first statements and new rows run below SQLAlchemy and come unwrapped.
        raise _outage(error) from error
    except DBAPIError as error:
        if _is_outage(error):
            raise _outage(error.orig) from error
        raise


def _outage(error: BaseException | None) -> Unavailable:
    is_full = (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or getattr(error, "sqlstate", None) == _POSTGRES_DISK_FULL
    )
    return NoSpace("database") if is_full else Unavailable("database")


def _is_outage(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        # SQLite calls a misspelt statement operational too (code 1); that is a defect of ours.
        code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        return isinstance(error, OperationalError) and code != sqlite3.SQLITE_ERROR
    return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
