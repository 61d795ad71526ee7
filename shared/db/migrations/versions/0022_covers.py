"""The covers of bundles; batches and files of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("cover", sa.JSON()))
    covers = sa.Column("covers", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("batch_files", covers)
    condition = sa.text("cover IS NOT NULL")
    op.create_index(
        "ix_batches_covered_id",
        "batches",
        ["id"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
