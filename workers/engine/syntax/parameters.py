"""Value types of the parameters of parts, and of the keys of messages."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.syntax.nodes import PartParameter
from workers.engine.syntax.values import VARIABLE, ValueType, matching

MAX_PARAMETERS: Final = 30
_RESERVED_NAMES: Final = frozenset(
    {"part", "for"}
)  # attributes of `use`; VARIABLE rejects the other reserved words
_TOKENS: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]|,""", re.DOTALL)


def _read_parameters(text: str) -> tuple[PartParameter, ...]:
    found: dict[str, PartParameter] = {}
    for written in _split(text):
        name, equals, default = written.partition("=")
        name = VARIABLE.read(name.strip())
        if name in _RESERVED_NAMES or name in found or (equals and not default.strip()):
            raise ValueError(text)
        found[name] = PartParameter(name, default.strip() if equals else None)
    if len(found) > MAX_PARAMETERS:
        raise ValueError(text)
    return tuple(found.values())


def _split(text: str) -> list[str]:
    """Split at the commas outside of string literals and brackets."""
    parts: list[str] = []
    begin = depth = 0
    for token in _TOKENS.finditer(text):
        match token.group():
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth -= 1
            case "," if depth == 0:
                parts.append(text[begin : token.start()])
                begin = token.end()
            case _:
                pass
    return [*parts, text[begin:]] if text.strip() else []


PARAMETERS: Final = ValueType(
    f"at most {MAX_PARAMETERS} names separated by commas, each of them once and none of them `part`, "
    "`for` or a word of the language; a default follows an equals sign, as in who, heading='Bill to'",
    _read_parameters,
)
MESSAGE_KEY: Final = ValueType(
    "text of at most 200 characters in one line", matching(re.compile(r"[^\x00-\x1f\x7f]{1,200}"))
)
