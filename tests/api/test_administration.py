"""/v2/admin: for keys of an operator alone; and /v2/audit, in which all changes are."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from api.app import create_app
from deploy.cli.main import main
from shared.auth import audit
from shared.auth.accounts import find_key_state
from shared.clock import now
from shared.errors import Unavailable
from shared.identifiers import digest_api_key
from tests.conftest import with_settings

KEY = "operator-key-of-32-letters-or-more"
NEW = {"email": "bo@example.org", "reference": "customer 7", "plan": "paid", "max_pages": 5}


@pytest.fixture
def operator(ports):
    app = create_app(with_settings(ports, admin_keys=KEY))
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {KEY}"
    return client


def as_account(client, key):
    return {"headers": {"Authorization": f"Bearer {key}"}}


def test_without_a_key_that_is_set_there_is_no_admin_api(caller, stranger):
    for client in (caller, stranger):
        assert client.get("/v2/admin/accounts").status_code == 404


@pytest.mark.parametrize("key", ["", "pr_" + "a" * 40, KEY[:-1], KEY + "x", "\udcff"])
def test_another_key_is_refused_whatever_the_path(operator, account, key):
    for path in ("/v2/admin/accounts", "/v2/admin/nothing"):
        for given in (key.encode("utf-8", "surrogateescape").decode("latin-1"), account.api_key):
            answer = operator.get(path, **as_account(operator, given))
            assert answer.status_code == 401
    assert operator.get("/v2/account").status_code == 401  # the operator has no account


def test_accounts_are_created_once_by_their_reference(operator):
    first = operator.post("/v2/admin/accounts", json={"accounts": [NEW, {"email": "a@b.example"}]})
    assert first.status_code == 200, first.json
    made, other = first.json["accounts"]
    assert (made["is_new"], other["is_new"]) == (True, True)
    assert operator.get("/v2/account", **as_account(operator, made["key"])).json["plan"] == "paid"
    again = operator.post("/v2/admin/accounts", json={"accounts": [NEW]}).json["accounts"][0]
    assert again == {"id": made["id"], "is_new": False, "reference": "customer 7"}
    listed = operator.get("/v2/admin/accounts?limit=1").json
    assert len(listed["accounts"]) == 1
    assert listed["next_cursor"] == listed["accounts"][0]["id"]


@pytest.mark.parametrize(
    ("accounts", "part"),
    [
        ([], "1 to 1000"),
        ([{"email": "x"}], "email: 'x' is not an address"),
        ([NEW, NEW], "two of the accounts"),
        ([{"email": "a@b.example", "pages": 3}], "unknown field `pages`"),
        ([{"email": "a@b.example", "plan": "gold"}], "plan: 'gold'"),
        ([{"email": "a@b.example", "rate_limit": "fast"}], "rate_limit"),
    ],
)
def test_of_a_call_with_an_error_nothing_is_created(operator, accounts, part):
    before = operator.get("/v2/admin/accounts").json
    answer = operator.post("/v2/admin/accounts", json={"accounts": accounts})
    assert (answer.status_code, part in answer.json["message"]) == (400, True), answer.json
    assert operator.get("/v2/admin/accounts").json == before


@pytest.mark.parametrize("date", ["2026-02-30", "9999-12-15", "0001-01-01"])
def test_a_day_whose_billing_period_is_beyond_the_calendar_is_400(operator, date):
    assert operator.get(f"/v2/admin/usage?date={date}").status_code == 400


def test_a_thousand_accounts_are_created_in_one_call(operator, database):
    given = [{"email": f"c{n}@example.org", "reference": f"c{n}"} for n in range(1000)]
    made = operator.post("/v2/admin/accounts", json={"accounts": given}).json["accounts"]
    assert len({each["id"] for each in made}) == len({each["key"] for each in made}) == 1000
    with database.session() as session:
        state = find_key_state(session, digest_api_key(made[999]["key"]))
        assert state.account_id == made[999]["id"]
    lines = operator.get("/v2/admin/usage").get_data(as_text=True).splitlines()
    rows = operator.get("/v2/admin/usage?format=csv").get_data(as_text=True).splitlines()
    assert len(rows) - 1 == len(lines) >= 1000


def test_changes_of_an_account_apply_to_the_next_request(operator, account):
    path = f"/v2/admin/accounts/{account.account_id}"
    own = as_account(operator, account.api_key)
    assert operator.get("/v2/authcheck", **own).status_code == 200
    assert operator.patch(path, json={"disabled": True}).json["is_disabled"]
    assert operator.get("/v2/authcheck", **own).status_code == 403
    assert operator.patch(path, json={"disabled": False, "plan": "paid"}).json["plan"] == "paid"
    assert operator.get("/v2/authcheck", **own).status_code == 200
    for refused in ({"plan": "gold"}, {"disabled": None}):
        assert operator.patch(path, json=refused).status_code == 400
    assert operator.patch("/v2/admin/accounts/acc_none", json={}).status_code == 404
    key = operator.post(f"{path}/keys", json={"scopes": ["read"]}).json
    new = as_account(operator, key["key"])
    assert operator.get("/v2/authcheck", **new).status_code == 200
    assert operator.delete(f"{path}/keys/{key['id']}").status_code == 204
    assert operator.get("/v2/authcheck", **new).status_code == 401
    assert operator.delete(f"{path}/keys/key_none").status_code == 404


def test_a_limit_of_processor_time_applies_to_the_next_request_and_is_lifted(operator, account):
    path = f"/v2/admin/accounts/{account.account_id}"
    own = as_account(operator, account.api_key)
    for limit in (None, 0, 10**9, None):
        changed = operator.patch(path, json={"max_cpu_seconds": limit}).json
        shown = operator.get("/v2/account/usage", **own).json
        assert changed["max_cpu_seconds"] == shown.get("maxCpuSeconds") == limit
    for refused in (-1, 10**9 + 1, 1.5, "1"):
        assert operator.patch(path, json={"max_cpu_seconds": refused}).status_code == 400


def test_a_deleted_account_leaves_nothing_but_what_was_metered(operator, caller, account, database):
    caller.post("/v2/templates?name=A", data="<document/>", content_type="application/xml")
    template = caller.get("/v2/templates").json["templates"][0]["id"]
    caller.post(f"/v2/templates/{template}/versions")
    caller.put(f"/v2/templates/{template}/tags/stable", json={"version": 1})
    caller.post("/v2/slugs", json={"slug": "letter", "template": template})
    path = f"/v2/admin/accounts/{account.account_id}"
    assert operator.delete(path).status_code == 409  # it is not disabled
    assert operator.delete("/v2/admin/accounts/acc_public").status_code == 409
    operator.patch(path, json={"disabled": True})
    assert operator.delete(path).status_code == 204
    assert caller.get("/v2/authcheck").status_code == 401
    assert operator.delete(path).status_code == 404
    with database.session() as session:
        tables = ("users", "api_keys", "workspaces", "templates", "versions", "slugs", "tag_events")
        left = [session.scalar(text(f"SELECT count(*) FROM {table}")) for table in tables]
        public = session.scalar(
            text("SELECT count(*) FROM versions WHERE template_id LIKE 'service-%'")
        )
    assert left[2] == left[5] == left[6] == 0
    assert left[4] == public


def test_queues_are_drained_and_resumed(operator):
    path = "/v2/admin/queues/batch"
    assert operator.patch(path, json={"is_drained": True}).json["is_drained"]
    status = operator.get("/v2/admin/status").json
    assert [each["name"] for each in status["queues"] if each["is_drained"]] == ["batch"]
    assert not operator.patch(path, json={"is_drained": False}).json["is_drained"]
    for queue, body, status in (("none", {"is_drained": True}, 404), ("batch", {}, 400)):
        assert operator.patch(f"/v2/admin/queues/{queue}", json=body).status_code == status


def test_every_change_is_in_the_log_with_its_key(operator, caller, account, database):
    caller.post("/v2/templates?name=A", data="<document/>", content_type="application/xml")
    template = caller.get("/v2/templates").json["templates"][0]["id"]
    path = f"/v2/templates/{template}"
    caller.put(path, data="<document></document>", content_type="application/xml")
    caller.patch(path, json={"name": "B"})
    caller.post(f"{path}/versions")
    caller.post(f"{path}/versions")  # unchanged content is no version
    caller.put(f"{path}/tags/stable", json={"version": 1})
    caller.delete(f"{path}/tags/stable")
    caller.post("/v2/slugs", json={"slug": "letter", "template": template})
    caller.delete("/v2/slugs/letter")
    caller.delete(path)
    key = caller.post("/v2/keys", json={"name": "Shop"}).json["id"]
    caller.delete(f"/v2/keys/{key}")
    caller.delete("/v2/images/logo.png")  # there is none
    for _ in range(2):  # the second time it is the same
        caller.put("/v2/plans/letters", json={"duplex": True})
    caller.put("/v2/plans/letters/tags/released", json={"version": 1})
    caller.delete("/v2/plans/letters/tags/released")
    caller.delete("/v2/plans/letters")
    hook = caller.post("/v2/webhooks", json={"url": "https://93.184.216.34/"}).json["id"]
    caller.post(f"/v2/webhooks/{hook}/rotate")
    operator.patch(f"/v2/admin/accounts/{account.account_id}", json={"plan": "paid"})
    page = caller.get("/v2/audit?limit=3").json
    rest = caller.get(f"/v2/audit?start_after={page['next_cursor']}").json
    entries = [*page["entries"], *rest["entries"]]
    assert [(each["action"], each["subject"]) for each in reversed(entries)] == [
        ("template.created", template),
        ("template.changed", template),
        ("template.renamed", template),
        ("version.published", template),
        ("tag.set", template),
        ("tag.removed", template),
        ("slug.assigned", "letter"),
        ("slug.released", "letter"),
        ("template.deleted", template),
        ("key.created", key),
        ("key.revoked", key),
        ("plan.stored", "letters"),
        ("plan.tagged", "letters"),
        ("plan.untagged", "letters"),
        ("plan.deleted", "letters"),
        ("webhook.created", hook),
        ("webhook.rotated", hook),
        ("account.changed", account.account_id),
    ]
    actors = {each["actor"].partition(":")[0] for each in entries}
    assert actors == {account.key_id, "operator"}
    assert caller.get("/v2/audit?start_after=x").status_code == 400
    with database.snapshot() as session:
        assert list(audit.find_breaks(audit.read_all(session))) == []


def test_reads_are_in_the_log_where_the_operator_wants_them(ports, caller, account, monkeypatch):
    caller.post("/v2/templates?name=A", data="<document/>", content_type="application/xml")
    template = caller.get("/v2/templates").json["templates"][0]["id"]
    path = f"/v2/templates/{template}"
    caller.post(f"{path}/versions")
    logging = create_app(with_settings(ports, audit_reads=True)).test_client()

    def ask(path, method="GET", **headers):
        headers = {"x-api-key": account.api_key, **headers}
        return logging.open(path, method=method, headers=headers)

    etag = ask(path).headers["ETag"]
    assert ask(f"{path}/versions/1").status_code == 200
    assert ask(path, **{"If-None-Match": etag}).status_code == 304
    assert ask(path, method="HEAD").status_code == 200
    assert ask("/v2/templates").status_code == 200
    assert ask("/v2/jobs/job_1/pdf").status_code == 404
    found = caller.get("/v2/audit").json["entries"]
    told = [each for each in reversed(found) if each["action"].endswith(".read")]
    assert [each["details"] for each in told] == [{"path": path}, {"path": f"{path}/versions/1"}]
    of_key = ("template.read", template, account.key_id)
    assert {(each["action"], each["subject"], each["actor"]) for each in told} == {of_key}

    def fail(*_arguments):
        raise Unavailable("database")

    monkeypatch.setattr(audit, "record", fail)
    refused = ask(path)
    assert (refused.status_code, b"<document" in refused.data) == (503, False)
    assert caller.get(path).status_code == 200  # without the setting nothing is written


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit_log SET actor = 'key_other' WHERE number = 2",
        "DELETE FROM audit_log WHERE number = 2",
        "UPDATE audit_log SET number = 9 WHERE number = 3",
    ],
)
def test_a_log_that_was_changed_is_noticed(database, tampering):
    for number in range(4):
        with database.session() as session:
            audit.record(session, "acc_1", "key_1", "tag.set", f"template {number}")
    with database.session() as session:
        assert list(audit.find_breaks(audit.read_all(session))) == []
        session.execute(text(tampering))
    with database.snapshot() as session:
        assert len(list(audit.find_breaks(audit.read_all(session)))) >= 1


def test_old_entries_go_and_the_chain_goes_on(database):
    for number in range(5):
        with database.session() as session:
            audit.record(session, "acc_1", "key_1", "tag.set", f"template {number}")
    with database.session() as session:
        assert audit.delete_old_entries(session, before=now(), limit=100) == 4
        audit.record(session, "acc_1", "key_1", "tag.set", "last")
        assert [each["number"] for each in audit.read_all(session)] == [5, 6]
        assert list(audit.find_breaks(audit.read_all(session))) == []


def test_the_command_line_exports_and_verifies_the_log(
    database, database_url, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", "redis://127.0.0.1:1/0")
    with database.session() as session:
        audit.record(session, "acc_1", "key_1", "tag.set", "letter", {"tag": "stable"})
    exported = tmp_path / "audit.ndjson"
    assert main(["audit", "export", "-o", str(exported)]) == 0
    for arguments in (["audit", "verify"], ["audit", "verify", str(exported)]):
        assert main(arguments) == 0
    exported.write_text(exported.read_text().replace("stable", "newest"))
    assert main(["audit", "verify", str(exported)]) == 1
    assert "acc_1, entry 1" in capsys.readouterr().out
    exported.write_text("{}")
    assert main(["audit", "verify", str(exported)]) == 1


def test_entries_that_are_appended_at_once_are_one_chain(database):
    def append(number):
        for _ in range(5):
            with database.session() as session:
                audit.record(session, "acc_1", f"key_{number}", "tag.set", "letter")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(append, range(4)))
    with database.snapshot() as session:
        entries = list(audit.read_all(session))
    assert [each["number"] for each in entries] == list(range(1, 21))
    assert list(audit.find_breaks(iter(entries))) == []
