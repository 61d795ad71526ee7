"""Accounts, templates, images and the usage ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

INSTANT = sa.DateTime(timezone=True)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def ordered(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("plan", sa.String(length=16), nullable=False),
        sa.Column("max_pages", sa.BigInteger(), nullable=False),
        sa.Column("max_draft_pages", sa.BigInteger(), nullable=True),
        sa.Column("renewal_day", sa.Integer(), nullable=False),
        sa.Column("rate_limit", sa.String(length=32), nullable=True),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.Column("is_email_verified", sa.Boolean(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.CheckConstraint("plan IN ('free', 'paid')", name=op.f("ck_accounts_plan_known")),
        sa.CheckConstraint(
            "max_draft_pages >= 0", name=op.f("ck_accounts_max_draft_pages_counted")
        ),
        sa.CheckConstraint("max_pages >= 0", name=op.f("ck_accounts_max_pages_counted")),
        sa.CheckConstraint(
            "renewal_day BETWEEN 1 AND 31", name=op.f("ck_accounts_renewal_day_in_month")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
    )
    op.create_table(
        "contents",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_contents")),
    )
    op.create_table(
        "usage_ledger",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("allowance", sa.String(length=16), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("occurred_at", INSTANT, nullable=False),
        sa.Column("recorded_at", INSTANT, nullable=False),
        sa.CheckConstraint("pages >= 0", name=op.f("ck_usage_ledger_pages_counted")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_usage_ledger")),
    )
    op.create_index("ix_usage_ledger_account_id_period", "usage_ledger", ["account_id", "period"])

    op.create_table(
        "usage_totals",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("period", sa.String(length=10), nullable=False),
        sa.Column("allowance", sa.String(length=16), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "period", "allowance", name=op.f("pk_usage_totals")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_users_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )
    op.create_index("ix_users_account_id", "users", ["account_id"])

    op.create_table(
        "workspaces",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_workspaces_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("account_id", name=op.f("uq_workspaces_account_id")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("display", sa.String(length=16), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("revoked_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_api_keys_account_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_api_keys_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_keys_digest")),
    )
    op.create_index("ix_api_keys_account_id", "api_keys", ["account_id"])

    op.create_table(
        "image_reservations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("reserved_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_image_reservations_workspace_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_image_reservations")),
    )
    op.create_index("ix_image_reservations_workspace_id", "image_reservations", ["workspace_id"])

    op.create_table(
        "images",
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("name", ordered(64), nullable=False),
        sa.Column("content_type", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_images_created_by")),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_images_updated_by")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_images_workspace_id")
        ),
        sa.PrimaryKeyConstraint("workspace_id", "name", name=op.f("pk_images")),
    )
    op.create_table(
        "templates",
        sa.Column("id", ordered(128), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.String(length=64), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_templates_account_id")
        ),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_templates_created_by")),
        sa.ForeignKeyConstraint(["sha256"], ["contents.sha256"], name=op.f("fk_templates_sha256")),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_templates_updated_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_templates")),
    )
    op.create_index("ix_templates_account_id_id", "templates", ["account_id", "id"])
