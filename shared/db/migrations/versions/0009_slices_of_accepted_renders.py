"""Slices of accepted renders, scheduled together with batches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
WAITING = "status = 'queued' AND lane = 'batch' AND slice_id IS NULL"
CLAIMED = "status = 'queued' AND slice_id IS NOT NULL"


def upgrade() -> None:
    op.create_table(
        "job_slices",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("is_running", sa.Boolean(), nullable=False),
        sa.Column("queued_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_slices")),
    )
    op.create_index("ix_job_slices_account_id", "job_slices", ["account_id"])
    op.add_column("batch_turns", sa.Column("jobs_fed_at", INSTANT))
    op.add_column("jobs", sa.Column("slice_id", sa.String(length=64)))
    _create_partial_index(
        "ix_jobs_waiting_account_id_queued_at", ["account_id", "queued_at", "id"], WAITING
    )
    _create_partial_index("ix_jobs_claimed_slice_id", ["slice_id"], CLAIMED)
    # The maintenance process adds the accounts of waiting renders, and of those that the previous release
    # accepts meanwhile, to the rotation.


def _create_partial_index(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "jobs", columns, sqlite_where=condition, postgresql_where=condition)
