"""The freshness lifetime of a response: RFC 9111, or half a minute without cache headers."""

import pytest

from shared.outbound import CachingInfo
from workers.fetcher.response_cache import MAX_SECONDS, read_lifetime

DATE = "Sun, 22 Nov 2026 10:00:00 GMT"


def told(status=200, **headers):
    return CachingInfo(status, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("headers", "lifetime"),
    [
        ({}, 30.0),
        ({"last_modified": DATE}, 30.0),
        ({"cache_control": "max-age=300"}, 300.0),
        ({"cache_control": "public, MAX-AGE=300"}, 300.0),
        ({"cache_control": 'max-age="300"'}, 300.0),
        ({"cache_control": "max-age=300, s-maxage=20"}, 20.0),
        ({"cache_control": "max-age=300", "age": "100"}, 200.0),
        ({"cache_control": "max-age=300", "age": "900"}, 0.0),
        ({"cache_control": "max-age=31536000, immutable"}, MAX_SECONDS),
        ({"cache_control": "max-age=-5"}, 0.0),
        ({"cache_control": "max-age=soon"}, 0.0),
        ({"cache_control": "max-age"}, 0.0),
        ({"cache_control": "max-age=" + "9" * 400}, 0.0),
        ({"cache_control": "no-cache"}, 0.0),
        ({"cache_control": 'no-cache="Set-Cookie", max-age=300'}, 0.0),
        ({"pragma": "no-cache"}, 0.0),
        ({"cache_control": "max-age=60", "pragma": "no-cache"}, 60.0),
        ({"cache_control": "no-store"}, None),
        ({"cache_control": "private, max-age=300"}, None),
        ({"cache_control": 'Private="x"'}, None),
        ({"vary": "*"}, None),
        ({"vary": "Accept-Encoding"}, 30.0),
        ({"date": DATE, "expires": "Sun, 22 Nov 2026 10:02:00 GMT"}, 120.0),
        ({"date": DATE, "expires": "Sun, 22 Nov 2026 09:00:00 GMT"}, 0.0),
        ({"date": DATE, "expires": "0"}, 0.0),
        ({"expires": "Sun, 22 Nov 2026 10:02:00 GMT"}, 0.0),
        ({"date": DATE, "expires": "tomorrow", "cache_control": "max-age=7"}, 7.0),
    ],
)
def test_a_response_is_fresh_for_its_declared_lifetime(headers, lifetime):
    assert read_lifetime([told(**headers)]) == lifetime


@pytest.mark.parametrize(
    ("first", "lifetime"),
    [
        (told(301), 30.0),
        (told(302), None),
        (told(302, cache_control="max-age=10"), 10.0),
        (told(308, cache_control="no-store"), None),
    ],
)
def test_of_a_redirected_fetch_every_answer_has_a_say(first, lifetime):
    assert read_lifetime([first, told()]) == lifetime
