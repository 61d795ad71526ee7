"""The priority of batches; existing ones, and those that an older front accepts, are normal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    priority = sa.Column("priority", sa.String(16), nullable=False, server_default="normal")
    op.add_column("batches", priority)
    condition = sa.text("status IN ('queued', 'running') AND priority IN ('express', 'night')")
    op.create_index(
        "ix_batches_unfinished_priority",
        "batches",
        ["priority", "account_id", "fed_at", "created_at"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
