"""An address is read once, and only a plain http or https one is read at all."""

import pytest

from shared.outbound import Reason, TargetRefusedError
from shared.outbound.targets import follow_redirect, parse_target


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port", "path"),
    [
        ("http://example.org", "http", "example.org", 80, "/"),
        ("HTTPS://Example.ORG/A?b=c#d", "https", "example.org", 443, "/A?b=c"),
        ("https://example.org:8443/", "https", "example.org", 8443, "/"),
        ("https://[2606:2800::1]:99/x", "https", "2606:2800::1", 99, "/x"),
        ("https://bücher.example/ü?ß=%20", "https", "xn--bcher-kva.example", 443,
         "/%C3%BC?%C3%9F=%20"),
        ("https://example.org./x", "https", "example.org.", 443, "/x"),
        ("https://example.org?q", "https", "example.org", 443, "/?q"),
    ],
)  # fmt: skip
def test_an_address_is_read(url, scheme, host, port, path):
    target = parse_target(url)
    assert (target.scheme, target.host, target.port, target.path) == (scheme, host, port, path)


@pytest.mark.parametrize(
    "url",
    [
        "", "example.org/x", "//example.org/x", "ftp://example.org/", "file:///etc/passwd",
        "gopher://example.org/", "data:image/png;base64,AA", "javascript:alert(1)", "https:/x",
        "http://", "http:///x", "https://:443/", "http://example.org:0/",
        "http://example.org:65536/", "http://example.org:x/", "http://user@example.org/",
        "http://user:pw@example.org/", "http://@example.org/", "http://example.org\\@10.0.0.1/",
        "http://example.org\r\nX: y/", "http://example.org/a b", "http://example.org/\x00",
        " http://example.org/", "http://[::1/", "http://[fe80::1%25eth0]/",
        "http://exa mple.org/", "http://exa%6dple.org/", "http://a,b/",
        "http://" + "a" * 64 + ".org/", "http://example.org/" + "x" * 9000,
    ],
)  # fmt: skip
def test_an_address_that_is_not_plain_http_is_refused(url):
    with pytest.raises(TargetRefusedError):
        parse_target(url)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://x/", Reason.SCHEME), ("example.org", Reason.SCHEME),
        ("http://u@x/", Reason.CREDENTIALS), ("http://x:0/", Reason.PORT),
        ("http://x:65536/", Reason.PORT), ("http://x:http/", Reason.PORT),
        ("http:///path", Reason.MALFORMED), ("http://a b/", Reason.MALFORMED),
        ("http://[::1/", Reason.MALFORMED),
    ],
)  # fmt: skip
def test_a_refusal_reports_its_reason(url, reason):
    with pytest.raises(TargetRefusedError) as refused:
        parse_target(url)
    assert refused.value.reason is reason


def test_every_reason_has_its_own_text_without_the_cause():
    texts = {str(TargetRefusedError(reason, "x has the address 10.0.0.7")) for reason in Reason}
    assert len(texts) == len(Reason)
    assert not any("10.0.0.7" in text for text in texts)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://example.org:8443/b"),
        ("b?c", "https://example.org:8443/a/b?c"),
        ("//other.example/x", "https://other.example:443/x"),
        ("http://other.example/x", "http://other.example:80/x"),
    ],
)
def test_a_redirect_is_read_against_where_it_came_from(location, url):
    assert follow_redirect(parse_target("https://example.org:8443/a/c"), location).url == url


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://u@x/", "ftp://x/", "http://[/"])
def test_a_redirect_to_another_scheme_is_refused(location):
    with pytest.raises(TargetRefusedError):
        follow_redirect(parse_target("https://example.org/"), location)
