"""`pressroom up` says what is wrong before it starts anything, and keeps a developer's key."""

import os
import signal
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from deploy.embedded.demo.show import NotReady, launch_farm, pressroom
from deploy.embedded.plan import ROOT
from shared.parent_death import with_parent_death_signal
from tests.waiting import wait_until


def test_a_second_farm_on_the_folder_is_refused_with_the_first_ones_address(farm):
    with pytest.raises(NotReady, match="is in use") as refused:
        launch_farm(farm.folder.path, environment={})
    assert farm.record.url in str(refused.value)


def test_a_port_that_is_taken_is_named(farm, tmp_path):
    port = farm.record.ports["front"]
    with pytest.raises(NotReady, match=f"port {port} cannot be opened"):
        launch_farm(tmp_path, port=port, environment={})


def test_a_wrong_setting_is_named_and_nothing_is_left_running(tmp_path):
    with pytest.raises(NotReady, match=r"PRESSROOM_RENDER_BUDGET: .*float"):
        launch_farm(tmp_path, environment={"PRESSROOM_RENDER_BUDGET": "soon"})


def test_an_unavailable_database_stops_the_start_with_a_message(tmp_path):
    url = "postgresql+psycopg://absent@127.0.0.1:1/none"
    with pytest.raises(NotReady, match="The database is not available"):
        launch_farm(tmp_path, environment={"PRESSROOM_DATABASE_URL": url})


def test_the_seeded_key_is_shown_again_and_stored_in_a_private_file(tmp_path):
    shown = [run_seeded(tmp_path) for _ in range(2)]
    key = (tmp_path / "developer-key").read_text().strip()
    assert stat.S_IMODE((tmp_path / "developer-key").stat().st_mode) == 0o600
    assert all(f" PRESSROOM_KEY={key}\n" in lines for lines in shown)


def run_seeded(folder):
    """Run `up --seed` until its request line is shown, as `make run` does, and end it with Ctrl-C."""
    command = with_parent_death_signal(
        pressroom("up", "--data", str(folder), "--port", "0", "--seed")
    )
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    with process:
        lines = []
        while "is ready" not in "".join(lines[-1:]):
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        assert (folder / "developer-key").read_text().startswith("pr_")
        while "/v2/pdf" not in "".join(lines[-1:]):
            line = process.stdout.readline()
            assert line, lines
            lines.append(line)
        process.send_signal(signal.SIGINT)
        lines.append(process.stdout.read())
    assert process.returncode == 0
    return "".join(lines)


def test_a_dead_process_is_restarted_and_the_restart_recorded(farm):
    before = farm.folder.read_record()
    os.kill(before.processes["background"], signal.SIGKILL)
    gone = {None, before.processes["background"]}
    wait_until(lambda: farm.folder.read_record().processes.get("background") not in gone)
    after = farm.folder.read_record()
    assert after.restarts["background"] == before.restarts["background"] + 1
    assert after.processes["redis"] == before.processes["redis"]


def test_nothing_of_a_farm_listens_beyond_this_machine(farm):
    """Every socket of its processes is bound to loopback: metrics name accounts."""
    own = {f"{port:04X}" for port in farm.record.ports.values()}
    # A process that was just started again is not listening yet.
    wait_until(lambda: own <= {port for _, port in listening(farm)})
    # 127.0.0.1, as the kernel writes it; Redis and the fetcher have ports beside those of the record.
    assert {address for address, _ in listening(farm)} == {"0100007F"}
    assert len({port for _, port in listening(farm)}) > len(own)


def listening(farm) -> list[tuple[str, str]]:
    """Return the address and the port, in hexadecimal, of every listening socket of a farm."""
    processes = farm.folder.read_record().processes.values()
    files = chain.from_iterable(Path(f"/proc/{pid}/fd").iterdir() for pid in processes)
    sockets = set()
    for file in files:
        with suppress(FileNotFoundError):
            sockets.add(str(file.readlink()))
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path("/proc/net", table).read_text().splitlines()[1:]
    ]
    found = [line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]
    return [(each.partition(":")[0], each.partition(":")[2]) for each in found]


def test_a_request_that_arrives_between_two_farms_waits_in_the_socket_that_systemd_holds(tmp_path):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/healthz"
        with activated(listener, tmp_path):
            assert urlopen(url, timeout=30).status == 200
        with ThreadPoolExecutor(1) as clients:
            waiting = clients.submit(urlopen, url, timeout=60)
            with activated(listener, tmp_path):
                assert waiting.result().status == 200


def test_a_restart_by_signal_refuses_no_request_and_keeps_the_process(tmp_path):
    command = [*pressroom("up", "--data", str(tmp_path), "--port", "0")]
    with subprocess.Popen(
        with_parent_death_signal(command, death_signal=signal.SIGTERM),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:
        url = process.stdout.readline().split()[-1] + "/healthz"
        process.send_signal(signal.SIGUSR2)
        said = []
        while not said or "is ready" not in said[-1]:
            assert urlopen(url, timeout=60).status == 200
            said += [process.stdout.readline()]
        assert any("stopping" in line for line in said)
        assert f"{urlsplit(url).netloc}" in said[-1]
        process.terminate()
    assert process.returncode == 0


@contextmanager
def activated(listener, folder):
    """Run `up` with the socket as its descriptor 3, as systemd starts the service of a socket unit."""
    passes = "import os, sys; os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')\n"
    passes += "os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"
    up = pressroom("up", "--data", str(folder), "--port", "1")
    process = subprocess.Popen(
        with_parent_death_signal(
            [sys.executable, "-c", passes, str(listener.fileno()), *up], death_signal=signal.SIGTERM
        ),
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=[listener.fileno()],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    with process:
        assert "is ready" in process.stdout.readline()
        yield
        process.terminate()
    assert process.returncode == 0
