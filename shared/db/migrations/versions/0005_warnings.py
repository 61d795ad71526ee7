"""Jobs and batch documents: the warnings of their renders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nullable or with a default: processes of the previous release insert rows without them.
    op.add_column("jobs", sa.Column("warnings", sa.JSON()))
    op.add_column("batch_items", sa.Column("warnings", sa.JSON()))
