"""Processes die with the one that started them, come back when they die alone, and stop in time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from deploy.embedded.child import Child, ChildSpec
from deploy.embedded.data_folder import open_folder
from deploy.embedded.plan import configure_server, plan_farm, process_specs
from shared.parent_death import with_parent_death_signal
from tests.waiting import wait_until


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def spec_of(tmp_path, code, *, stop_seconds=30.0):
    return ChildSpec(
        name="part",
        command=[sys.executable, "-c", code],
        environment=dict(os.environ),
        log=tmp_path / "part.log",
        stop_seconds=stop_seconds,
    )


def test_a_death_signal_that_came_too_late_starts_nothing():
    command = with_parent_death_signal(["echo", "started"])
    command[-4] = "1"  # as if the parent had died and another process had taken the child over
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "")


def test_orphans_in_the_group_of_a_dead_process_are_killed(tmp_path):
    code = (
        "import subprocess, time; left = subprocess.Popen(['sleep', '60']);"
        "print(left.pid, flush=True); time.sleep(60)"
    )
    child = Child(spec_of(tmp_path, code))
    pid = child.start()
    wait_until(lambda: (tmp_path / "part.log").read_text().endswith("\n"))
    left = int((tmp_path / "part.log").read_text())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: child.reap() == -signal.SIGKILL)
    wait_until(lambda: not is_alive(left))


def test_a_part_that_will_not_stop_is_killed_when_its_time_is_over(tmp_path):
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(60)"
    )
    child = Child(spec_of(tmp_path, code, stop_seconds=0.3))
    pid = child.start()
    wait_until(lambda: "deaf" in (tmp_path / "part.log").read_text())
    child.request_stop()
    child.stop(wait=lambda: time.sleep(0.02) is None)
    assert not is_alive(pid)


def test_a_part_gets_the_time_to_finish_its_work(tmp_path):
    code = (
        "import signal, time, sys\n"
        "def end(*_):\n    time.sleep(0.3); print('finished', flush=True); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); print('at work', flush=True); time.sleep(60)"
    )
    child = Child(spec_of(tmp_path, code))
    child.start()
    wait_until(lambda: "at work" in (tmp_path / "part.log").read_text())
    child.request_stop()
    child.stop(wait=lambda: time.sleep(0.02) is None)
    assert "finished" in (tmp_path / "part.log").read_text()


def test_only_the_front_gets_the_keys_of_operators(tmp_path):
    folder = open_folder(tmp_path / "farm")
    folder.create()
    server = configure_server(folder.redis)
    plan = plan_farm(folder, [server], given={"PRESSROOM_ADMIN_KEYS": "a" * 32}, workers=1)
    with_key = {
        spec.name
        for spec in process_specs(plan, folder, listener=3)
        if "PRESSROOM_ADMIN_KEYS" in spec.environment
    }
    assert with_key == {"front"}
