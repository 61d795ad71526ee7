"""Cases stored with templates, and how many passed before an approval; versions of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    template_id: sa.Column[str] = sa.Column(
        "template_id", sa.String(128), sa.ForeignKey("templates.id"), primary_key=True
    )
    digest: sa.Column[str] = sa.Column("sha256", sa.String(64), primary_key=True)
    archive: sa.Column[bytes] = sa.Column("archive", sa.LargeBinary(), nullable=False)
    op.create_table("template_cases", template_id, digest, archive)
    for table in ("templates", "versions"):
        op.add_column(table, sa.Column("cases_sha256", sa.String(64)))
    op.add_column("approvals", sa.Column("cases_passed", sa.Integer()))
