"""Reading the heads of requests: what clients say over and over is read once.

Clients of many documents repeat their heads, but for a length or an id. gunicorn read each line of each
anew and looked its settings up through three calls: a fifth of a small request. It stays the judge of
every line that is new, odd or wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from gunicorn.http import message

_LONGEST_BYTES: Final = 1024  # of a line that is remembered
_MOST_LINES: Final = 1024
_ONCE: Final = message.RFC9110_5_3_SINGLETON_FIELDS

_request_lines: dict[bytes, dict[str, Any]] = {}


class RepeatedRequest(message.Request):  # type: ignore[misc] # gunicorn has no types
    """A request as gunicorn reads one; lines that were read before are not read again."""

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


class PlainConfig:
    """gunicorn's configuration as it is when a process begins: each setting an attribute."""

    def __init__(self, config: Any) -> None:
        settings = {name: getattr(config, name) for name in config.settings}
        self.__dict__.update(settings, is_ssl=config.is_ssl, _config=config)

    def __getattr__(self, name: str) -> Any:
        """Give what is no setting: what the configuration makes of them."""
        return getattr(self.__dict__["_config"], name)
