"""The database: units of work, tables, and the repositories over them."""
