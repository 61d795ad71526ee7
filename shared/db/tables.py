"""The tables, as the repositories of this folder see them; nobody else imports them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)


class Instant(TypeDecorator[datetime]):
    """An aware instant in UTC; SQLite, which keeps no zone, gets it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the database the instant in UTC."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Give the caller the instant, aware."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _ordered(length: int) -> String:
    """Give the type of a name that pages are ordered by: by code point, whatever the locale."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


# One rule names every constraint, so that migrations can address them on both databases.
metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

accounts: Final = Table(
    "accounts",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("plan", String(16), nullable=False),
    Column("max_pages", BigInteger, nullable=False),
    Column("max_draft_pages", BigInteger),
    Column("renewal_day", Integer, nullable=False),
    Column("rate_limit", String(32)),
    Column("is_disabled", Boolean, nullable=False),
    Column("is_email_verified", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    CheckConstraint("plan IN ('free', 'paid')", name="plan_known"),
    CheckConstraint("renewal_day BETWEEN 1 AND 31", name="renewal_day_in_month"),
    CheckConstraint("max_pages >= 0", name="max_pages_counted"),
    CheckConstraint("max_draft_pages >= 0", name="max_draft_pages_counted"),
)

workspaces: Final = Table(
    "workspaces",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
)

users: Final = Table(
    "users",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False),
)

api_keys: Final = Table(
    "api_keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("display", String(16), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
)

# Rows here never change: what a queued job was pinned to is what its retry renders.
contents: Final = Table(
    "contents",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("content", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)

templates: Final = Table(
    "templates",
    metadata,
    Column("id", _ordered(128), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("sha256", ForeignKey("contents.sha256"), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", ForeignKey("users.id"), nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", ForeignKey("users.id"), nullable=False),
    # Raised by each publish under the row's lock, so it is also the newest version's number.
    Column("version_count", BigInteger, nullable=False, server_default="0"),
    Column("deleted_at", Instant),
    Index("ix_templates_account_id_id", "account_id", "id"),
)

# Rows here never change and are never deleted (interface.md, States and transitions).
versions: Final = Table(
    "versions",
    metadata,
    Column("template_id", ForeignKey("templates.id"), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("sha256", ForeignKey("contents.sha256"), nullable=False),
    Column("message", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", ForeignKey("users.id"), nullable=False),
    CheckConstraint("version >= 1", name="version_counted"),
)

tags: Final = Table(
    "tags",
    metadata,
    Column("template_id", ForeignKey("templates.id"), primary_key=True),
    Column("tag", _ordered(64), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", ForeignKey("users.id"), nullable=False),
    ForeignKeyConstraint(["template_id", "version"], ["versions.template_id", "versions.version"]),
)

# What happened to the tags of a template, in order of `id`; it outlives them.
tag_events: Final = Table(
    "tag_events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("template_id", ForeignKey("templates.id"), nullable=False),
    Column("tag", _ordered(64), nullable=False),
    Column("action", String(16), nullable=False),
    Column("version", BigInteger),
    Column("previous_version", BigInteger),
    Column("at", Instant, nullable=False),
    Column("by", ForeignKey("users.id"), nullable=False),
    CheckConstraint("action IN ('created', 'moved', 'removed')", name="action_known"),
    Index("ix_tag_events_template_id_tag_id", "template_id", "tag", "id"),
)

slugs: Final = Table(
    "slugs",
    metadata,
    Column("workspace_id", ForeignKey("workspaces.id"), primary_key=True),
    Column("slug", _ordered(64), primary_key=True),
    Column("template_id", ForeignKey("templates.id"), nullable=False, unique=True),
)

images: Final = Table(
    "images",
    metadata,
    Column("workspace_id", ForeignKey("workspaces.id"), primary_key=True),
    Column("name", _ordered(64), primary_key=True),
    Column("content_type", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("created_by", ForeignKey("users.id"), nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", ForeignKey("users.id"), nullable=False),
)

# Room held for an upload between the check of the quota and the record (hazards.md 9).
image_reservations: Final = Table(
    "image_reservations",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("workspace_id", ForeignKey("workspaces.id"), nullable=False, index=True),
    Column("name", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("reserved_at", Instant, nullable=False),
)

# One row for each metered job, never changed; the totals beside it are its sums. Neither refers
# to its account by a foreign key: what was metered is recorded, whatever became of the account.
usage_ledger: Final = Table(
    "usage_ledger",
    metadata,
    Column("job_id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("period", String(10), nullable=False),
    Column("allowance", String(16), nullable=False),
    Column("pages", BigInteger, nullable=False),
    Column("occurred_at", Instant, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    CheckConstraint("pages >= 0", name="pages_counted"),
    Index("ix_usage_ledger_account_id_period", "account_id", "period"),
)

usage_totals: Final = Table(
    "usage_totals",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("period", String(10), primary_key=True),
    Column("allowance", String(16), primary_key=True),
    Column("pages", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
)
