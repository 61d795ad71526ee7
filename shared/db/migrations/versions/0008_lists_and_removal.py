"""Indexes for lists of jobs and batches by account; soft deletion of batches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("removed_at", sa.DateTime(timezone=True)))
    op.create_index("ix_jobs_account_id_status_id", "jobs", ["account_id", "status", "id"])
    op.create_index("ix_batches_account_id_status_id", "batches", ["account_id", "status", "id"])
    op.create_index("ix_templates_account_id_name_id", "templates", ["account_id", "name", "id"])
    # The new index begins with the same columns.
    op.drop_index("ix_batches_account_id_status", "batches")
