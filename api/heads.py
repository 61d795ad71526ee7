"""The heads of requests and answers: what is said over and over is read, or written, once.

Clients of many documents repeat their heads, but for a length or an id. gunicorn read each line of each
anew and looked its settings up through three calls: a fifth of a small request. It stays the judge of
every line that is new, odd or wrong.
"""

from __future__ import annotations

import os
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final

from gunicorn import util
from gunicorn.http import message, wsgi

from shared.clock import epoch

_LONGEST_BYTES: Final = 1024  # of a line that is remembered
_MOST_LINES: Final = 1024
_ONCE: Final = message.RFC9110_5_3_SINGLETON_FIELDS

_IS_MOUNTED: Final = "SCRIPT_NAME" in os.environ  # noqa: TID251 - a setting of gunicorn's
_create: Final = wsgi.create  # before `api.gunicorn_conf` puts ours in its place

_request_lines: dict[bytes, dict[str, Any]] = {}


class RepeatedRequest(message.Request):  # type: ignore[misc] # gunicorn has no types
    """A request as gunicorn reads one; lines that were read before are not read again."""

    must_close: bool
    headers: list[tuple[str, str]]
    _says_close: bool | None = None

    def parse(self, unreader: Any) -> bytes:
        """Read a head and give what came after it.

        Raises:
            gunicorn.http.errors.ParseException: it is wrong.
            StopIteration: the client said no more.
        """
        data: bytes = unreader.read()
        head, end, rest = data.partition(b"\r\n\r\n")
        line, _, lines = head.partition(b"\r\n")
        known = _request_lines.get(line)
        if end and lines and known is not None:
            self.__dict__.update(known)
            self.headers = self.parse_headers(lines)
            return rest
        if data:
            unreader.unread(data)
        left: bytes = super().parse(unreader)
        return left

    def parse_request_line(self, line_bytes: bytes) -> None:
        """Read the first line.

        Raises:
            gunicorn.http.errors.ParseException: it is not one.
        """
        known = _request_lines.get(line_bytes)
        if known is not None:
            self.__dict__.update(known)
            return
        super().parse_request_line(line_bytes)
        if len(line_bytes) <= _LONGEST_BYTES:
            if len(_request_lines) >= _MOST_LINES:
                _request_lines.clear()
            names = ("method", "uri", "path", "query", "fragment", "version")
            _request_lines[line_bytes] = {name: getattr(self, name) for name in names}

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> list[tuple[str, str]]:
        """Read the fields of a head, or of what follows a body.

        Raises:
            gunicorn.http.errors.ParseException: one is wrong, or there are too many.
        """
        lines = data.split(b"\r\n")
        fields: list[tuple[str, str]] = []
        once = set()
        if not from_trailer and len(lines) <= self.limit_request_fields:
            for line in lines:
                field = _read_field(line) if len(line) <= _LONGEST_BYTES else None
                if field is None or field[0] in once:
                    break
                if field[0] in _ONCE:
                    once.add(field[0])
                fields.append(field)
            else:
                return fields
        read: list[tuple[str, str]] = super().parse_headers(data, from_trailer)
        return read

    def should_close(self) -> bool:
        """Tell whether this is the connection's last request; it is asked three times of each."""
        if self._says_close is None:
            self._says_close = bool(super().should_close())
        return self.must_close or self._says_close

    def _peer_trusted_for_forwarded(self) -> tuple[dict[str, str], list[str]]:
        """Take nobody's word for a scheme or a path: no answer depends on the one or the other."""
        return {}, []


@lru_cache(maxsize=_MOST_LINES)
def _read_field(line: bytes) -> tuple[str, str] | None:
    """Give the name, in capitals, and the value of a plain field; None where gunicorn has to judge."""
    name, colon, value = line.decode("latin-1").partition(":")
    value = value.strip(" \t")
    if not colon or not message.TOKEN_RE.fullmatch(name):
        return None
    if message.RFC9110_5_5_INVALID_AND_DANGEROUS.search(value):
        return None
    name = name.upper()
    return None if "_" in name or name == "EXPECT" else (name, value)


def create(
    req: Any, sock: Any, client: Any, server: Any, cfg: Any, *others: Any, **options: Any
) -> tuple[Any, dict[str, Any]]:
    """Make the answer to a request and its WSGI variables; what is out of the ordinary is gunicorn's."""
    is_plain = isinstance(client, tuple) and isinstance(server, tuple) and not (others or options)
    if _IS_MOUNTED or not is_plain or req._expected_100_continue or req.proxy_protocol_info:
        answer, environ = _create(req, sock, client, server, cfg, *others, **options)
        return answer, environ
    environ = {
        **_find_constants(cfg),
        "wsgi.input": req.body,
        "wsgi.url_scheme": req.scheme,
        "gunicorn.socket": sock,
        "REQUEST_METHOD": req.method,
        "QUERY_STRING": req.query,
        "RAW_URI": req.uri,
        "PATH_INFO": _unquote(req.path),
        "SERVER_PROTOCOL": f"HTTP/{req.version[0]}.{req.version[1]}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
    }
    for name, value in req.headers:
        variable = name_variable(name)
        if variable in environ:  # a field that came twice
            answer, environ = _create(req, sock, client, server, cfg)
            return answer, environ
        environ[variable] = value
    return wsgi.Response(req, sock, cfg), environ


@lru_cache(maxsize=1)
def _find_constants(cfg: Any) -> dict[str, Any]:
    return {**wsgi.base_environ(cfg), "SCRIPT_NAME": ""}


@lru_cache(maxsize=256)
def name_variable(name: str) -> str:
    """Name the WSGI variable of a field, whose name is given in capitals."""
    variable = name.replace("-", "_")
    return variable if name in ("CONTENT-TYPE", "CONTENT-LENGTH") else f"HTTP_{variable}"


def _unquote(path: str) -> str:
    if path.isascii() and "%" not in path:
        return path
    unquoted: str = util.unquote_to_wsgi_str(path)
    return unquoted


def write_date() -> str:
    """Write the date of an answer, which is the same for all of a second."""
    return _write_second(int(epoch()))


@lru_cache(maxsize=1)
def _write_second(second: int) -> str:
    return formatdate(second, usegmt=True)


class PlainConfig:
    """gunicorn's configuration as it is when a process begins: each setting an attribute."""

    def __init__(self, config: Any) -> None:
        settings = {name: getattr(config, name) for name in config.settings}
        self.__dict__.update(settings, is_ssl=config.is_ssl, _config=config)

    def __getattr__(self, name: str) -> Any:
        """Give what is no setting: what the configuration makes of them."""
        return getattr(self.__dict__["_config"], name)
