"""The steps from one shape of the tables to the next; applied by shared.db.migrate."""
