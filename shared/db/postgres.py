"""PostgreSQL connections whose statements have a time limit of the client's own.

A server that is stopped, or whose machine hangs, acknowledges packets and never answers: then neither
`statement_timeout` nor `tcp_user_timeout` has an effect, and libpq has no limit for reading.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from shared.errors import Unavailable

RV = TypeVar("RV")


class TimedConnection(psycopg.Connection[Any]):
    """A connection that closes itself when the server does not answer a statement within `seconds`.

    `ping_seconds` is the limit while it is in autocommit mode, as during the ping of SQLAlchemy's pool.
    """

    seconds: float
    ping_seconds: float

    @classmethod
    def limited(cls, seconds: float, ping_seconds: float) -> type[TimedConnection]:
        """Return the class of connections with these limits."""
        return type(cls.__name__, (cls,), {"seconds": seconds, "ping_seconds": ping_seconds})

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        """Run a step of the protocol.

        Raises:
            Unavailable: it is not over in time. No error of the driver's, for which a pool connects again.
        """
        options["timeout"] = self.ping_seconds if self.autocommit else self.seconds
        try:
            return super().wait(gen, *args, **options)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.close()  # what the server still sends would be taken for the next statement's answer
            raise Unavailable("database") from error
