"""The developer's account of an embedded farm: created once for each data folder, shown at each start.

Only here is a key stored as plain text, in a private file, for convenience on a development machine;
otherwise only the digest of a key is stored.
"""

from __future__ import annotations

from pathlib import Path

from deploy.embedded.data_folder import DataFolder, FarmRecord, write_private
from shared.auth.accounts import create_account
from shared.db.session import open_database

_DOCUMENT = "<document><flow><h1>Hello</h1><p>From Pressroom.</p></flow></document>"


def describe_developer_account(folder: DataFolder, record: FarmRecord) -> list[str]:
    """Return lines with the developer's key and a request to paste into a terminal."""
    file = folder.path / "developer-key"
    if not file.exists():
        _make_account(record.database_url, file)
    key = file.read_text().strip()
    return [
        f"try it in another terminal, with the developer's key (kept in {file}):",
        f"  export PRESSROOM_URL={record.url} PRESSROOM_KEY={key}",
        "  curl -sS -H \"Authorization: Bearer $PRESSROOM_KEY\" -H 'Content-Type: text/xml' \\",
        f"    -d '{_DOCUMENT}' -o hello.pdf $PRESSROOM_URL/v2/pdf",
    ]


def _make_account(database_url: str, file: Path) -> None:
    database = open_database(database_url)
    try:
        with database.session() as session:
            made = create_account(
                session, email="developer@localhost", name="Developer", plan="paid"
            )
    finally:
        database.close()
    write_private(file, made.api_key + "\n")
