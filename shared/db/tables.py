"""Table definitions, known to repositories only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    and_,
    false,
    literal_column,
    or_,
    text,
)

from shared.limits import MAX_REFERENCE


class Instant(TypeDecorator[datetime]):
    """An aware instant in UTC; SQLite stores it without a time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert an instant to UTC for the database."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Convert a value of the database to an aware instant in UTC."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _ordered(length: int) -> String:
    """Return a string type that sorts by code point, independent of the locale."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def _partial_index(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


def _authored(*acts: str) -> Iterator[Column[Any]]:
    """Yield the columns of when and by whom a row was `created`, `updated` or so."""
    for act in acts:
        yield Column(f"{act}_at", Instant, nullable=False)
        yield Column(f"{act}_by", ForeignKey("users.id"), nullable=False)


def _sums(name: str, **keys: int) -> Table:
    """Return a table of sums of the ledger, by account, keys of some lengths, and allowance."""
    return Table(
        name,
        metadata,
        Column("account_id", String(64), primary_key=True),
        *(Column(key, String(length), primary_key=True) for key, length in keys.items()),
        Column("allowance", String(16), primary_key=True),
        Column("pages", BigInteger, nullable=False),
        Column("calls", BigInteger, nullable=False),
        Column("cpu_us", BigInteger, nullable=False, server_default="0"),
    )


# Constraints have names on both databases, so that a migration could refer to them.
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
    Column("max_cpu_seconds", BigInteger),
    Column("renewal_day", Integer, nullable=False),
    Column("rate_limit", String(32)),
    # Times of its own; None is those of the settings.
    Column("result_hours", Integer),
    Column("record_days", Integer),
    Column("is_disabled", Boolean, nullable=False),
    Column("is_held", Boolean, nullable=False, server_default=false()),
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
    Column("name", Text),
    # Names separated by spaces (shared.auth.scopes).
    Column("scopes", String(64), nullable=False, server_default="render templates account"),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
)

# Rows never change, so that a retried job renders the same content.
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
    *_authored("created", "updated"),
    # Incremented by each publish under the row's lock: the number of the newest version.
    Column("version_count", BigInteger, nullable=False, server_default="0"),
    Column("deleted_at", Instant),
    # Of the cases that the next version has.
    Column("cases_sha256", String(64)),
    Index("ix_templates_account_id_id", "account_id", "id"),
    Index("ix_templates_account_id_name_id", "account_id", "name", "id"),
)

# Rows never change and are never deleted.
versions: Final = Table(
    "versions",
    metadata,
    Column("template_id", ForeignKey("templates.id"), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("sha256", ForeignKey("contents.sha256"), nullable=False),
    Column("message", Text, nullable=False),
    *_authored("created"),
    # The key that published it; None in rows of earlier releases.
    Column("key_id", String(64)),
    Column("cases_sha256", String(64)),
    CheckConstraint("version >= 1", name="version_counted"),
)

# The cases of templates and of their versions: a ZIP, by its SHA-256.
template_cases: Final = Table(
    "template_cases",
    metadata,
    Column("template_id", ForeignKey("templates.id"), primary_key=True),
    Column("sha256", String(64), primary_key=True),
    Column("archive", LargeBinary, nullable=False),
)

# Which keys approved a version: a guarded tag moves to it if another than that which published it did.
approvals: Final = Table(
    "approvals",
    metadata,
    Column("template_id", String(128), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("key_id", String(64), primary_key=True),
    *_authored("approved"),
    Column("cases_passed", Integer),
    ForeignKeyConstraint(["template_id", "version"], ["versions.template_id", "versions.version"]),
)

# The content that the links of a version named when it was published, by reference as written; NULL for
# one that named nothing. Versions of earlier releases have no rows.
version_links: Final = Table(
    "version_links",
    metadata,
    Column("template_id", String(128), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("reference", String(MAX_REFERENCE), primary_key=True),
    Column("sha256", ForeignKey("contents.sha256"), index=True),
    ForeignKeyConstraint(["template_id", "version"], ["versions.template_id", "versions.version"]),
)

tags: Final = Table(
    "tags",
    metadata,
    Column("template_id", ForeignKey("templates.id"), primary_key=True),
    Column("tag", _ordered(64), primary_key=True),
    Column("version", BigInteger, nullable=False),
    *_authored("updated"),
    Column("is_guarded", Boolean, nullable=False, server_default=false()),
    ForeignKeyConstraint(["template_id", "version"], ["versions.template_id", "versions.version"]),
)

# The history of a template's tags, ordered by `id`; kept after a tag is removed.
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
    *_authored("created", "updated"),
)

# `faces` are the properties of the file's fonts, as JSON of the interface.
fonts: Final = Table(
    "fonts",
    metadata,
    Column("workspace_id", ForeignKey("workspaces.id"), primary_key=True),
    Column("name", _ordered(64), primary_key=True),
    Column("format", String(16), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("faces", JSON, nullable=False),
    *_authored("created", "updated"),
)

# Unused: the release before reserves there the space of uploads, and must run on these tables.
for _name in ("image_reservations", "font_reservations"):
    Table(
        _name,
        metadata,
        Column("id", String(64), primary_key=True),
        Column("workspace_id", ForeignKey("workspaces.id"), nullable=False, index=True),
        Column("name", String(64), nullable=False),
        Column("bytes", BigInteger, nullable=False),
        Column("sha256", String(64), nullable=False),
        Column("reserved_at", Instant, nullable=False),
    )

# One row for each metered job, never changed; `usage_totals` has its sums. Neither has a foreign key to
# the account: metered usage is recorded even if the account was deleted.
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
    # The processor time of the render, by the worker's clock; 0 in rows of earlier releases.
    Column("cpu_us", BigInteger, nullable=False, server_default="0"),
    CheckConstraint("pages >= 0", name="pages_counted"),
    Index("ix_usage_ledger_account_id_period", "account_id", "period"),
    Index("ix_usage_ledger_occurred_at_job_id", "occurred_at", "job_id"),
)

usage_totals: Final = _sums("usage_totals", period=10)

# The same sums by day in UTC, for reports only.
usage_days: Final = _sums("usage_days", day=10)

# The same sums by template and billing period, for reports only; '' is a document without a template.
usage_templates: Final = _sums("usage_templates", period=10, template_id=128)

# A job is inserted before its request is answered 202. Jobs and batches have no foreign key to account or
# user: accepted work runs to its end even if those were deleted.
jobs: Final = Table(
    "jobs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("workspace_id", String(64)),
    Column("user_id", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("lane", String(16), nullable=False),
    # The encoded RenderJob; larger bodies are in the blob store.
    Column("message", Text, nullable=False),
    Column("is_draft", Boolean, nullable=False),
    Column("template", Text),
    Column("pages", BigInteger),
    Column("filename", Text),
    Column("timings", JSON(none_as_null=True)),
    Column("error", JSON(none_as_null=True)),
    Column("pdf_key", String(255)),
    Column("pdf_size", BigInteger),
    Column("created_at", Instant, nullable=False),
    # When it was accepted or queued again, or the time it is postponed to.
    Column("queued_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("expires_at", Instant),
    # When the next cleanup is due: the PDF at its expiry, the record days later.
    Column("sweep_at", Instant),
    Column("warnings", JSON(none_as_null=True)),
    # The slice that has claimed it; kept once it has ended.
    Column("slice_id", String(64)),
    # The destination that its PDF is delivered to.
    Column("deliver_to", String(64)),
    # The moment before which it is not delivered.
    Column("send_at", Instant),
    # The data subject, by which it is erased.
    Column("subject", String(200)),
    CheckConstraint(
        "status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="status_known"
    ),
    CheckConstraint("lane IN ('interactive', 'batch')", name="lane_known"),
    Index("ix_jobs_status_queued_at", "status", "queued_at"),
    Index("ix_jobs_account_id_status_id", "account_id", "status", "id"),
    Index("ix_jobs_status_finished_at", "status", "finished_at"),
    Index("ix_jobs_sweep_at", "sweep_at"),
    _partial_index(
        "ix_jobs_subject_account_id", "account_id", "subject", where="subject IS NOT NULL"
    ),
    # The unclaimed accepted renders of an account, in claiming order.
    _partial_index(
        "ix_jobs_waiting_account_id_queued_at",
        "account_id",
        "queued_at",
        "id",
        where="status = 'queued' AND lane = 'batch' AND slice_id IS NULL",
    ),
    _partial_index(
        "ix_jobs_claimed_slice_id", "slice_id", where="status = 'queued' AND slice_id IS NOT NULL"
    ),
)

# A queued or running slice of an account's accepted renders; it claims them while it runs.
job_slices: Final = Table(
    "job_slices",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("is_running", Boolean, nullable=False),
    Column("queued_at", Instant, nullable=False),
    Index("ix_job_slices_account_id", "account_id"),
)

# The first call with a key. A row without fingerprint is a call that is still receiving its body: it
# holds the key until `leased_until`.
idempotency_keys: Final = Table(
    "idempotency_keys",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("call", String(16), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("fingerprint", String(64)),
    Column("job_id", String(64)),
    Column("batch_id", String(64)),
    Column("holder", String(64)),
    Column("leased_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_idempotency_keys_expires_at", "expires_at"),
)

batches: Final = Table(
    "batches",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("workspace_id", String(64)),
    Column("user_id", String(64), nullable=False),
    Column("request_id", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("output", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("charset", String(32)),
    Column("header", JSON(none_as_null=True)),
    Column("is_draft", Boolean, nullable=False),
    Column("template", Text, nullable=False),
    Column("pinned", JSON(none_as_null=True), nullable=False),
    Column("meter", JSON(none_as_null=True), nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("body_key", String(255)),
    Column("body_bytes", BigInteger, nullable=False),
    Column("result_key", String(255)),
    Column("result_bytes", BigInteger),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    # When a slice of it was last queued; the least recently queued batch is next.
    Column("fed_at", Instant),
    Column("finished_at", Instant),
    Column("expires_at", Instant),
    Column("sweep_at", Instant),
    # When its client deleted it: hidden since then, until the maintenance process deletes the rows.
    Column("removed_at", Instant),
    # For merged batches: the number of assembly attempts, and the error if all failed.
    Column("assembly_tries", Integer, nullable=False, server_default="0"),
    Column("assembly_begun_at", Instant),
    Column("error", JSON(none_as_null=True)),
    Column("traceparent", String(64)),
    # The plan of a run, and its reference: it stays what it is when another version is stored.
    Column("plan", JSON(none_as_null=True)),
    Column("plan_name", String(80)),
    # The template of its covers, pinned as its own.
    Column("cover", JSON(none_as_null=True)),
    Column("deliver_to", String(64)),
    Column("send_at", Instant),
    Column("subject", String(200)),
    Column("priority", String(16), nullable=False, server_default="normal"),
    Column("deadline", Instant),
    # Of a run: whether its proof was released before its end; the number of decisions on its documents, and
    # up to which one its files are written.
    Column("is_proof_released", Boolean, nullable=False, server_default=false()),
    Column("decisions", Integer, nullable=False, server_default="0"),
    Column("arranged", Integer, nullable=False, server_default="0"),
    CheckConstraint(
        "status IN ('queued', 'running', 'finished', 'cancelled')", name="status_known"
    ),
    CheckConstraint("output IN ('files', 'zip', 'merged')", name="output_known"),
    CheckConstraint("kind IN ('ndjson', 'csv')", name="kind_known"),
    Index("ix_batches_status_created_at", "status", "created_at"),
    Index("ix_batches_account_id_status_id", "account_id", "status", "id"),
    Index("ix_batches_sweep_at", "sweep_at"),
    _partial_index(
        "ix_batches_subject_account_id", "account_id", "subject", where="subject IS NOT NULL"
    ),
    # The unfinished batches of an account in scheduling order.
    _partial_index(
        "ix_batches_unfinished_account_id_fed_at",
        "account_id",
        "fed_at",
        "created_at",
        where="status IN ('queued', 'running')",
    ),
    # Those of another priority than the normal one, which most have.
    _partial_index(
        "ix_batches_unfinished_priority",
        "priority",
        "account_id",
        "fed_at",
        "created_at",
        where="status IN ('queued', 'running') AND priority IN ('express', 'night')",
    ),
    _partial_index("ix_batches_decided_id", "id", where="decisions > arranged"),
    _partial_index("ix_batches_covered_id", "id", where="cover IS NOT NULL"),
)

# The rotation of accounts with unfinished batches or accepted renders, least recently served first.
batch_turns: Final = Table(
    "batch_turns",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("fed_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    # When a slice of its accepted renders was last queued; they alternate with its batches.
    Column("jobs_fed_at", Instant),
    Index("ix_batch_turns_fed_at_created_at", "fed_at", "created_at"),
)

# A range of a batch's documents that is rendered in order, one slice at a time: `done` documents and
# `done_bytes` of its body are finished.
batch_chunks: Final = Table(
    "batch_chunks",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("first_index", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("body_offset", BigInteger, nullable=False),
    Column("body_length", BigInteger, nullable=False),
    Column("done", BigInteger, nullable=False, server_default="0"),
    Column("done_bytes", BigInteger, nullable=False, server_default="0"),
    Column("status", String(16), nullable=False),
    Column("queued_at", Instant),
    Column("succeeded", BigInteger, nullable=False, server_default="0"),
    Column("failed", BigInteger, nullable=False, server_default="0"),
    Column("pages", BigInteger, nullable=False, server_default="0"),
    CheckConstraint("status IN ('queued', 'running', 'done', 'cancelled')", name="status_known"),
    # The open chunks of each batch; includes the counts, for index-only scans.
    _partial_index(
        "ix_batch_chunks_open_batch_id",
        "batch_id",
        "number",
        "count",
        "done",
        where="status IN ('queued', 'running')",
    ),
    _partial_index(
        "ix_batch_chunks_in_flight_queued_at",
        "queued_at",
        where="status = 'running' OR status = 'queued' AND queued_at IS NOT NULL",
    ),
)

# The conditions of the partial indexes above. Literals, not parameters: SQLite uses a partial index only if
# the query contains its exact terms, PostgreSQL only if it can prove the implication.
_QUEUED: Final[ColumnElement[str]] = literal_column("'queued'")
_RUNNING: Final[ColumnElement[str]] = literal_column("'running'")
_BATCH: Final[ColumnElement[str]] = literal_column("'batch'")
_EXPRESS: Final[ColumnElement[str]] = literal_column("'express'")
_NIGHT: Final[ColumnElement[str]] = literal_column("'night'")
IS_NOT_NORMAL: Final = batches.c.priority.in_([_EXPRESS, _NIGHT])
IS_UNFINISHED: Final = batches.c.status.in_([_QUEUED, _RUNNING])
HAS_DECISIONS: Final = batches.c.decisions > batches.c.arranged
IS_OPEN: Final = batch_chunks.c.status.in_([_QUEUED, _RUNNING])
IS_IN_FLIGHT: Final = or_(
    batch_chunks.c.status == _RUNNING,
    and_(batch_chunks.c.status == _QUEUED, batch_chunks.c.queued_at.is_not(None)),
)

IS_ACCEPTED: Final = and_(jobs.c.status == _QUEUED, jobs.c.lane == _BATCH)
IS_WAITING: Final = and_(IS_ACCEPTED, jobs.c.slice_id.is_(None))
IS_CLAIMED: Final = and_(jobs.c.status == _QUEUED, jobs.c.slice_id.is_not(None))

# The result of one slice: its PDFs concatenated in one blob, or merged into one PDF.
batch_parts: Final = Table(
    "batch_parts",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("first_index", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("blob_key", String(255)),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_batch_parts_created_at", "created_at"),
)

# The documents of a batch that have ended.
batch_items: Final = Table(
    "batch_items",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("index", BigInteger, primary_key=True, autoincrement=False),
    Column("status", String(16), nullable=False),
    Column("pages", BigInteger),
    Column("error", JSON(none_as_null=True)),
    Column("filename", Text),
    Column("part_first_index", BigInteger),
    Column("offset", BigInteger),
    Column("length", BigInteger),
    Column("crc32", BigInteger),
    Column("warnings", JSON(none_as_null=True)),
    # What the order and the index of a run, or mails to recipients, need of the payload.
    Column("values", JSON(none_as_null=True)),
    # Why its plan holds it; and the decision that released it, -1 if it was rejected.
    Column("held", Text),
    Column("release", Integer),
    CheckConstraint("status IN ('succeeded', 'failed', 'cancelled')", name="status_known"),
    Index("ix_batch_items_batch_id_status_index", "batch_id", "status", "index"),
)

# The files of a run, by number from 1; 0 is its index, -1 its proof, and those below are reprints, which have
# a request and, until they are written, no blob.
batch_files: Final = Table(
    "batch_files",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("blob_key", String(255), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("value", JSON(none_as_null=True)),
    Column("documents", BigInteger, nullable=False),
    Column("pages", BigInteger, nullable=False),
    Column("sheets", BigInteger, nullable=False),
    # Of one page each, besides its pages and sheets.
    Column("covers", BigInteger, nullable=False, server_default="0"),
    Column("request", JSON(none_as_null=True)),
)

# The versions of output plans.
plans: Final = Table(
    "plans",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("name", String(60), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("plan", JSON(none_as_null=True), nullable=False),
    Column("created_at", Instant, nullable=False),
)

plan_tags: Final = Table(
    "plan_tags",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("name", String(60), primary_key=True),
    Column("tag", _ordered(64), primary_key=True),
    Column("version", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["account_id", "name", "version"],
        ["plans.account_id", "plans.name", "plans.version"],
        ondelete="CASCADE",
    ),
)

webhooks: Final = Table(
    "webhooks",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False, index=True),
    Column("url", Text, nullable=False),
    Column("events", JSON(none_as_null=True), nullable=False),
    # Encrypted (shared.encryption); deliveries are signed with it.
    Column("secret", Text, nullable=False),
    Column("previous_secret", Text),
    Column("previous_secret_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("disabled_at", Instant),
)

# Where results are delivered to.
destinations: Final = Table(
    "destinations",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("settings", JSON(none_as_null=True), nullable=False),
    # Encrypted (shared.encryption).
    Column("secret", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# The outbox, written in the transaction of the event. No foreign key to the webhook or destination, which may
# be deleted concurrently.
webhook_deliveries: Final = Table(
    "webhook_deliveries",
    metadata,
    Column("id", String(64), primary_key=True),
    # The id of the webhook or destination.
    Column("webhook_id", String(64), nullable=False),
    Column("kind", String(16), nullable=False, server_default="webhook"),
    # None in rows of earlier releases.
    Column("account_id", String(64)),
    # Of a file: its job or batch, and its name.
    Column("source_id", String(64)),
    Column("name", Text),
    Column("event", String(32), nullable=False),
    Column("payload", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("next_attempt_at", Instant),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("status", String(16), nullable=False),
    Column("last_status", Integer),
    Column("last_error", Text),
    Column("leased_until", Instant),
    CheckConstraint("status IN ('pending', 'delivered', 'failed')", name="status_known"),
    Index("ix_webhook_deliveries_status_next_attempt_at", "status", "next_attempt_at"),
    Index("ix_webhook_deliveries_webhook_id_created_at", "webhook_id", "created_at"),
    Index("ix_webhook_deliveries_created_at", "created_at"),
    Index("ix_webhook_deliveries_account_id_created_at", "account_id", "created_at"),
    Index("ix_webhook_deliveries_source_id_status", "source_id", "status"),
)

webhook_attempts: Final = Table(
    "webhook_attempts",
    metadata,
    Column(
        "delivery_id", ForeignKey("webhook_deliveries.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("status", Integer),
    Column("milliseconds", Integer, nullable=False),
    Column("error", Text),
)

# Who changed what: one chain for each account, and '' for the farm. Rows never change; `hash` covers the
# row and the hash before it. No foreign key: it outlives the account.
audit_log: Final = Table(
    "audit_log",
    metadata,
    Column("account_id", String(64), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False, index=True),
    # The id of a key; operator:… for a key of /v2/admin, and `operator` for the command line.
    Column("actor", String(64), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("details", JSON, nullable=False),
    Column("hash", String(64), nullable=False),
)
