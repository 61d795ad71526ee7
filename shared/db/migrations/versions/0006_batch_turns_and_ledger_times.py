"""The rotation of accounts with batches, indexes for scheduling slices, and an index for exporting and
pruning the ledger.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
UNFINISHED = "status IN ('queued', 'running')"
IN_FLIGHT = "status = 'running' OR status = 'queued' AND queued_at IS NOT NULL"


def upgrade() -> None:
    op.create_table(
        "batch_turns",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("fed_at", INSTANT, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_batch_turns")),
    )
    op.create_index("ix_batch_turns_fed_at_created_at", "batch_turns", ["fed_at", "created_at"])
    # The maintenance process adds accounts of batches that the previous release accepts meanwhile.
    op.execute(
        "INSERT INTO batch_turns (account_id, fed_at, created_at)"
        " SELECT account_id, COALESCE(MAX(fed_at), '1970-01-01 00:00:00.000000'), MIN(created_at)"
        " FROM batches WHERE status IN ('queued', 'running') GROUP BY account_id"
    )
    _create_partial_index(
        "ix_batches_unfinished_account_id_fed_at",
        "batches",
        ["account_id", "fed_at", "created_at"],
        UNFINISHED,
    )
    _create_partial_index(
        "ix_batch_chunks_open_batch_id",
        "batch_chunks",
        ["batch_id", "number", "count", "done"],
        UNFINISHED,
    )
    _create_partial_index(
        "ix_batch_chunks_in_flight_queued_at", "batch_chunks", ["queued_at"], IN_FLIGHT
    )
    # SQLite used it to find the waiting chunks of one batch, and read those of all.
    op.drop_index("ix_batch_chunks_status_queued_at", "batch_chunks")
    op.create_index("ix_usage_ledger_occurred_at_job_id", "usage_ledger", ["occurred_at", "job_id"])


def _create_partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
