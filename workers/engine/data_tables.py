"""Tables in text files beside the code that reads them: an entry a line, its name before a colon."""

from __future__ import annotations

from importlib.resources import files


def read_table(package: str, file: str) -> dict[str, str]:
    """Return the values of a table by name, in its order; lines that begin with # are comments."""
    lines = files(package).joinpath(file).read_text("utf-8").splitlines()
    entries = (line.partition(":") for line in lines if not line.startswith("#"))
    return {name: value.strip() for name, _, value in entries}


def read_groups(package: str, file: str) -> dict[str, dict[str, str]]:
    """Return the entries of a table by the first word of their names, each by the rest of its name."""
    groups: dict[str, dict[str, str]] = {}
    for entry, value in read_table(package, file).items():
        group, _, name = entry.partition(" ")
        groups.setdefault(group, {})[name] = value
    return groups
