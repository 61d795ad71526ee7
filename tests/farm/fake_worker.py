"""A real worker with a scripted engine: the body of a document says how its render goes."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from shared.jobs.records import BodyKind
from workers.engine.diagnostics import (
    AuthoringError,
    Diagnostic,
    Findings,
    Origin,
    Severity,
    SourceLocation,
    SourceSpan,
)
from workers.engine.ports import Rendered, Stage
from workers.farm.main import run_worker
from workers.farm.worker import create_worker_app
from workers.render.inspection import UploadRefusedError
from workers.render.run import Engine


def render(template, payload, *, options, resources=None, observer=None):
    observer(Stage.LAYOUT)
    command, *words = payload.body.decode().split()
    return ACTIONS[command](template, resources, *words)


def validate(template, payload, *, options, resources=None):
    findings = Findings()
    if payload.body != b"fine":
        findings.error("not-fine", payload.body.decode())
    return findings


def inspect(data):
    """Behave as the file says, or as a render does."""
    command, *words = data.decode().split()
    if command == "refuse":
        raise UploadRefusedError("It is damaged.")
    if command == "accept":
        return {"size": int(words[0])}
    return {"size": ACTIONS[command](None, None, *words).pages}


def _pages(_template, _resources, count, size="100"):
    return Rendered(pdf=b"%PDF" + b"x" * int(size), pages=int(count), filename="fake.pdf")


def _sleep(template, resources, seconds, started="/dev/null"):
    with Path(started).open("a") as log:
        log.write(f"{os.getpid()}\n")
    time.sleep(float(seconds))
    return _pages(template, resources, 1)


def _spin(template, resources, seconds):
    """Turn in Python, swallowing every ordinary exception."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        try:
            sum(range(1000))
        except Exception:  # noqa: BLE001 - swallowing is what this one does
            continue
    return _pages(template, resources, 1)


def _hang(template, resources):
    """Stay in C, where no signal handler of Python runs."""
    re.match(r"(a|aa)+$", "a" * 60 + "b")
    return _pages(template, resources, 1)


def _die(_template, _resources, started):
    with Path(started).open("a") as log:
        log.write(f"{os.getpid()}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(template, resources, started):
    if Path(started).exists():
        return _pages(template, resources, 2)
    return _die(template, resources, started)


def _memory(template, resources):
    hoard = [bytearray(64 << 20) for _ in range(1000)]
    return _pages(template, resources, len(hoard))


_KEPT: list[bytearray] = []


def _keep(template, resources):
    """Leave this process without memory."""
    for size in (64 << 20, 1 << 20, 1 << 14):
        with suppress(MemoryError):
            while True:
                _KEPT.append(bytearray(size))
    return _pages(template, resources, 1)


def _reveal(template, resources, file):
    """Write down what code in this process finds: its status, limits and environments."""
    shown = [Path(f"/proc/{pid}/environ").read_bytes() for pid in (os.getpid(), os.getppid())]
    kinds = ("AS", "CPU", "FSIZE", "NPROC", "CORE")
    found = {
        "status": Path("/proc/self/status").read_text(),
        "limits": {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in kinds},
        "environment": [*os.environ, *(each.decode(errors="replace") for each in shown)],
    }
    Path(file).write_text(json.dumps(found))
    return _pages(template, resources, 1)


def _escape(template, resources, file, program, port):
    """Try what a document that took control of this process would, and write down what happened."""
    attempts = {
        "execute": lambda: subprocess.run(["/bin/true"], check=True),
        "write": lambda: Path(program).write_text("changed"),
        "connect": lambda: socket.create_connection(("127.0.0.1", int(port)), 5).close(),
        "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
        "signal": lambda: os.kill(os.getppid(), 0),
        "read": lambda: Path(f"/proc/{os.getppid()}/mem").open("rb").close(),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            found[name] = error.errno
        else:
            found[name] = "done"
    Path(file).write_text(json.dumps(found))
    return _pages(template, resources, 1)


def _deep(template, resources):
    return _deep(template, resources)


def _bug(_template, _resources):
    raise ZeroDivisionError("secret of the document")


def _authoring(_template, _resources):
    place = SourceLocation("p", SourceSpan(3, 5, 3, 20), Origin.PAYLOAD)
    raise AuthoringError(
        (Diagnostic(Severity.ERROR, "no-field", "There is no field x.", (place,)),)
    )


def _image(template, resources, name):
    found = resources.find_image(name)
    return _pages(template, resources, 1 if found is None else len(found))


def _template(template, resources):
    return _pages(template, resources, len(template))


ACTIONS = {
    name.removeprefix("_").replace("_", "-"): call
    for name, call in globals().items()
    if callable(call) and name.startswith("_") and not name.startswith("__")
}

if __name__ == "__main__":
    engine = Engine(
        prepare=lambda source, _: source,
        render=render,
        validate=validate,
        inspectors={BodyKind.IMAGE: inspect},
    )
    run_worker(create_worker_app(engine))
