"""Limits of processor time of accounts; those of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("max_cpu_seconds", sa.BigInteger()))
