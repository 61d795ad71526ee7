"""Fonts of workspaces, and reservations of their uploads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

INSTANT = sa.DateTime(timezone=True)

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    name = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
    op.create_table(
        "fonts",
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("name", name, nullable=False),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("faces", sa.JSON(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_fonts_created_by")),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_fonts_updated_by")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_fonts_workspace_id")
        ),
        sa.PrimaryKeyConstraint("workspace_id", "name", name=op.f("pk_fonts")),
    )
    op.create_table(
        "font_reservations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("reserved_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_font_reservations_workspace_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_font_reservations")),
    )
    op.create_index("ix_font_reservations_workspace_id", "font_reservations", ["workspace_id"])
