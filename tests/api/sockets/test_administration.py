"""/v2/admin of a running front: at a port of its own, for the command line, and for a thousand customers at once."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
import urllib3

from deploy.cli.main import main
from shared.settings import Settings
from tests.api.conftest import running_front

KEY = "operator-key-of-32-letters-or-more"
AUTHORIZED = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def ports(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, int]]:
    """The public port of a front, and that of its operators."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own: int = listener.getsockname()[1]
        given = {"PRESSROOM_ADMIN_KEYS": KEY, "PRESSROOM_ADMIN_PORT": str(own)}
        folder = tmp_path_factory.mktemp("administration")
        with running_front(settings, folder, listeners=[listener], **given) as front:
            yield front.port, own


@pytest.fixture
def run(ports, monkeypatch, capsys):
    """Run a command by the URL of the front and return what it prints as JSON."""
    monkeypatch.setenv("PRESSROOM_ADMIN_KEY", KEY)

    def run(*words: str, code: int = 0) -> dict[str, object]:
        assert main([*words, "--url", f"http://127.0.0.1:{ports[1]}", "--json"]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if code == 0 else {"error": printed.err}

    return run


def test_only_its_own_port_serves_the_api_of_operators(ports: tuple[int, int]) -> None:
    public, own = ports
    for host in ("127.0.0.1", f"127.0.0.1:{own}"):  # whatever a client says of the port
        path = f"http://127.0.0.1:{public}/v2/admin/accounts"
        answer = urllib3.request("GET", path, headers={**AUTHORIZED, "Host": host})
        assert answer.status == 404
    path = f"http://127.0.0.1:{own}/v2/admin/accounts"
    assert urllib3.request("GET", path, headers=AUTHORIZED).status == 200


def test_accounts_and_keys_are_administered_by_the_url_of_a_farm(run) -> None:
    made = run("account", "create", "--email", "bo@example.org", "--plan", "paid")
    account = str(made["id"])
    assert str(made["key"]).startswith("pr_")
    changed = run("account", "set", account, "--max-pages", "7", "--disabled")
    assert (changed["max_pages"], changed["is_disabled"]) == (7, True)
    listed = run("account", "list")["accounts"]
    assert {each["account_id"]: each["max_pages"] for each in listed}[account] == 7
    key = run("key", "create", account, "--scopes", "read", "--expires-at", "2031-01-01")
    assert (key["scopes"], key["expires_at"]) == (["read"], "2031-01-01T00:00:00.000Z")
    used = run("account", "usage", account)
    assert used["production"] == {"pages": 0, "renders": 0, "max_pages": 7}
    assert [each["account_id"] for each in run("account", "usage")["accounts"]].count(account) == 1


def test_queues_are_drained_and_resumed_by_the_url_of_a_farm(redis_url, run) -> None:
    drained = run("queue", "drain", "batch", "--wait", "30")
    assert drained == {"name": "batch", "waiting": 0, "running": 0, "is_drained": True}
    assert run("queue", "resume", "batch")["is_drained"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("account", "set", "acc_nobody", "--max-pages", "7"), "acc_nobody"),
        (("account", "usage", "acc_nobody"), "acc_nobody"),
        (("account", "create", "--email", "no address"), "email"),
    ],
)
def test_what_the_farm_refuses_is_one_line(run, words: tuple[str, ...], said: str) -> None:
    error = str(run(*words, code=1)["error"])
    assert said in error
    assert error.count("\n") == 1


def test_the_key_of_an_operator_is_asked_for(ports, monkeypatch, capsys) -> None:
    monkeypatch.delenv("PRESSROOM_ADMIN_KEY", raising=False)
    assert main(["account", "list", "--url", f"http://127.0.0.1:{ports[1]}"]) == 1
    assert "PRESSROOM_ADMIN_KEY" in capsys.readouterr().err
