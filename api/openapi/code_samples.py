"""Each operation as code: a curl command, Python with requests, and JavaScript with fetch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment

_LONGEST_BODY: Final = 300  # characters of an example that a sample repeats; else the body is FILE
_CODE: Final = Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - of no HTML
_CODE.filters |= {"repr": repr, "json": partial(json.dumps, ensure_ascii=False)}
_MACROS: Any = _CODE.from_string(Path(__file__).with_suffix(".jinja").read_text("utf-8")).module


def write_samples(method: str, path: str, operation: Mapping[str, Any]) -> list[dict[str, str]]:
    """Write the samples of an operation as `x-codeSamples`, which viewers of OpenAPI show.

    Required parameters are placeholders in braces. They read the address and the key from the environment.
    """
    required = [each for each in operation["parameters"] if each["required"]]
    query = "&".join(f"{one['name']}={{{one['name']}}}" for one in required if one["in"] == "query")
    headers = {one["name"]: f"{{{one['name']}}}" for one in required if one["in"] == "header"}
    body: dict[str, Any] = operation.get("requestBody", {})
    example = None
    if body:
        media, content = next(reversed(body["content"].items()))
        headers["Content-Type"] = media
        example = _write_example(content.get("example"))
    call = {
        "method": method.upper(),
        "address": path + (f"?{query}" if query else ""),
        "headers": headers,
        "needs_key": bool(operation["security"]),
        "body": example,  # None without an example
        "has_body": bool(body),
        "is_pdf": "application/pdf" in operation["responses"].get("200", {}).get("content", {}),
    }
    return [
        {"lang": "Shell", "label": "curl", "source": _MACROS.shell(call)},
        {"lang": "Python", "label": "Python", "source": _MACROS.python(call)},
        {"lang": "JavaScript", "label": "JavaScript", "source": _MACROS.javascript(call)},
    ]


def _write_example(example: Any) -> str | None:
    if example is None or isinstance(example, str):
        text = example
    else:
        text = json.dumps(example, ensure_ascii=False)
    # A quote would end the argument of the shell.
    return text if text and len(text) <= _LONGEST_BODY and "'" not in text else None
