"""Destinations, whose deliveries the outbox of webhooks has too; retention of accounts, and data subjects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_DELIVERIES = "webhook_deliveries"


def upgrade() -> None:
    op.create_table(
        "destinations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_destinations")),
    )
    op.create_index(op.f("ix_destinations_account_id"), "destinations", ["account_id"])
    for column in (
        sa.Column("kind", sa.String(length=16), nullable=False, server_default="webhook"),
        sa.Column("account_id", sa.String(length=64)),
        sa.Column("source_id", sa.String(length=64)),
        sa.Column("name", sa.Text()),
    ):
        op.add_column(_DELIVERIES, column)
    # Webhooks have few deliveries: those of a week.
    op.execute(
        f"UPDATE {_DELIVERIES} SET account_id = "  # noqa: S608 - a constant
        f"(SELECT account_id FROM webhooks WHERE webhooks.id = {_DELIVERIES}.webhook_id)"
    )
    for columns in (("account_id", "created_at"), ("source_id", "status")):
        op.create_index(f"ix_{_DELIVERIES}_{'_'.join(columns)}", _DELIVERIES, list(columns))
    for table in ("jobs", "batches"):
        op.add_column(table, sa.Column("deliver_to", sa.String(length=64)))
        op.add_column(table, sa.Column("subject", sa.String(length=200)))
        where = sa.text("subject IS NOT NULL")
        op.create_index(
            f"ix_{table}_subject_account_id",
            table,
            ["account_id", "subject"],
            postgresql_where=where,
            sqlite_where=where,
        )
    for name in ("result_hours", "record_days"):
        op.add_column("accounts", sa.Column(name, sa.Integer()))
