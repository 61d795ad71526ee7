"""Webhooks: longer columns for encrypted secrets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The webhook process, which has the keys, encrypts existing secrets.
    with op.batch_alter_table("webhooks") as table:
        for column in ("secret", "previous_secret"):
            table.alter_column(column, type_=sa.Text(), existing_type=sa.String(length=128))
