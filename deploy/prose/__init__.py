"""The check of plain English in docstrings, comments and messages; `make lint` runs it."""
