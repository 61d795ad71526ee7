"""Writes the dashboards to `deploy/grafana/dashboards/`; a test fails if they are out of date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from deploy.grafana.boards import BOARDS

FOLDER: Final = Path(__file__).with_name("dashboards")


def write_boards(folder: Path) -> None:
    """Write each dashboard to a JSON file in a folder."""
    for name, board in BOARDS.items():
        text = json.dumps(board, indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_boards(FOLDER)
