"""Tags of the versions of output plans."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    named: list[sa.Column[str]] = [
        sa.Column("account_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(60), primary_key=True),
        sa.Column(
            "tag", sa.String(64).with_variant(sa.String(64, "C"), "postgresql"), primary_key=True
        ),
    ]
    version: sa.Column[int] = sa.Column("version", sa.BigInteger(), nullable=False)
    tagged = ["account_id", "name", "version"]
    held = sa.ForeignKeyConstraint(tagged, [f"plans.{each}" for each in tagged], ondelete="CASCADE")
    op.create_table("plan_tags", *named, version, held)
