"""/v2/images, and what /v2/fonts has in common: space is limited, records and bytes agree.

Which bytes are refused and drawn is tested on a farm, by the files of `tests.images`.
"""

from __future__ import annotations

import base64
import random
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image

from api.app import create_app
from shared.auth.accounts import create_account
from shared.errors import Unavailable
from shared.files.repository import FONTS, IMAGES
from tests.golden.case import FOLDER
from tests.images import encode, packed, png

pytestmark = pytest.mark.usefixtures("upload_worker")

PNG_TYPE = {"Content-Type": "image/png"}
OF_BOTH = pytest.mark.parametrize("kind", [IMAGES, FONTS], ids=["images", "fonts"])


def draw(colour=0) -> bytes:
    return encode("PNG", Image.new("RGB", (8, 6), colour))


def noise(seed=1) -> bytes:
    data = random.Random(seed).randbytes(64 * 64 * 3)
    return encode("PNG", Image.frombytes("RGB", (64, 64), data))


def put(caller, name, data, **headers):
    return caller.put(f"/v2/images/{name}", data=data, headers=PNG_TYPE | headers)


def put_one(caller, kind, name, which=0):
    """Store one of the two files of a kind."""
    if kind is IMAGES:
        return put(caller, name, draw(colour=which))
    file = FOLDER / "fonts" / ("brand-regular.ttf", "brand-black.otf")[which]
    return caller.put(f"/v2/fonts/{name}", data=file.read_bytes(), content_type="font/ttf")


def blob_names(settings):
    folder = Path(settings.blob_url.removeprefix("file://"))
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_an_image_is_stored_and_its_record_returned(caller, account, settings):
    data = draw()
    answer = put(caller, "logo", data)
    assert answer.status_code == 201
    user = {"id": account.user.id, "name": "Ada", "email": "ada@example.org"}
    record = answer.json
    assert record | {"created_at": None, "updated_at": None} == {
        "name": "logo",
        "content_type": "image/png",
        "bytes": len(data),
        "width": 8,
        "height": 6,
        "sha256": sha256(data).hexdigest(),
        "created_at": None,
        "updated_at": None,
        "created_by": user,
        "updated_by": user,
    }
    assert caller.get("/v2/images/logo").json == record
    assert blob_names(settings) == [record["sha256"]]


@OF_BOTH
def test_replacing_deletes_unreferenced_bytes(caller, settings, kind):
    first = put_one(caller, kind, "logo").json
    answer = put_one(caller, kind, "logo", 1)
    assert answer.status_code == 200
    assert blob_names(settings) == [answer.json["sha256"]] != [first["sha256"]]
    assert first["created_at"] == answer.json["created_at"] <= answer.json["updated_at"]
    assert first["created_by"] == answer.json["created_by"]
    assert caller.get(f"/v2/{kind.folder}/logo").json == answer.json


@OF_BOTH
def test_bytes_shared_by_two_names_are_stored_until_both_are_deleted(caller, settings, kind):
    for name in ("one", "two"):
        put_one(caller, kind, name)
    for name, left in (("one", 1), ("two", 0)):
        assert len(blob_names(settings)) == 1
        assert caller.delete(f"/v2/{kind.folder}/{name}").status_code == 204
        assert len(blob_names(settings)) == left
    assert caller.get(f"/v2/{kind.folder}/two").status_code == 404
    missing = caller.delete(f"/v2/{kind.folder}/two")
    assert missing.status_code == 404
    assert f"holds no {kind.folder[:-1]} named 'two'" in missing.json["message"]
    usage = caller.get(f"/v2/{kind.folder}").json["usage"]
    assert usage == {"total_bytes": 0, "count": 0}
    log = [each["action"].partition(".")[2] for each in caller.get("/v2/audit").json["entries"]]
    assert log == ["deleted"] * 2 + ["stored"] * 2


@OF_BOTH
def test_they_are_listed_by_name_in_pages_with_the_usage(caller, kind):
    for name in ("c-c", "aaa", "b-1"):
        size = put_one(caller, kind, name).json["bytes"]
    first = caller.get(f"/v2/{kind.folder}?limit=2").json
    assert [file["name"] for file in first[kind.folder]] == ["aaa", "b-1"]
    assert first["next_cursor"] == "b-1"
    assert first["usage"] == {"total_bytes": 3 * size, "count": 3}
    rest = caller.get(f"/v2/{kind.folder}?start_after=b-1").json
    assert [file["name"] for file in rest[kind.folder]] == ["c-c"]
    assert "next_cursor" not in rest
    assert rest["usage"] == first["usage"]


@OF_BOTH
@pytest.mark.parametrize(
    "name", ["ab", "a" * 65, "Logo", "a--b", "-ab", "ab-", "a_b", "a.b", "äöü"]
)
def test_an_invalid_name_is_named_with_its_rule(caller, name, kind):
    for answer in (
        put_one(caller, kind, name),
        caller.get(f"/v2/{kind.folder}/{name}"),
        caller.delete(f"/v2/{kind.folder}/{name}"),
        caller.post(f"/v2/{kind.folder}", json={"name": name, "data": "AAAA"}),
    ):
        assert answer.status_code == 400
        assert answer.json["message"].startswith(f"Invalid {kind.folder[:-1]} name '{name}': ")


def test_an_account_without_workspace_has_no_images(stranger, database):
    with database.session() as session:
        key = create_account(session, email="bo@example.org", with_workspace=False).api_key
    headers = {"x-api-key": key}
    for answer in (
        stranger.get("/v2/images", headers=headers),
        stranger.get("/v2/images/abc", headers=headers),
        stranger.delete("/v2/images/abc", headers=headers),
        stranger.put("/v2/images/abc", data=draw(), headers=headers | PNG_TYPE),
        stranger.post("/v2/images", json={}, headers=headers),
    ):
        assert answer.status_code == 409
        assert answer.json["data"]["code"] == "ERR_WORKSPACE_UNRESOLVED"


@pytest.mark.parametrize("size", [(10_001, 10_000), (20_000, 20_000), (2**31 - 1, 2**31 - 1)])
def test_too_many_pixels_are_rejected_by_the_header_alone(caller, size):
    answer = put(caller, "big", png(*size, packed(b""), color_type=2))
    assert answer.status_code == 400
    assert "100 megapixels" in answer.json["message"]


def test_a_type_outside_the_four_is_a_415(caller):
    for media in ("text/plain", "multipart/form-data; boundary=x", "application/octet-stream"):
        assert put(caller, "logo", draw(), **{"Content-Type": media}).status_code == 415


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"name": "logo"}, "source_url"),
        ({"name": "logo", "data": "", "source_url": "https://x"}, "not both"),
        ({"name": "logo", "source_url": None}, "source_url"),
        ({"name": "logo", "source_url": "ftp://example.org/a.png"}, "http or https"),
        ({"name": "logo", "source_url": "http://127.0.0.1/a.png"}, "public"),
        ({"name": "logo", "source_url": ""}, "http or https"),
        ({"name": "logo", "data": "AA\nAA"}, "base64"),
        ({"name": "logo", "data": "AAA"}, "base64"),
        ({"name": "logo", "data": "é"}, "base64"),
        ({"name": "logo", "data": 7}, "data"),
        ({"data": "AAAA"}, "name"),
        ({"name": 7, "data": "AAAA"}, "name"),
        ({"name": "logo", "data": "AAAA", "alt": "x"}, "alt"),
    ],
)
def test_an_invalid_field_is_named(caller, fields, word):
    answer = caller.post("/v2/images", json=fields)
    assert answer.status_code == 400
    assert word in answer.json["message"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"name":1,"name":2}', b"NaN", b"\xff", b"[" * 100_000]
)
def test_a_body_that_is_no_json_object_is_rejected(caller, body):
    answer = caller.post("/v2/images", data=body, content_type="application/json")
    assert answer.status_code == 400


@pytest.mark.long
def test_base64_over_20_mb_is_a_413(caller):
    text = base64.b64encode(bytes(20 * 1024 * 1024 + 1)).decode()
    assert caller.post("/v2/images", json={"name": "big", "data": text}).status_code == 413


def test_a_full_workspace_is_a_409_with_its_usage(caller, monkeypatch):
    data = noise()
    monkeypatch.setattr(IMAGES, "max_bytes", len(data) + 10)
    assert put(caller, "one", data).status_code == 201
    answer = put(caller, "two", data)
    assert answer.status_code == 409
    assert f"{len(data)} bytes in 1 images" in answer.json["message"]
    # Replacing counts only the difference.
    assert put(caller, "one", noise(seed=2)).status_code in (200, 409)
    assert put(caller, "one", data).status_code == 200


@OF_BOTH
def test_names_are_limited_too(caller, monkeypatch, kind):
    monkeypatch.setattr(kind, "max_count", 2)
    answers = [put_one(caller, kind, name) for name in ("aaa", "bbb", "ccc")]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert f"has no space for {kind.folder[:-1]} 'ccc'" in answers[2].json["message"]
    assert put_one(caller, kind, "bbb", 1).status_code == 200


def test_uploads_at_once_never_overfill_a_workspace(caller, ports, account, monkeypatch):
    monkeypatch.setattr(IMAGES, "max_count", 3)
    app = create_app(ports)
    headers = PNG_TYPE | {"x-api-key": account.api_key}

    def upload(n):
        return (
            app.test_client().put(f"/v2/images/img-{n}", data=draw(), headers=headers).status_code
        )

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(upload, range(8)))
    assert sorted(statuses) == [201] * 3 + [409] * 5
    assert caller.get("/v2/images").json["usage"]["count"] == 3


def test_an_upload_that_cannot_be_stored_leaves_no_trace(caller, ports, monkeypatch):
    def refuse(*_):
        raise Unavailable("object store")

    with monkeypatch.context() as patch:
        patch.setattr(type(ports.blobs), "put", refuse)
        answer = put(caller, "logo", draw())
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert caller.get("/v2/images").json["usage"] == {"total_bytes": 0, "count": 0}
    monkeypatch.setattr(IMAGES, "max_count", 1)
    assert put(caller, "other", draw()).status_code == 201


def test_bytes_that_are_deleted_while_they_are_sent_again_stay(caller, ports, account, monkeypatch):
    data, store = draw(), type(ports.blobs).put
    put(caller, "one", data)

    def store_and_delete_the_other(*args):
        store(*args)
        monkeypatch.undo()
        assert caller.delete("/v2/images/one").status_code == 204

    monkeypatch.setattr(type(ports.blobs), "put", store_and_delete_the_other)
    assert put(caller, "two", data).status_code == 201
    key = IMAGES.blob_key(account.workspace_id, sha256(data).hexdigest())
    assert ports.blobs.read(key) == data
