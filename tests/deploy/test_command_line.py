"""The command line: each command is there by itself, and loads no more than it needs."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from deploy.cli.main import build_parser, main
from tests.commands import subcommands_of


@pytest.mark.parametrize("name", subcommands_of(build_parser()))
def test_a_command_that_is_named_has_the_same_arguments_as_among_all(name):
    alone = subcommands_of(build_parser(name))[name]
    assert alone.format_help() == subcommands_of(build_parser())[name].format_help()


@pytest.mark.parametrize(
    ("command", "without"), [("render", ("sqlalchemy", "redis", "pydantic")), ("batch", ("sqlalchemy",))]
)  # fmt: skip
def test_a_command_of_a_client_loads_nothing_of_the_farm(command, without):
    script = (
        "import sys; from deploy.cli.main import build_parser; build_parser(sys.argv[1]);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, command], check=True, capture_output=True, text=True
    )
    assert not set(without) & set(done.stdout.split())


def test_an_unknown_command_is_refused_with_all_that_are_known(capsys):
    with pytest.raises(SystemExit) as ended:
        build_parser("fold").parse_args(["fold"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "'fold'" in told
    assert all(name in told for name in ("account", "batch", "render", "up"))


def test_the_version_is_that_of_the_distribution(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pressroom {version('pressroom')}\n"
