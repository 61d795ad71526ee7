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

from deploy.cli.main import build_parser, main
from deploy.cli.preview import make_server

GOOD = "<document><page size='A6'/><flow><p>{{ name }}</p></flow></document>"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "letter.xml").write_text(GOOD)
    (tmp_path / "data.json").write_text('{"name": "Ada"}')
    return tmp_path


@pytest.fixture
def server(folder):
    given = ["preview", str(folder / "letter.xml"), "--data", str(folder / "data.json")]
    with make_server(build_parser("preview").parse_args(given)) as server:
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
        waiting = pool.submit(read_state, server, first["revision"])
        (folder / "letter.xml").write_text(GOOD.replace("<p>", "<p colour='red'>"))
        second = waiting.result(60)
    assert second["pages"] == 0
    [finding] = second["findings"]
    assert "colour" in finding["message"]
    assert (finding["file"], finding["line"], finding["severity"]) == ("letter.xml", 1, "error")
    (folder / "data.json").write_text("{")
    assert read_state(server, second["revision"])["revision"] != second["revision"]
    (folder / "letter.xml").unlink()
    gone = read_state(server, second["revision"])
    assert gone["pages"] == 0
    assert "letter.xml" in gone["findings"][0]["message"]
    (folder / "letter.xml").write_text(GOOD)
    (folder / "data.json").write_text('{"name": "Bo"}')
    assert read_state(server, gone["revision"])["pages"] == 1


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
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"0.0.0.0:{port}"):
        assert get(server, "/state", host=host)[0].status == 403
    assert get(server, "/", host=f"localhost:{port}")[0].status == 200
    for path in ("/page/page.js", "/../drawing.py", "/data.json", "/pages/0.png", "/pages/1.pdf"):
        assert get(server, path)[0].status == 404
    for scale in ("0", "9", "x", "1e3", "nan"):
        assert get(server, f"/pages/1.png?scale={scale}")[0].status == 400
    answer, data = get(server, "/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert b"page.js" in data
    assert get(server, "/page.js")[0].headers["Content-Type"].startswith("text/javascript")


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
