"""What an account that keeps nothing sends and receives is in no write to a disk: the system calls of the whole farm are read."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from tests.faults.farm import children_of
from tests.servers import RedisServer
from tests.system.conftest import Account, open_account
from tests.waiting import wait_until

MEMORY = Path("/dev/shm")
WRITES = "write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice,mmap"
KEPT, UNKEPT = "Yellowstone", "Zebraquartz"
JSON = {"Content-Type": "application/json"}
TEMPLATE = (
    '<document title="T {{ word }}"><data><json>{"word": "", "words": [""]}</json></data>'
    '<flow><p>{{ word }}</p><p for="each in words">{{ each }}</p></flow></document>'
)
IN_MEMORY = ("/dev/", "/proc/", "/sys/", "/memfd:")
# What is called, the path of its descriptor in hexadecimal, and the rest.
CALL = re.compile(r"\d+ +(\w+)\([^<]*<((?:\\x..)+)>(.*)")


class Trace:
    """Follows all processes of a farm, and finds texts in what they write to files on disks."""

    def __init__(self, pids: list[int], log: Path) -> None:
        self._log = log
        processes = [f"--attach={pid}" for pid in pids]
        command = ["strace", "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={WRITES}"]
        self._process = subprocess.Popen(
            [*command, "-o", str(log), *processes], stderr=subprocess.DEVNULL
        )

    def end(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def written(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the text, in hexadecimal, of each write to a file on a disk."""
        with self._log.open() as lines:
            for call in filter(None, map(CALL.match, lines)):
                path = bytes.fromhex(call[2].replace("\\x", "")).decode()
                if path.startswith(IN_MEMORY) or not path.startswith("/"):
                    continue
                if call[1] != "mmap" or {"PROT_WRITE", "MAP_SHARED"} <= set(
                    re.split(r"\W", call[3])
                ):
                    yield path, call[3].replace("\\x", "")

    def find(self, *parts: bytes) -> set[str]:
        """Return the files that a write with one of the parts went to."""
        plain = [part.hex() for part in parts]
        # Messages have bodies in base 64, and are in base 64.
        coded = [inner for part in parts for inner in in_base64(part)]
        sought = plain + [text.hex() for inner in coded for text in (inner, *in_base64(inner))]
        return {path for path, text in self.written() if any(part in text for part in sought)}


def in_base64(part: bytes) -> list[bytes]:
    """Return what a text has in base 64 that has a part at any place."""
    rests = [part[skipped:] for skipped in range(3)]
    return [b64encode(rest[: len(rest) // 3 * 3]) for rest in rests]


@contextmanager
def traced(farm: LaunchedFarm, log: Path) -> Iterator[Trace]:
    trace = Trace(processes_of(farm), log)
    try:
        yield trace
        for pid in processes_of(farm):
            assert "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()
    finally:
        trace.end()


def processes_of(farm: LaunchedFarm) -> list[int]:
    pids = [farm.supervisor.pid]
    for pid in pids:
        pids += children_of(pid)  # and theirs
    return pids


def send(account: Account, word: str) -> list[bytes]:
    """Send a word in each way that needs no record, in bodies of all sizes, and return the PDFs."""

    def ask(path: str, body: bytes, status: int = 200, **headers: str) -> bytes:
        answer = account.request("POST", path, body, headers={"Content-Type": "text/xml"} | headers)
        assert answer.status == status, (path, answer.status, answer.body[:300])
        return answer.body

    made = json.loads(ask("/v2/templates?name=T", TEMPLATE.encode(), 201))["id"]
    generator = random.Random(word)
    pdfs = []
    for size in (1, 1000, 2000):
        words = [generator.randbytes(32).hex() for _ in range(size)]
        data = json.dumps({"word": word, "words": words}).encode()
        pdfs.append(ask(f"/v2/pdf?template={made}", data, **JSON))
    document = f'<document title="{word}"><flow><p>{word}</p></flow>'
    comment = f"<!--{word}{'x' * 4_200_000}-->"
    pdfs += [ask("/v2/pdf", f"{document}{text}</document>".encode()) for text in ("", comment)]
    ask("/v2/pdf", f"{document}<{word}/></document>".encode(), 400)
    ask("/v2/validate", f"{document}<{word}/></document>".encode())
    preview = {"template": TEMPLATE, "payload": {"word": word, "words": [word]}}
    ask("/v2/preview", json.dumps(preview).encode(), **JSON)
    assert [len(pdf) > 64_000 for pdf in pdfs] == [False, True, True, False, False]
    return pdfs


def parts_of(pdfs: list[bytes]) -> list[bytes]:
    """Return parts of each PDF from its beginning to its end."""
    return [pdf[at : at + 24] for pdf in pdfs for at in range(200, len(pdf) - 24, len(pdf) // 10)]


def test_nothing_of_an_account_that_keeps_nothing_is_written_to_a_disk(tmp_path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(dir=MEMORY) as memory,
        RedisServer(tmp_path, is_kept=False) as server,
        launched_farm(
            tmp_path / "farm",
            environment={"PRESSROOM_MEMORY_REDIS_URL": server.url, "TMPDIR": memory},
        ) as farm,
    ):
        assert farm.command("status")["stores"]["memory_redis"]
        kept, unkept = (open_account(farm, plan="paid", name=name) for name in ("A", "B"))
        farm.command("account", "set", unkept.id, "--result-hours", "0")
        with traced(farm, tmp_path / "trace") as trace:
            document = f"<document><flow><p>{KEPT}</p></flow></document>"
            wait_until(lambda: kept.render(document) and trace.find(KEPT.encode()), pause=1)
            seen, pdfs = send(kept, KEPT), send(unkept, UNKEPT)
        found = trace.find(KEPT.encode())
        assert any("/redis/" in path for path in found), found
        assert any("/blobs/" in path for path in found), found
        assert trace.find(*parts_of(seen))
        # Fonts and metadata are the same in PDFs of both.
        own = [part for part in parts_of(pdfs) if not any(part in pdf for pdf in seen)]
        assert len(own) > 15
        assert trace.find(UNKEPT.encode(), *own) == set()
