"""Names of API keys, and usage totals by day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_SUMS_ON_SQLITE = """
INSERT INTO usage_days (account_id, day, allowance, pages, calls)
SELECT account_id, substr(occurred_at, 1, 10), allowance, SUM(pages), COUNT(*)
FROM usage_ledger GROUP BY 1, 2, 3
"""
_SUMS_ON_POSTGRESQL = """
INSERT INTO usage_days (account_id, day, allowance, pages, calls)
SELECT account_id, to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), allowance, SUM(pages), COUNT(*)
FROM usage_ledger GROUP BY 1, 2, 3
"""


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("name", sa.Text()))
    op.create_table(
        "usage_days",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("allowance", sa.String(length=16), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "day", "allowance", name=op.f("pk_usage_days")),
    )
    # Instants are in UTC: by the time zone of the session on PostgreSQL, as text on SQLite.
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    op.execute(_SUMS_ON_SQLITE if is_sqlite else _SUMS_ON_POSTGRESQL)
