"""The moments at which batches are to have been rendered; those of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("deadline", sa.DateTime(timezone=True)))
