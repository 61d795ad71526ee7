"""Held documents of runs, decisions on them, and reprints; runs of earlier releases have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("is_proof_released", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("decisions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("arranged", sa.Integer(), server_default="0", nullable=False),
    ):
        op.add_column("batches", column)
    where = sa.text("decisions > arranged")
    op.create_index(
        "ix_batches_decided_id", "batches", ["id"], sqlite_where=where, postgresql_where=where
    )
    op.add_column("batch_items", sa.Column("held", sa.Text(), nullable=True))
    op.add_column("batch_items", sa.Column("release", sa.Integer(), nullable=True))
    op.add_column("batch_files", sa.Column("request", sa.JSON(none_as_null=True), nullable=True))
