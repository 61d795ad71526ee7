"""Alembic migrations, applied by `shared.db.migrate`."""
