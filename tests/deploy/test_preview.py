"""`pressroom preview`: local pages over HTTP, drawn again when a file changes, for this machine only."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
from PIL import Image

from deploy.cli.commands import build_parser
from deploy.cli.main import main
from deploy.cli.preview import make_server
from deploy.tools.preview.drawing import WatchedFiles

GOOD = "<document><page size='A6'/><flow><p>{{ name }}</p></flow></document>"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "letter.xml").write_text(GOOD)
    (tmp_path / "data.json").write_text('{"name": "Ada"}')
    return tmp_path


@pytest.fixture
def server(folder):
    given = ["preview", str(folder / "letter.xml"), "--data", str(folder / "data.json")]
    with make_server(build_parser().parse_args(given)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def get(server, path, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    headers = {"Host": host} if host else {}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer, data


def read_state(server, seen=""):
    return json.loads(get(server, f"/state?seen={seen}")[1])


def read_until(server, state, is_reached):
    """Return the first state after `state` that is as expected; each request waits for a change."""
    for _ in range(4):
        state = read_state(server, state["revision"])
        if is_reached(state):
            return state
    raise AssertionError(state)


def names(state, text):
    return any(text in finding["message"] for finding in state["findings"])


def test_pages_and_findings_follow_the_files(server, folder):
    first = read_state(server)
    assert (first["title"], first["pages"], first["findings"]) == ("letter.xml", 1, [])
    answer, data = get(server, "/pages/1.png?scale=0.5")
    assert answer.headers["Content-Type"] == "image/png"
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == (149, 210)
    assert get(server, "/pages/2.png")[0].status == 404
    # A change is answered to a request that waits for it.
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(read_until, server, first, lambda state: names(state, "colour"))
        (folder / "letter.xml").write_text(GOOD.replace("<p>", "<p colour='red'>"))
        second = waiting.result(60)
    assert second["pages"] == 0
    [finding] = second["findings"]
    assert (finding["file"], finding["line"], finding["severity"]) == ("letter.xml", 1, "error")
    (folder / "data.json").write_text("{")
    broken = read_until(server, second, lambda state: names(state, "payload"))
    (folder / "letter.xml").unlink()
    gone = read_until(server, broken, lambda state: names(state, "letter.xml"))
    assert gone["pages"] == 0
    (folder / "letter.xml").write_text(GOOD)
    (folder / "data.json").write_text('{"name": "Bo"}')
    assert read_until(server, gone, lambda state: not state["findings"])["pages"] == 1


def test_a_file_that_an_editor_replaces_is_followed(server, folder):
    # Most editors write another file and rename it over the first.
    state = read_state(server)
    for name in ("first", "second", "third"):
        (folder / "letter.xml~").write_text(GOOD.replace("<p>", f"<p {name}='1'>"))
        (folder / "letter.xml~").replace(folder / "letter.xml")
        state = read_until(server, state, lambda state, name=name: names(state, name))


def test_a_folder_that_is_moved_and_made_again_is_followed(server, folder):
    state = read_state(server)
    folder.rename(folder.parent / "elsewhere")
    state = read_until(server, state, lambda state: names(state, "letter.xml"))
    folder.mkdir()
    (folder / "data.json").write_text("{}")
    (folder / "letter.xml").write_text(GOOD.replace("{{ name }}", "Here again"))
    state = read_until(server, state, lambda state: state["pages"] == 1)
    (folder / "letter.xml").write_text(GOOD.replace("<p>", "<p colour='red'>"))
    assert read_until(server, state, lambda state: names(state, "colour"))["pages"] == 0


def test_images_fonts_and_linked_templates_are_followed_and_other_files_are_not(tmp_path):
    files = WatchedFiles([tmp_path / "letter.xml"], [tmp_path / "images"])
    for name in ("letter.xml", "images", "images/logo.svg", "images/face.woff2", "images/t.xml"):
        seen = files.revision
        (tmp_path / "notes.txt").write_text("not of the document")
        path = tmp_path / name
        path.write_text("") if path.suffix else path.mkdir()
        assert (files.revision != seen) == bool(path.suffix)


def test_a_change_that_keeps_the_size_and_one_behind_a_link_are_noticed(tmp_path):
    (tmp_path / "far.xml").write_text("first")
    (tmp_path / "near.xml").symlink_to(tmp_path / "far.xml")
    files = WatchedFiles([tmp_path / "near.xml"])
    seen = files.revision
    (tmp_path / "new.xml").write_text("other")
    (tmp_path / "new.xml").replace(tmp_path / "far.xml")
    assert files.revision != seen


def test_a_request_that_waits_ends_with_the_watch(tmp_path):
    files = WatchedFiles([tmp_path / "x.xml"])
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(files.wait_for_change, files.revision, 600)
        files.stop()
        waiting.result(60)


def test_content_that_does_not_fit_still_has_its_page(server, folder):
    wide = "<p height='900mm'>Too tall</p>"
    (folder / "letter.xml").write_text(GOOD.replace("<p>{{ name }}</p>", wide))
    state = read_state(server)
    assert state["findings"]
    assert state["pages"] >= 1
    assert get(server, "/pages/1.png")[0].status == 200


def test_other_sites_and_other_files_get_nothing(server):
    port = server.server_port
    assert server.server_address[0] == "127.0.0.1"
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.x:1", f"0.0.0.0:{port}"):
        assert get(server, "/state", host=host)[0].status == 400
    for host in (f"localhost:{port}", "127.0.0.1:8080"):  # and through an editor in a browser
        assert get(server, "/", host=host)[0].status == 200
    for path in ("/page/page.js", "/../drawing.py", "/data.json", "/pages/0.png", "/pages/1.pdf"):
        assert get(server, path)[0].status == 404
    for scale in ("0", "9", "x", "1e3", "nan"):
        assert get(server, f"/pages/1.png?scale={scale}")[0].status == 400
    answer, data = get(server, "/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert b"page.js" in data
    assert "javascript" in get(server, "/page.js")[0].headers["Content-Type"]


def test_files_that_cannot_be_combined_are_an_error(folder, capsys):
    assert main(["preview", str(folder / "missing.xml"), "--data", str(folder / "data.json")]) == 1
    assert "missing.xml" in capsys.readouterr().err
    assert main(["preview"]) == 1
    assert main(["preview", str(folder / "letter.xml"), "--port", "70000"]) == 1
    assert "70000" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_stops_on_a_signal(folder, number):
    files = [str(folder / "letter.xml"), "--data", str(folder / "data.json")]
    command = [sys.executable, "-m", "deploy.cli.main", "preview", *files]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        port = int(process.stdout.readline().rpartition("127.0.0.1:")[2].partition("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/state")
        assert json.loads(connection.getresponse().read())["pages"] == 1
        process.send_signal(number)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        connection.close()
