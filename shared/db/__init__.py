"""The database: units of work, tables and migrations."""
