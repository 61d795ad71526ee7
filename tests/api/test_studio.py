"""The static files of the Studio: caching, security headers, and missing files."""

from __future__ import annotations

import gzip
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from api.studio.routes import load_files

MOST_AT_FIRST = 200 * 1024


def test_the_page_is_revalidated_each_time(stranger):
    for path in ("/studio", "/studio/", "/studio/index.html"):
        answer = stranger.get(path)
        assert answer.status_code == 200
        assert answer.content_type == "text/html; charset=utf-8"
        assert answer.headers.get_all("Cache-Control") == ["no-cache"]
        again = stranger.get(path, headers={"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304
        assert again.data == b""


def test_files_with_a_digest_in_their_name_are_immutable(stranger):
    names = sorted(load_files())
    assert "index.html" in names
    for name in names:
        answer = stranger.get(f"/studio/{name}")
        assert answer.status_code == 200
        if not name.endswith((".html", ".txt")):
            assert "immutable" in answer.headers["Cache-Control"], name


def test_files_are_compressed_for_clients_that_accept_it(stranger):
    packed = stranger.get("/studio", headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip"
    plain = stranger.get("/studio", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.data) == plain.data
    assert "Accept-Encoding" in packed.headers["Vary"]


@pytest.mark.parametrize(
    "path", ["..%2froutes.py", "routes.py", ".", "..", "%00", "index.html%00", "static/index.html"]
)
def test_nothing_else_is_there(stranger, path):
    assert stranger.get(f"/studio/{path}").status_code in (200, 400, 404)
    assert b"import" not in stranger.get(f"/studio/{path}").data[:200]


def test_pages_run_only_their_own_scripts(stranger):
    for path in ("/studio", "/studio/nothing.js"):
        headers = stranger.get(path).headers
        if path == "/studio":
            policy = headers["Content-Security-Policy"]
            assert "unsafe" not in policy
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "require-trusted-types-for 'script'" in policy
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_has_no_script_or_style_of_its_own(stranger):
    page = stranger.get("/studio").get_data(as_text=True)
    assert not re.search(r"<style|<script>| on[a-z]+=| style=|javascript:|https?://", page)
    named = re.findall(r'(?:src|href)="/studio/([^"]+)"', page)
    assert len(named) >= 2
    assert set(named) <= set(load_files())


def test_modules_of_the_page_import_in_one_direction():
    """Types too: a circle would tie modules together that can be read alone. Views loaded later are no import."""
    source = Path(__file__).parents[2] / "api/studio/source"
    files = [*source.glob("**/*.ts"), *source.glob("**/*.tsx")]
    modules = {file for file in files if "node_modules" not in file.parts}
    imports = {file: set(find_imports(file)) & modules for file in modules}
    assert sum(map(len, imports.values())) > 100
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        names = [str(file.relative_to(source)) for file in error.args[1]]
        pytest.fail(f"imports in a circle: {' > '.join(names)}")


def find_imports(file):
    for name in re.findall(
        r'^(?:import|export)\b[^;"]*"(\.[^"]+)"', file.read_text(), re.MULTILINE
    ):
        path = (file.parent / name).resolve()
        yield from (path.with_name(f"{path.name}.ts"), path.with_name(f"{path.name}.tsx"))
        yield path / "index.tsx"


def test_a_first_visit_loads_little(stranger):
    page = stranger.get("/studio").get_data(as_text=True)
    named = re.findall(r'(?:src|href)="/studio/([^"]+)"', page)
    assert sum(len(load_files()[name].gzipped) for name in named) < MOST_AT_FIRST
    of_studio = [file for name, file in load_files().items() if not name.startswith("site")]
    assert sum(len(file.gzipped) for file in of_studio) < MOST_AT_FIRST + 105 * 1024
