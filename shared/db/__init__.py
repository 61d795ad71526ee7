"""The database: units of work, tables and their migration."""
