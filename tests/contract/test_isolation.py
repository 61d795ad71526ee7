"""Every endpoint with another account's key: the same 404 as for a thing that is not there, or nothing."""

from __future__ import annotations

import re

import pytest

from api.app import create_app
from tests.images import encode, plain

pytestmark = pytest.mark.usefixtures("upload_worker")

MISSING = "zzzzzzzzzz0123456789"
XML = {"data": "<x/>", "content_type": "text/xml"}
DATA = {"data": "{}", "content_type": "application/json"}
LINES = {"data": "{}\n", "content_type": "application/x-ndjson"}

# Every endpoint that names a thing: how the owner's is named, and with what the request is made.
NAMED = [
    ("GET", "/v2/templates/{id}", {}),
    ("GET", "/v2/templates/{id}@live", {}),
    ("GET", "/v2/templates/{id}@latest", {}),
    ("GET", "/v2/templates/{id}@1", {}),
    ("GET", "/v2/templates/{id}@stable", {}),
    ("PUT", "/v2/templates/{id}", XML),
    ("PATCH", "/v2/templates/{id}", {"json": {"name": "Mine"}}),
    ("DELETE", "/v2/templates/{id}", {}),
    ("GET", "/v2/templates/{id}/dependents", {}),
    ("GET", "/v2/templates/{id}/versions", {}),
    ("POST", "/v2/templates/{id}/versions", {}),
    ("GET", "/v2/templates/{id}/versions/1", {}),
    ("PUT", "/v2/templates/{id}/versions/1/approval", {}),
    ("GET", "/v2/templates/{id}/cases", {}),
    ("PUT", "/v2/templates/{id}/cases", {}),
    ("GET", "/v2/templates/{id}/tags", {}),
    ("GET", "/v2/templates/{id}/tags/stable", {}),
    ("PUT", "/v2/templates/{id}/tags/stable", {"json": {"version": 1}}),
    ("DELETE", "/v2/templates/{id}/tags/stable", {}),
    ("GET", "/v2/templates/{id}/tags/stable/history", {}),
    *(
        ("POST", f"/v2/{call}?{name}={{id}}{selector}", DATA)
        for call in ("pdf", "validate")
        for name in ("template", "template_id")
        for selector in ("", "@live", "@latest", "@1", "@stable")
    ),
    ("POST", "/v2/slugs", {"slug": "other-slug"}),
    ("GET", "/v2/templates/{slug}", {}),
    ("GET", "/v2/templates/{slug}@1", {}),
    ("POST", "/v2/pdf?template={slug}", DATA),
    ("POST", "/v2/validate?template={slug}@1", DATA),
    ("DELETE", "/v2/slugs/{slug}", {}),
    ("GET", "/v2/images/{image}", {}),
    ("DELETE", "/v2/images/{image}", {}),
    ("GET", "/v2/fonts/{font}", {}),
    ("DELETE", "/v2/fonts/{font}", {}),
    ("POST", "/v2/batches?template={id}", LINES),
    ("POST", "/v2/batches?template={slug}", LINES),
    ("GET", "/v2/batches/{batch}", {}),
    ("GET", "/v2/batches/{batch}?wait=1", {}),
    ("GET", "/v2/batches/{batch}/items", {}),
    ("GET", "/v2/batches/{batch}/result", {}),
    ("GET", "/v2/batches/{batch}/account", {}),
    ("GET", "/v2/batches/{batch}/files/1", {}),
    ("GET", "/v2/batches/{batch}/index", {}),
    ("POST", "/v2/batches/{batch}/release", {}),
    ("POST", "/v2/batches/{batch}/reject", {}),
    ("POST", "/v2/batches/{batch}/reprint", {"json": {"documents": [0]}}),
    ("DELETE", "/v2/batches/{batch}", {}),
    ("GET", "/v2/plans/{plan}", {}),
    ("DELETE", "/v2/plans/{plan}", {}),
    ("PUT", "/v2/plans/{plan}/tags/stable", {"json": {"version": 1}}),
    ("DELETE", "/v2/plans/{plan}/tags/stable", {}),
    *(
        (method, path.replace("{item}", name), {})
        for name in ("{item}", "{job}")
        for method, path in (
            ("GET", "/v2/jobs/{item}"),
            ("GET", "/v2/jobs/{item}/pdf"),
            ("DELETE", "/v2/jobs/{item}"),
        )
    ),
    ("GET", "/v2/webhooks/{webhook}", {}),
    ("DELETE", "/v2/webhooks/{webhook}", {}),
    ("POST", "/v2/webhooks/{webhook}/rotate", {}),
    ("POST", "/v2/webhooks/{webhook}/test", {}),
    ("DELETE", "/v2/keys/{key}", {}),
    ("GET", "/v2/webhooks/{webhook}/deliveries", {}),
    ("GET", "/v2/destinations/{destination}", {}),
    ("DELETE", "/v2/destinations/{destination}", {}),
    ("POST", "/v2/destinations/{destination}/test", {}),
    ("POST", "/v2/deliveries/{delivery}/redeliver", {}),
]
# Endpoints without a resource in the path; their responses to another account are tested below.
UNNAMED = {
    ("GET", "/v2/authcheck"), ("GET", "/v2/account"), ("GET", "/v2/account/usage"),
    ("GET", "/v2/account/usage/days"), ("GET", "/v2/account/usage/templates"),
    ("GET", "/v2/account/costs"),
    ("GET", "/v2/audit"), ("GET", "/v2/keys"), ("POST", "/v2/keys"), ("POST", "/v2/session"),
    ("GET", "/v2/session"), ("DELETE", "/v2/session"), ("POST", "/v2/preview"),
    ("POST", "/v2/einvoices/check"), ("POST", "/v2/einvoices/render"),
    ("POST", "/v2/forms/extract"), ("POST", "/v2/spreadsheets/convert"),
    ("POST", "/v2/templates"), ("GET", "/v2/templates"), ("GET", "/v2/slugs"),
    ("GET", "/v2/jobs"), ("GET", "/v2/batches"), ("GET", "/v2/plans"), ("PUT", "/v2/plans/{}"),
    ("GET", "/v2/slugs/{}"), ("PUT", "/v2/images/{}"), ("POST", "/v2/images"),
    ("GET", "/v2/images"), ("PUT", "/v2/fonts/{}"), ("POST", "/v2/fonts"), ("GET", "/v2/fonts"),
    ("POST", "/v2/webhooks"), ("GET", "/v2/webhooks"), ("POST", "/v2/destinations"),
    ("GET", "/v2/destinations"), ("GET", "/v2/deliveries"), ("DELETE", "/v2/subjects"),
}  # fmt: skip


def test_a_resource_of_another_account_is_the_same_404_as_a_missing_one(caller, other, owned):
    missing = {
        "id": MISSING,
        "slug": "missing",
        "image": "missing",
        "font": "missing",
        "webhook": "hook_none",
        "key": "key_none",
        "plan": "missing",
        "destination": "dest_none",
        "delivery": "msg_none",
    }
    missing |= {"batch": f"batch_{'a' * 24}", "item": f"job_{'a' * 24}-0", "job": f"job_{'a' * 24}"}
    before, differing = snapshot(caller, owned), {}
    for method, path, how in NAMED:
        theirs, nothing = (ask(other, method, path, how, names) for names in (owned, missing))
        expected = (404, shape(nothing, missing))
        if (nothing.status_code, (theirs.status_code, shape(theirs, owned))) != (404, expected):
            differing[f"{method} {path}"] = (theirs.get_data(), nothing.get_data())
    assert differing == {}
    assert snapshot(caller, owned) == before


def test_lists_and_reports_show_nothing_of_another_account(other, owned):
    assert other.get("/v2/templates").json == {"templates": []}
    assert other.get("/v2/slugs").json == {"slugs": []}
    assert other.get("/v2/jobs").json == {"jobs": []}
    assert other.get("/v2/batches").json == {"batches": []}
    assert other.get("/v2/plans").json == {"plans": []}
    assert other.get("/v2/images").json["usage"] == {"total_bytes": 0, "count": 0}
    assert other.get("/v2/fonts").json["fonts"] == []
    assert other.get("/v2/webhooks").json["webhooks"] == []
    assert other.get("/v2/destinations").json["destinations"] == []
    assert other.get("/v2/deliveries").json["deliveries"] == []
    assert other.get("/v2/slugs/letter").json == {"slug": "letter", "available": True}
    assert other.get("/v2/account/usage").json["pagesGenerated"] == 0
    assert other.get("/v2/account/usage/templates").json["templates"] == []
    assert other.get("/v2/account/costs").json["cpuSeconds"] == 0
    assert owned["id"] not in other.get("/v2/authcheck").json["status"]


def test_the_same_names_may_be_used_by_both(caller, other, owned):
    assert (
        other.put(
            "/v2/images/logo", data=encode("PNG", plain()), content_type="image/png"
        ).status_code
        == 201
    )
    assert other.delete("/v2/images/logo").status_code == 204
    assert caller.get("/v2/images/logo").status_code == 200


def test_the_matrix_has_every_endpoint(ports):
    tried = {
        (
            method,
            re.sub(
                r"{\w+}|stable|(?<=versions/)1|(?<=files/)1",
                "{}",
                path.partition("?")[0].partition("@")[0],
            ),
        )
        for method, path, _ in NAMED
    }
    for rule in create_app(ports).url_map.iter_rules():
        if rule.rule.startswith("/v2") and not rule.rule.startswith("/v2/admin/"):
            for method in rule.methods - {"HEAD", "OPTIONS"}:
                assert (method, re.sub(r"<[\w:]+>", "{}", rule.rule)) in tried | UNNAMED


def ask(client, method, path, how, names):
    if path == "/v2/slugs":
        how = {"json": {**how, "template": names["id"]}}
    return client.open(path.format(**names), method=method, **how)


def shape(answer, names) -> str:
    """Return an error body without the parts that may differ: the time and the requested name."""
    text = answer.get_data(as_text=True).replace(answer.json["timestamp"], "")
    for name in names.values():
        text = text.replace(name, "<name>")
    return text


def snapshot(client, names) -> list[object]:
    path = f"/v2/templates/{names['id']}"
    paths = (path, f"{path}/versions", f"{path}/tags", f"{path}/tags/stable/history", "/v2/images")
    return [client.get(each).json for each in (*paths, "/v2/fonts", "/v2/slugs")]
