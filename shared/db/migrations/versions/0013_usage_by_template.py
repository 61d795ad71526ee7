"""Usage totals by template; those of earlier renders are not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "usage_templates",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("template_id", sa.String(length=128), nullable=False),
        sa.Column("allowance", sa.String(length=16), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "account_id", "period", "template_id", "allowance", name=op.f("pk_usage_templates")
        ),
    )
