"""Legal holds of accounts; those of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    held: sa.Column[bool] = sa.Column(
        "is_held", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("accounts", held)
