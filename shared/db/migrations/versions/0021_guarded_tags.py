"""Guarded tags, and the approvals of versions; existing tags are not guarded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, DateTime, String

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("versions", Column("key_id", String(64)))
    op.add_column(
        "tags", Column("is_guarded", Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "approvals",
        Column("template_id", String(128), primary_key=True),
        Column("version", BigInteger(), primary_key=True, autoincrement=False),
        Column("key_id", String(64), primary_key=True),
        Column("approved_at", DateTime(timezone=True), nullable=False),
        Column("approved_by", String(64), sa.ForeignKey("users.id"), nullable=False),
        sa.ForeignKeyConstraint(
            ["template_id", "version"], ["versions.template_id", "versions.version"]
        ),
    )
