"""Jobs, idempotency keys, batches and items, webhooks and deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

INSTANT = sa.DateTime(timezone=True)

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=True),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("output", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("charset", sa.String(length=32), nullable=True),
        sa.Column("header", sa.JSON(), nullable=True),
        sa.Column("is_draft", sa.Boolean(), nullable=False),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("pinned", sa.JSON(), nullable=False),
        sa.Column("meter", sa.JSON(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("body_key", sa.String(length=255), nullable=True),
        sa.Column("body_bytes", sa.BigInteger(), nullable=False),
        sa.Column("result_key", sa.String(length=255), nullable=True),
        sa.Column("result_bytes", sa.BigInteger(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT, nullable=True),
        sa.Column("fed_at", INSTANT, nullable=True),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("sweep_at", INSTANT, nullable=True),
        sa.CheckConstraint("kind IN ('ndjson', 'csv')", name=op.f("ck_batches_kind_known")),
        sa.CheckConstraint(
            "output IN ('files', 'zip', 'merged')", name=op.f("ck_batches_output_known")
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'finished', 'cancelled')",
            name=op.f("ck_batches_status_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    op.create_index(
        "ix_batches_status_created_at", "batches", ["status", "created_at"], unique=False
    )
    op.create_index("ix_batches_sweep_at", "batches", ["sweep_at"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("call", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=True),
        sa.Column("job_id", sa.String(length=64), nullable=True),
        sa.Column("batch_id", sa.String(length=64), nullable=True),
        sa.Column("holder", sa.String(length=64), nullable=True),
        sa.Column("leased_until", INSTANT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "call", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(
        "ix_idempotency_keys_expires_at", "idempotency_keys", ["expires_at"], unique=False
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=True),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("lane", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("is_draft", sa.Boolean(), nullable=False),
        sa.Column("template", sa.Text(), nullable=True),
        sa.Column("pages", sa.BigInteger(), nullable=True),
        sa.Column("filename", sa.Text(), nullable=True),
        sa.Column("timings", sa.JSON(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("pdf_key", sa.String(length=255), nullable=True),
        sa.Column("pdf_size", sa.BigInteger(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("queued_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT, nullable=True),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("sweep_at", INSTANT, nullable=True),
        sa.CheckConstraint("lane IN ('interactive', 'batch')", name=op.f("ck_jobs_lane_known")),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')",
            name=op.f("ck_jobs_status_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_status_finished_at", "jobs", ["status", "finished_at"], unique=False)
    op.create_index("ix_jobs_status_queued_at", "jobs", ["status", "queued_at"], unique=False)
    op.create_index("ix_jobs_sweep_at", "jobs", ["sweep_at"], unique=False)
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("webhook_id", sa.String(length=64), nullable=False),
        sa.Column("event", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("next_attempt_at", INSTANT, nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("leased_until", INSTANT, nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'delivered', 'failed')",
            name=op.f("ck_webhook_deliveries_status_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
    )
    op.create_index(
        "ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"], unique=False
    )
    op.create_index(
        "ix_webhook_deliveries_status_next_attempt_at",
        "webhook_deliveries",
        ["status", "next_attempt_at"],
        unique=False,
    )
    op.create_index(
        "ix_webhook_deliveries_webhook_id_created_at",
        "webhook_deliveries",
        ["webhook_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("secret", sa.String(length=128), nullable=False),
        sa.Column("previous_secret", sa.String(length=128), nullable=True),
        sa.Column("previous_secret_until", INSTANT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("disabled_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_account_id"), "webhooks", ["account_id"], unique=False)
    op.create_table(
        "batch_chunks",
        sa.Column("batch_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_index", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("body_offset", sa.BigInteger(), nullable=False),
        sa.Column("body_length", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("done_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("queued_at", INSTANT, nullable=True),
        sa.Column("succeeded", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'done', 'cancelled')",
            name=op.f("ck_batch_chunks_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("fk_batch_chunks_batch_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("batch_id", "number", name=op.f("pk_batch_chunks")),
    )
    op.create_index(
        "ix_batch_chunks_status_queued_at", "batch_chunks", ["status", "queued_at"], unique=False
    )
    op.create_table(
        "batch_items",
        sa.Column("batch_id", sa.String(length=64), nullable=False),
        sa.Column("index", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("filename", sa.Text(), nullable=True),
        sa.Column("part_first_index", sa.BigInteger(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("crc32", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('succeeded', 'failed', 'cancelled')",
            name=op.f("ck_batch_items_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("fk_batch_items_batch_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("batch_id", "index", name=op.f("pk_batch_items")),
    )
    op.create_index(
        "ix_batch_items_batch_id_status_index",
        "batch_items",
        ["batch_id", "status", "index"],
        unique=False,
    )
    op.create_table(
        "batch_parts",
        sa.Column("batch_id", sa.String(length=64), nullable=False),
        sa.Column("first_index", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("blob_key", sa.String(length=255), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("fk_batch_parts_batch_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("batch_id", "first_index", name=op.f("pk_batch_parts")),
    )
    op.create_index("ix_batch_parts_created_at", "batch_parts", ["created_at"], unique=False)
    op.create_table(
        "webhook_attempts",
        sa.Column("delivery_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["webhook_deliveries.id"],
            name=op.f("fk_webhook_attempts_delivery_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", "number", name=op.f("pk_webhook_attempts")),
    )
