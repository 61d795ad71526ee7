"""Uploads and renders of a real farm judge the same images alike, in the same words."""

from __future__ import annotations

import random
from hashlib import sha256

import pytest

from shared.blobs.factory import open_store
from shared.db.session import open_database
from tests.conftest import create_account_of
from tests.images import ACCEPTED, BEYOND_COUNTING, REFUSED, encode, path, plain, store_image, svg
from tests.system.conftest import Account

DOCUMENT = '<document><flow><img src="{}" alt="a" width="60mm" height="60mm"/></flow></document>'
# Each of these is a bomb: small, and beyond all bounds once it is unpacked or followed.
BOMBS = {
    "a billion laughs": b"<!DOCTYPE svg [<!ENTITY a 'ha'>"
    + b"".join(b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]>"
    + svg("<text>&j;</text>"),
    "a file of the server": b"<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
    + svg("<text>&a;</text>"),
    "uses of uses": svg(
        '<g id="a"><rect/></g>'
        + "".join(
            f'<g id="{chr(98 + n)}">' + f'<use href="#{chr(97 + n)}"/>' * 10 + "</g>"
            for n in range(20)
        )
    ),
    "patterns in patterns": svg(
        "".join(
            f'<pattern id="p{n}" width="1" height="1">'
            + f'<rect width="9" height="9" fill="url(#p{n + 1})"/>' * 30
            + "</pattern>"
            for n in range(30)
        )
        + f'<path fill="url(#p0)" d="{path(300_000)}"/>' * 2
    ),
}


def put(account, name: str, data: bytes, **options):
    return account.request(
        "PUT", f"/v2/images/{name}", data, headers={"Content-Type": "image/png"}, **options
    )


@pytest.fixture(scope="module")
def made(farm):
    return create_account_of(farm, plan="paid")


@pytest.fixture(scope="module")
def uploader(farm, made):
    return Account(farm, made.account_id, made.key_id, made.api_key)


@pytest.fixture(scope="module")
def plant(farm, made):
    """Provide a function that stores unchecked bytes, as an earlier release may have."""
    database, blobs = open_database(farm.record.database_url), open_store(farm.record.blob_url)

    def plant(data: bytes) -> str:
        name = f"planted-{sha256(data).hexdigest()[:20]}"
        store_image(database, blobs, made, name, data)
        return name

    yield plant
    database.close()


# Their words name the formats, and a document may have more of these than an upload.
OF_OTHER_FORMATS = ("no image", "gif")


@pytest.mark.parametrize(
    "name", [name for name in (*REFUSED, *BEYOND_COUNTING, *BOMBS) if name not in OF_OTHER_FORMATS]
)
def test_an_upload_is_refused_in_the_words_of_its_render(uploader, plant, name):
    data = (REFUSED | BEYOND_COUNTING | BOMBS)[name]
    refused = put(uploader, "refused", data)
    assert refused.status == 400, refused.body
    rendered = uploader.render(DOCUMENT.format(plant(data)))
    assert rendered.status == 400, rendered.body
    words = rendered.json["message"].replace(" (page 1)", "", 1)
    assert words.startswith(refused.json["message"])
    assert uploader.request("GET", "/v2/images/refused").status == 404


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_upload_that_is_stored_is_drawn(uploader, name):
    stored = put(uploader, "accepted", ACCEPTED[name])
    assert stored.status in (200, 201), stored.body
    assert uploader.render(DOCUMENT.format("accepted")).status == 200


def test_damaged_files_are_refused_or_drawn_and_never_fail(uploader):
    chance = random.Random(12)
    whole = [encode(kind, plain()) for kind in ("PNG", "JPEG", "WEBP")]
    whole.append(svg('<path d="M0 0h5v5z"/><text>a</text>'))
    kept = 0
    for _ in range(60):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 255, chance.randrange(256)))
        answer = put(uploader, "damaged", bytes(data))
        assert answer.status in (200, 201, 400), (answer.body, bytes(data))
        if answer.status != 400:
            kept += 1
            assert uploader.render(DOCUMENT.format("damaged")).status == 200, bytes(data)
    assert 0 < kept < 60
