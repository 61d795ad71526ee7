"""What was added after release 1.0.0; existing rows have the defaults."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, DateTime, ForeignKey, Integer, String, Text

revision = "0018"
down_revision = "0013"
branch_labels = None
depends_on = None

_DELIVERIES = "webhook_deliveries"
_ID = String(64)
_INSTANT = DateTime(timezone=True)
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    _create_tables()
    _add_columns()
    # Webhooks have few deliveries: those of a week.
    op.execute(
        f"UPDATE {_DELIVERIES} SET account_id = "  # noqa: S608 - a constant
        f"(SELECT account_id FROM webhooks WHERE webhooks.id = {_DELIVERIES}.webhook_id)"
    )
    for columns in (["account_id", "created_at"], ["source_id", "status"]):
        op.create_index(f"ix_{_DELIVERIES}_{'_'.join(columns)}", _DELIVERIES, columns)
    for table in ("jobs", "batches"):
        name = f"ix_{table}_subject_account_id"
        _create_partial_index(name, table, ["account_id", "subject"], "subject IS NOT NULL")
    _create_partial_index("ix_batches_decided_id", "batches", ["id"], "decisions > arranged")


def _create_tables() -> None:
    op.create_table(
        "version_links",
        _key("template_id", String(128)),
        _key("version", BigInteger()),
        _key("reference", String(200)),
        Column("sha256", _ID, ForeignKey("contents.sha256"), index=True),
        sa.ForeignKeyConstraint(
            ["template_id", "version"], ["versions.template_id", "versions.version"]
        ),
    )
    op.create_table(
        "batch_files",
        Column("batch_id", _ID, ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
        _key("number", BigInteger()),
        _required("blob_key", String(255)),
        _required("bytes", BigInteger()),
        _required("sha256"),
        Column("value", _JSON),
        *(_required(name, BigInteger()) for name in ("documents", "pages", "sheets")),
        Column("request", _JSON),
    )
    op.create_table(
        "plans",
        _key("account_id"),
        _key("name", String(60)),
        _key("version", BigInteger()),
        _required("plan", _JSON),
        _required("created_at", _INSTANT),
    )
    op.create_table(
        "audit_log",
        _key("account_id"),
        _key("number", BigInteger()),
        Column("at", _INSTANT, nullable=False, index=True),
        _required("actor"),
        _required("action", String(32)),
        _required("subject", String(255)),
        _required("details", sa.JSON()),
        _required("hash"),
    )
    op.create_table(
        "destinations",
        _key("id"),
        Column("account_id", _ID, nullable=False, index=True),
        _required("kind", String(16)),
        _required("settings", _JSON),
        _required("secret", Text()),
        _required("created_at", _INSTANT),
    )


def _add_columns() -> None:
    _add("accounts", Column("result_hours", Integer()), Column("record_days", Integer()))
    for table in ("jobs", "batches"):
        _add(table, Column("deliver_to", _ID), Column("subject", String(200)))
    _add(
        "batches",
        Column("plan", _JSON),
        Column("plan_name", String(80)),
        _required("is_proof_released", Boolean(), default=sa.false()),
        _required("decisions", Integer(), default="0"),
        _required("arranged", Integer(), default="0"),
    )
    _add(
        "batch_items", Column("values", _JSON), Column("held", Text()), Column("release", Integer())
    )
    _add(
        _DELIVERIES,
        _required("kind", String(16), default="webhook"),
        Column("account_id", _ID),
        Column("source_id", _ID),
        Column("name", Text()),
    )


def _key(name: str, kind: Any = _ID) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _required(name: str, kind: Any = _ID, *, default: Any = None) -> Column[Any]:
    return Column(name, kind, nullable=False, server_default=default)


def _add(table: str, *columns: Column[Any]) -> None:
    for column in columns:
        op.add_column(table, column)


def _create_partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
