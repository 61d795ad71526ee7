"""The command line: each command is there by itself, and loads no more than it needs."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from deploy.cli.commands import COMMANDS, build_parser
from deploy.cli.main import EXPECTED_ERRORS, main


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_has_its_function(words):
    module, _, function = COMMANDS[words].run.partition(".")
    assert callable(getattr(import_module(f"deploy.cli.{module}"), function))


@pytest.mark.parametrize(
    ("command", "without"), [("documents", ("sqlalchemy", "redis")), ("batch", ("sqlalchemy",))]
)  # fmt: skip
def test_a_command_of_a_client_loads_nothing_of_the_farm(command, without):
    script = (
        "import importlib, sys, deploy.cli.main; importlib.import_module('deploy.cli.' + sys.argv[1]);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, command], check=True, capture_output=True, text=True
    )
    assert not set(without) & set(done.stdout.split())


DATABASE_ALONE = ("redis", "structlog", "prometheus_client", "opentelemetry")


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (("account", "create", "--email", "a@example.org"), DATABASE_ALONE),
        (("account", "list"), DATABASE_ALONE),
        (("key", "list", "acc_none"), DATABASE_ALONE),
        (("job", "show", "job_none"), DATABASE_ALONE),
        (("ledger", "export"), DATABASE_ALONE),
        (("status",), DATABASE_ALONE),
        (("queue", "drain", "batch"), DATABASE_ALONE[2:-1]),
    ],
    ids=lambda words: words[0],
)
def test_a_command_loads_only_the_modules_it_uses(arguments, without, tmp_path, sqlite_url):
    folder = tmp_path / "farm"
    folder.mkdir()
    Path(sqlite_url.removeprefix("sqlite:///")).rename(folder / "pressroom.sqlite3")
    script = (
        "import sys; from deploy.cli.main import main; main(sys.argv[1:]);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments, "--data", str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert not set(without) & set(done.stdout.splitlines()[-1].split())


@pytest.mark.long
def test_an_expected_error_is_printed_in_one_line(tmp_path):
    for arguments in (("key", "list", "acc_none"), ("queue", "drain", "batch")):
        done = subprocess.run(
            [sys.executable, "-m", "deploy.cli.main", *arguments, "--data", str(tmp_path / "farm")],
            check=False,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize(("module", "name"), EXPECTED_ERRORS)
def test_the_expected_errors_exist_in_their_modules(module, name):
    assert issubclass(getattr(import_module(module), name), Exception)


def test_an_unknown_command_lists_the_known_ones(capsys):
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["fold"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "'fold'" in told
    assert all(name in told for name in ("account", "batch", "render", "up"))


def test_the_version_is_that_of_the_distribution(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pressroom {version('pressroom')}\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pressroom vali", {"validate"}),
        ("pressroom account cre", {"create"}),
        ("pressroom account create --pl", {"--plan"}),
        ("pressroom account create --plan p", {"paid"}),
    ],
)
def test_a_shell_completes_commands_options_and_values(tmp_path, line, expected):
    written = tmp_path / "completions"
    environment = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(written),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = [sys.executable, "-m", "deploy.cli.main"]
    subprocess.run(command, env=os.environ | environment, check=True, timeout=60)
    assert set(written.read_text().split("\n")) == expected


@pytest.mark.parametrize(
    ("given", "near"),
    [
        (("rendr",), "render"),
        (("account", "crate"), "create"),
        (("account", "create", "--plan", "paied"), "paid"),
    ],
)
def test_a_slip_is_answered_with_what_is_near(capsys, given, near):
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"; did you mean {near}?\n")
