"""Versions, tags with their history, and slugs; deleted templates keep their rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

INSTANT = sa.DateTime(timezone=True)

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def ordered(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "templates",
        sa.Column("version_count", sa.BigInteger(), server_default="0", nullable=False),
    )
    op.add_column("templates", sa.Column("deleted_at", INSTANT, nullable=True))
    op.create_table(
        "versions",
        sa.Column("template_id", ordered(128), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.CheckConstraint("version >= 1", name=op.f("ck_versions_version_counted")),
        sa.ForeignKeyConstraint(
            ["template_id"], ["templates.id"], name=op.f("fk_versions_template_id")
        ),
        sa.ForeignKeyConstraint(["sha256"], ["contents.sha256"], name=op.f("fk_versions_sha256")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_versions_created_by")),
        sa.PrimaryKeyConstraint("template_id", "version", name=op.f("pk_versions")),
    )
    op.create_table(
        "tags",
        sa.Column("template_id", ordered(128), nullable=False),
        sa.Column("tag", ordered(64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["template_id"], ["templates.id"], name=op.f("fk_tags_template_id")
        ),
        sa.ForeignKeyConstraint(
            ["template_id", "version"],
            ["versions.template_id", "versions.version"],
            name=op.f("fk_tags_template_id_version"),
        ),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_tags_updated_by")),
        sa.PrimaryKeyConstraint("template_id", "tag", name=op.f("pk_tags")),
    )
    op.create_table(
        "tag_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("template_id", ordered(128), nullable=False),
        sa.Column("tag", ordered(64), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("previous_version", sa.BigInteger(), nullable=True),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("by", sa.String(length=64), nullable=False),
        sa.CheckConstraint(
            "action IN ('created', 'moved', 'removed')", name=op.f("ck_tag_events_action_known")
        ),
        sa.ForeignKeyConstraint(
            ["template_id"], ["templates.id"], name=op.f("fk_tag_events_template_id")
        ),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_tag_events_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tag_events")),
    )
    op.create_index("ix_tag_events_template_id_tag_id", "tag_events", ["template_id", "tag", "id"])
    op.create_table(
        "slugs",
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("slug", ordered(64), nullable=False),
        sa.Column("template_id", ordered(128), nullable=False),
        sa.ForeignKeyConstraint(
            ["template_id"], ["templates.id"], name=op.f("fk_slugs_template_id")
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_slugs_workspace_id")
        ),
        sa.PrimaryKeyConstraint("workspace_id", "slug", name=op.f("pk_slugs")),
        sa.UniqueConstraint("template_id", name=op.f("uq_slugs_template_id")),
    )
