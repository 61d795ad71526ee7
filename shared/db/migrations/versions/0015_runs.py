"""Output plans and the files of runs; batches of earlier releases have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("plan", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("batches", sa.Column("plan_name", sa.String(length=80), nullable=True))
    op.add_column("batch_items", sa.Column("values", sa.JSON(none_as_null=True), nullable=True))
    op.create_table(
        "batch_files",
        sa.Column("batch_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("blob_key", sa.String(length=255), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("sheets", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batches.id"],
            name=op.f("fk_batch_files_batch_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("batch_id", "number", name=op.f("pk_batch_files")),
    )
    op.create_table(
        "plans",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("plan", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "name", "version", name=op.f("pk_plans")),
    )
