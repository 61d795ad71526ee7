"""Runs migrations on the connection of `shared.db.migrate`, which holds the lock."""

from __future__ import annotations

from alembic import context

from shared.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
