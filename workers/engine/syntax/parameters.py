"""Value types of the parameters of parts, and of the keys of messages."""

from __future__ import annotations

import re
from typing import Final

from workers.engine.syntax.lexer import read_brackets
from workers.engine.syntax.nodes import PartParameter
from workers.engine.syntax.values import VARIABLE, ValueType, matching

MAX_PARAMETERS: Final = 30
_RESERVED_NAMES: Final = frozenset(
    {"part", "for"}
)  # attributes of `use`; VARIABLE rejects the other reserved words


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
    commas = [at for at, sign, depth in read_brackets(text) if sign == "," and not depth]
    ends = zip([0, *(at + 1 for at in commas)], [*commas, len(text)], strict=True)
    return [text[begin:end] for begin, end in ends] if text.strip() else []


PARAMETERS: Final = ValueType(
    f"at most {MAX_PARAMETERS} names separated by commas, each of them once and none of them `part`, "
    "`for` or a word of the language; a default follows an equals sign, as in who, heading='Bill to'",
    _read_parameters,
)
MESSAGE_KEY: Final = ValueType(
    "text of at most 200 characters in one line", matching(re.compile(r"[^\x00-\x1f\x7f]{1,200}"))
)
