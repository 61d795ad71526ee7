"""The content that a version's links named when it was published; earlier versions have none recorded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "version_links",
        sa.Column("template_id", sa.String(length=128), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("reference", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["template_id", "version"],
            ["versions.template_id", "versions.version"],
            name=op.f("fk_version_links_template_id_version"),
        ),
        sa.ForeignKeyConstraint(
            ["sha256"], ["contents.sha256"], name=op.f("fk_version_links_sha256")
        ),
        sa.PrimaryKeyConstraint(
            "template_id", "version", "reference", name=op.f("pk_version_links")
        ),
    )
    op.create_index(op.f("ix_version_links_sha256"), "version_links", ["sha256"])
