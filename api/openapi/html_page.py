"""The description as one HTML page without scripts or external resources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

from api.http import mark_code

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6878; --line: #dfe3ea; --paper: #fff;
  --tint: #f5f7fa; --accent: #1f5fbf; --get: #1f7a4d; --post: #1f5fbf; --put: #9a5b00; --delete: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b5; --line: #333c48;
  --paper: #14181e; --tint: #1c222b; --accent: #7fb0ff; --get: #5cc492; --post: #7fb0ff; --put: #e0a54a;
  --delete: #ff8a80 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto }
header { grid-column: 1 / -1; padding: 2rem 1.5rem 1.5rem; border-bottom: 1px solid var(--line) }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto; padding: 2rem 1rem 2rem 1.5rem;
  font-size: .875rem; border-right: 1px solid var(--line) }
nav h2 { margin: 1.25rem 0 .25rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase;
  color: var(--soft); border: 0; padding: 0 }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: block; padding: .15rem 0; color: inherit; text-decoration: none }
nav a:hover { color: var(--accent) }
main { padding: 0 2.5rem 6rem; min-width: 0 }
h1 { margin: 0 0 .25rem; font-size: 2rem } h1 small { font-size: 1rem; font-weight: 400; color: var(--soft) }
h2 { margin: 3rem 0 1rem; padding-bottom: .35rem; border-bottom: 1px solid var(--line); font-size: 1.35rem }
section { margin: 0 0 2.5rem; scroll-margin-top: 1rem }
h3 { margin: 0 0 .35rem; font-size: 1.1rem }
h4 { margin: 1.1rem 0 .35rem; font-size: .8rem; letter-spacing: .04em; text-transform: uppercase;
  color: var(--soft) }
p { margin: .35rem 0 }
code { font: .875em ui-monospace, monospace; background: var(--tint); padding: .1em .3em; border-radius: 3px }
.call { font: .95rem ui-monospace, monospace; background: var(--tint); border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem .75rem; overflow-wrap: anywhere }
.call b { display: inline-block; min-width: 4.2em; text-transform: uppercase }
.get b { color: var(--get) } .post b { color: var(--post) } .put b { color: var(--put) }
.delete b { color: var(--delete) }
pre { font: .85rem/1.5 ui-monospace, monospace; margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-top: 1px solid var(--line) }
tr:first-child td { border-top: 0 }
td:first-child { white-space: nowrap; width: 11rem }
.soft { color: var(--soft) } a { color: var(--accent) }
@media (max-width: 52rem) { .page { display: block } nav { position: static; height: auto; border-right: 0;
  border-bottom: 1px solid var(--line); columns: 2 } nav h2 { break-after: avoid } main { padding: 0 1.5rem 3rem } td:first-child { width: auto } }
"""
_METHODS: Final = ("get", "post", "put", "patch", "delete")


def write_page(description: Mapping[str, Any]) -> str:
    """Write the page of an OpenAPI description."""
    groups = {
        tag["name"]: list(_operations_of(description, tag["name"])) for tag in description["tags"]
    }
    info = description["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])} interface</title><style>{_STYLE}</style></head>"
        '<body><div class="page"><header>'
        f"<h1>{escape(info['title'])} <small>interface {escape(info['version'])}</small></h1>"
        f"{_write_text(info['description'])}"
        '<p class="soft">For programs: <a href="/docs/openapi.json">openapi.json</a>, OpenAPI '
        f"{escape(description['openapi'])}.</p></header>{_write_contents(groups)}<main>"
        f"{''.join(_write_group(name, operations) for name, operations in groups.items())}"
        f"<h2>Events</h2>{''.join(map(_write_event, description['webhooks'].values()))}"
        f"<h2>Objects</h2>{''.join(map(_write_schema, description['components']['schemas'].items()))}"
        "</main></div></body></html>"
    )


def _operations_of(
    description: Mapping[str, Any], group: str
) -> Iterable[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in description["paths"].items():
        for method in _METHODS:
            if method in methods and group in methods[method]["tags"]:
                yield method, path, _resolve_responses(methods[method], description)


def _resolve_responses(
    operation: Mapping[str, Any], description: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Replace references to shared error responses by the responses."""
    shared = description["components"]["responses"]
    responses = {
        status: shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
        for status, response in operation["responses"].items()
    }
    return {**operation, "responses": responses}


def _write_contents(groups: Mapping[str, Any]) -> str:
    lists = (
        f"<h2>{escape(name)}</h2><ul>"
        + "".join(
            f'<li><a href="#{operation["operationId"]}">{escape(operation["summary"])}</a></li>'
            for _, _, operation in operations
        )
        + "</ul>"
        for name, operations in groups.items()
    )
    return f"<nav>{''.join(lists)}</nav>"


def _write_group(name: str, operations: Iterable[tuple[str, str, Mapping[str, Any]]]) -> str:
    return f"<h2>{escape(name)}</h2>" + "".join(
        _write_operation(method, path, operation) for method, path, operation in operations
    )


def _write_operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = [
        (
            f"<code>{escape(each['name'])}</code>",
            ("" if each["required"] else '<span class="soft">Optional.</span> ')
            + f"{mark_code(each['description'])} {_write_rules(each['schema'])}",
        )
        for each in operation["parameters"]
    ]
    body = operation.get("requestBody")
    responses = [
        (f"<code>{status}</code>", _write_response(response))
        for status, response in operation["responses"].items()
    ]
    return (
        f'<section id="{operation["operationId"]}"><h3>{escape(operation["summary"])}</h3>'
        f'<p class="call {method}"><b>{method}</b> {escape(path)}</p>'
        f"{_write_text(operation['description'])}<pre>{escape(_write_call(method, path, operation))}</pre>"
        f"{_write_scopes(operation)}"
        f"{_write_table('Parameters', parameters)}{_write_body(body) if body else ''}"
        f"{_write_table('Responses', responses)}</section>"
    )


def _write_scopes(operation: Mapping[str, Any]) -> str:
    names = dict.fromkeys(
        name for scheme in operation["security"] for names in scheme.values() for name in names
    )
    if not names:
        return ""
    listed = " or ".join(f"<code>{escape(name)}</code>" for name in names)
    return f'<p class="soft">Scope of the key: {listed}</p>'


def _write_event(methods: Mapping[str, Any]) -> str:
    event = methods["post"]
    headers = [
        (f"<code>{escape(each['name'])}</code>", mark_code(each["description"]))
        for each in event["parameters"]
    ]
    responses = [
        (f"<code>{status}</code>", mark_code(response["description"]))
        for status, response in event["responses"].items()
    ]
    fields = event["requestBody"]["content"]["application/json"]["schema"]["properties"]
    body = [
        (f"<code>{name}</code>", f"{mark_code(rules.get('description', ''))} {_name_schema(rules)}")
        for name, rules in fields.items()
    ]
    return (
        f'<section id="{event["operationId"]}"><h3>{escape(event["summary"])}</h3>'
        f"{_write_text(event['description'])}{_write_table('Headers', headers)}"
        f"{_write_table('Body', body)}{_write_table('Responses', responses)}</section>"
    )


def _write_call(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Return the request as a curl command; braces are placeholders."""
    required = [each for each in operation["parameters"] if each["required"]]
    query = "&".join(f"{one['name']}={{{one['name']}}}" for one in required if one["in"] == "query")
    parts = ["curl"] if method == "get" else [f"curl -X {method.upper()}"]
    if operation["security"]:
        parts.append('-H "Authorization: Bearer $PRESSROOM_KEY"')
    parts += (f"-H '{one['name']}: {{{one['name']}}}'" for one in required if one["in"] == "header")
    if body := operation.get("requestBody"):
        parts.append(f"-H 'Content-Type: {next(reversed(body['content']))}' --data-binary @FILE")
    if "application/pdf" in operation["responses"].get("200", {}).get("content", {}):
        parts.append("-o document.pdf")
    address = path + (f"?{query}" if query else "")
    return " ".join([*parts, f'"$PRESSROOM_URL{address}"'])


def _write_body(body: Mapping[str, Any]) -> str:
    optional = "" if body["required"] else ' <span class="soft">Optional.</span>'
    types = ", ".join(
        f"<code>{escape(media)}</code> {_name_schema(content['schema'])}".strip()
        for media, content in body["content"].items()
    )
    return f"<h4>Body</h4><p>{mark_code(body['description'])}{optional}</p><p>{types}</p>"


def _write_response(response: Mapping[str, Any]) -> str:
    parts = [re.sub(r"(ERR_\w+)", r"<code>\1</code>", escape(response["description"]))]
    parts += (
        _name_schema(content["schema"], media) for media, content in response["content"].items()
    )
    own = [name for name, header in response["headers"].items() if "$ref" not in header]
    if own:
        parts.append("Headers: " + ", ".join(f"<code>{escape(name)}</code>" for name in own) + ".")
    return " ".join(filter(None, parts))


def _write_schema(named: tuple[str, Mapping[str, Any]]) -> str:
    name, schema = named
    if "allOf" in schema:
        return ""  # an error body of certain codes, which the responses name
    required = schema.get("required", ())
    rows = [
        (
            f"<code>{escape(field)}</code>",
            ("" if field in required else '<span class="soft">Optional.</span> ')
            + f"{mark_code(rules.get('description', ''))} {_name_schema(rules)} {_write_rules(rules)}",
        )
        for field, rules in schema.get("properties", {}).items()
    ]
    return f'<section id="{escape(name)}"><h3>{escape(name)}</h3>{_write_table("", rows)}</section>'


def _name_schema(schema: Mapping[str, Any], media: str = "") -> str:
    """Return the name of a schema, with a link where it has its own section."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        # The error body is described once, above.
        return "" if name.endswith("Error") else f'<a href="#{escape(name)}">{escape(name)}</a>'
    if "allOf" in schema:
        return ""
    if schema.get("type") == "array":
        return f"List of {_name_schema(schema['items']) or 'objects'}."
    return f"<code>{escape(media)}</code>" if media else ""


def _write_rules(schema: Mapping[str, Any]) -> str:
    # Patterns are for programs; the description states the rule in words.
    rules = {
        name: schema[name]
        for name in ("enum", "minimum", "maximum", "minLength", "maxLength", "default")
        if name in schema
    }
    shown = ", ".join(
        f"{name} <code>{escape(json.dumps(value, ensure_ascii=False))}</code>"
        for name, value in rules.items()
    )
    return f'<span class="soft">{shown}</span>' if shown else ""


def _write_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><td>{name}</td><td>{text}</td></tr>" for name, text in rows)
    if not lines:
        return ""
    heading = f"<h4>{title}</h4>" if title else ""
    return f'{heading}<div class="wide"><table>{lines}</table></div>'


def _write_text(text: str) -> str:
    """Return HTML paragraphs."""
    paragraphs = text.strip().split("\n\n")
    return "".join(f"<p>{mark_code(paragraph)}</p>" for paragraph in paragraphs)
