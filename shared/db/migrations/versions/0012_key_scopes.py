"""Scopes of API keys; keys made before have all of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "api_keys",
        sa.Column(
            "scopes",
            sa.String(length=64),
            nullable=False,
            server_default="render templates account",
        ),
    )
