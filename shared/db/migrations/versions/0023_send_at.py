"""The moments before which results are not delivered; those of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("jobs", "batches"):
        op.add_column(table, sa.Column("send_at", sa.DateTime(timezone=True)))
