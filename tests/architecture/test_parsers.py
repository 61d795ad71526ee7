"""The front parses no body of a client but by the modules listed here (decision 0399)."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Imported in order to read what somebody sent, and turn it into objects.
PARSERS = [
    "configparser", "csv", "defusedxml", "email", "fontTools", "jinja2", "lxml", "mistune",
    "msgspec", "orjson", "pickle", "pikepdf", "PIL", "plistlib", "tarfile", "tomllib", "workers",
    "xml", "yaml", "zipfile", "shared.batches.csv_rows", "shared.batches.json_documents",
    "shared.templates.linking", "shared.templates.links", "shared.templates.links",
]  # fmt: skip
# Of modules that also write: `json.loads`, `html.unescape`.
READING = {"decode", "load", "loads", "JSONDecoder", "unescape"}
WRITERS = {"json", "json_text", "html"}
# What Flask has parsed, or read without a limit.
REQUEST = {"json", "get_json", "form", "files", "values", "get_data", "data", "stream"}
LINKS = "bounded by the elements that the engine accepts"
ALLOWED = {
    "api/account/administration.py csv": "writes it",
    "api/account/administration.py msgspec": "of an operator, at most 4 MB, into types of our own",
    "api/admission/body.py request.stream": "the one reader of bodies",
    "api/admission/json_body.py msgspec": "makes no objects of what members contain",
    "api/batches/submission.py shared.batches.csv_rows": "streamed, a row has at most 1 MB",
    "api/batches/submission.py shared.batches.json_documents": "streamed: brackets are counted, lines not parsed",
    "api/openapi/code_samples.py jinja2": "our own file",
    "api/openapi/record_schemas.py msgspec": "describes the types of our own records",
    "api/openapi/description.py json.loads": "our own file",
    "api/openapi/schemas.py json.loads": "our own file",
    "api/previews/routes.py shared.templates.linking": LINKS,
    "api/studio/documentation.py tomllib": "the list of our own pages",
    "api/previews/routes.py shared.templates.links": LINKS,
    "api/render/request.py shared.templates.linking": LINKS,
    "api/single_sign_on/provider.py json.loads": "the provider's token, not the client's",
    "api/templates/content.py shared.templates.links": "only of texts that are quickly parsed",
    "api/templates/content.py shared.templates.linking": LINKS,
    "api/templates/routes.py shared.templates.linking": LINKS,
    "api/templates/versions.py shared.templates.linking": LINKS,
    "api/templates/versions.py shared.templates.links": LINKS,
}


def parsers_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if is_parser(alias.name))
            case ast.ImportFrom(module=str(module), names=names):
                imported = {module, *(f"{module}.{alias.name}" for alias in names)}
                yield from (
                    name for name in PARSERS if name in imported or module.startswith(f"{name}.")
                )
                if module.split(".")[-1] in WRITERS:
                    yield from (
                        f"{module}.{alias.name}" for alias in names if alias.name in READING
                    )
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                if (name in WRITERS and attribute in READING) or (
                    name == "request" and attribute in REQUEST
                ):
                    yield f"{name}.{attribute}"


def is_parser(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in PARSERS)


def test_no_other_module_of_the_front_parses():
    found = {
        f"{path.relative_to(ROOT).as_posix()} {parser}"
        for path in (ROOT / "api").rglob("*.py")
        for parser in parsers_of(ast.parse(path.read_text()))
    }
    assert found == set(ALLOWED)
