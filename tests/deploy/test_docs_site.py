"""`make docs` builds the pages as a site with one search."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_site_has_all_pages_in_its_search_and_loads_nothing_from_elsewhere():
    environment = {"PATH": os.environ["PATH"], "NO_COLOR": "1"}
    command = ["make", "docs", "DEV_READY=", f"VENV={sys.prefix}"]
    built = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = ROOT / "build/docs/site"
    search = (site / "search.json").read_text()
    for page in re.findall(r'= "(\S+\.md)"', (ROOT / "deploy/docs/zensical.toml").read_text()):
        built = page.replace("README.md", "index.html").replace(".md", ".html")
        assert (site / built).is_file()
        assert built.removesuffix("index.html") in search
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link rel=.?(?:stylesheet|icon))[^>]+(?:src|href)=.?https?:[^>]+",
            page.read_text(),
        )
        assert loaded == [], page
