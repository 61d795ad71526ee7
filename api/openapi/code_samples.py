"""Each operation as code: a curl command, Python with requests, and JavaScript with fetch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_LONGEST_BODY: Final = 300  # characters of an example that a sample repeats; else the body is FILE


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    address: str
    headers: Mapping[str, str]
    needs_key: bool
    body: str | None  # None without an example
    has_body: bool
    is_pdf: bool


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
    call = _Call(
        method.upper(),
        path + (f"?{query}" if query else ""),
        headers,
        needs_key=bool(operation["security"]),
        body=example,
        has_body=bool(body),
        is_pdf="application/pdf" in operation["responses"].get("200", {}).get("content", {}),
    )
    return [
        {"lang": "Shell", "label": "curl", "source": _write_curl(call)},
        {"lang": "Python", "label": "Python", "source": _write_python(call)},
        {"lang": "JavaScript", "label": "JavaScript", "source": _write_javascript(call)},
    ]


def _write_example(example: Any) -> str | None:
    if example is None or isinstance(example, str):
        text = example
    else:
        text = json.dumps(example, ensure_ascii=False)
    # A quote would end the argument of the shell.
    return text if text and len(text) <= _LONGEST_BODY and "'" not in text else None


def _write_curl(call: _Call) -> str:
    parts = ["curl" if call.method == "GET" else f"curl -X {call.method}"]
    if call.needs_key:
        parts.append('-H "Authorization: Bearer $PRESSROOM_KEY"')
    parts += (f"-H '{name}: {value}'" for name, value in call.headers.items())
    if call.has_body:
        parts.append("--data-binary " + ("@FILE" if call.body is None else f"'{call.body}'"))
    if call.is_pdf:
        parts.append("-o document.pdf")
    return " ".join([*parts, f'"$PRESSROOM_URL{call.address}"'])


def _write_python(call: _Call) -> str:
    headers = [f"{name!r}: {value!r}" for name, value in call.headers.items()]
    if call.needs_key:
        headers.insert(0, "'Authorization': 'Bearer ' + os.environ['PRESSROOM_KEY']")
    lines = [
        "import os",
        "import requests",
        "",
        f"response = requests.{call.method.lower()}(",
        f"    os.environ['PRESSROOM_URL'] + {call.address!r},",
    ]
    if headers:
        lines.append(f"    headers={{{', '.join(headers)}}},")
    if call.has_body:
        sent = "open('FILE', 'rb')" if call.body is None else f"{call.body!r}.encode()"
        lines.append(f"    data={sent},")
    read = "open('document.pdf', 'wb').write(response.content)" if call.is_pdf else "print(response.text)"  # fmt: skip
    return "\n".join([*lines, ")", "response.raise_for_status()", read])


def _write_javascript(call: _Call) -> str:
    headers = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in call.headers.items()]
    if call.needs_key:
        headers.insert(0, '"Authorization": `Bearer ${process.env.PRESSROOM_KEY}`')
    address = f"process.env.PRESSROOM_URL + {json.dumps(call.address)}"
    lines = [f"const response = await fetch({address}, {{", f'  method: "{call.method}",']
    if headers:
        lines.append(f"  headers: {{ {', '.join(headers)} }},")
    if call.has_body:
        sent = (
            'readFileSync("FILE")'
            if call.body is None
            else json.dumps(call.body, ensure_ascii=False)
        )
        lines.append(f"  body: {sent},")
    read = (
        'writeFileSync("document.pdf", Buffer.from(await response.arrayBuffer()));'
        if call.is_pdf
        else "console.log(await response.text());"
    )
    used = [name for name in ("readFileSync", "writeFileSync") if name in "".join([*lines, read])]
    imports = [f'import {{ {", ".join(used)} }} from "node:fs";', ""] if used else []
    check = "if (!response.ok) throw new Error(await response.text());"
    return "\n".join([*imports, *lines, "});", check, read])
