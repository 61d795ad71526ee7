"""The processor time of renders; those metered by an older release have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("usage_ledger", "usage_totals", "usage_days", "usage_templates"):
        spent = sa.Column("cpu_us", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column(table, spent)
