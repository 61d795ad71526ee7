"""The page that is served is the one that its sources give."""

import subprocess
from pathlib import Path

from tests.system.services.studio.conftest import SOURCE


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_sources_give_the_files_that_are_served_byte_for_byte(built, tmp_path):
    subprocess.run(["node", "build.mjs", str(tmp_path / "out")], cwd=built, check=True, timeout=120)
    fresh, served = read(tmp_path / "out"), read(SOURCE.with_name("static"))
    assert fresh.keys() == served.keys(), "run: make studio"
    assert [name for name in fresh if fresh[name] != served[name]] == [], "run: make studio"


def test_the_types_of_the_sources_hold(built):
    ended = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
        cwd=built,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout


def test_no_source_makes_markup_of_text():
    for path in SOURCE.rglob("*.ts*"):
        if "node_modules" not in path.parts:
            text = path.read_text()
            for word in ("innerHTML", "dangerouslySetInnerHTML", "document.write", "eval("):
                assert word not in text, path


def test_the_lock_names_no_host():
    assert "://" not in "\n".join(
        line
        for line in (SOURCE / "package-lock.json").read_text().splitlines()
        if '"url"' not in line
    )
