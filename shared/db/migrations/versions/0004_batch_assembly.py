"""Batches: assembly attempts, the error of a failed assembly, and the trace context."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nullable or with a default: processes of the previous release insert rows without them.
    op.add_column(
        "batches", sa.Column("assembly_tries", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("batches", sa.Column("assembly_begun_at", sa.DateTime(timezone=True)))
    op.add_column("batches", sa.Column("error", sa.JSON()))
    op.add_column("batches", sa.Column("traceparent", sa.String(length=64)))
    op.create_index("ix_batches_account_id_status", "batches", ["account_id", "status"])
