"""Dependencies are used as they document it: nothing of theirs is replaced (decision 0380).

ruff's SLF001 finds names with an underscore that are read. Here: what is assigned to, and which
methods of their classes are overridden.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("api", "shared", "workers", "deploy")
# Run by others, in a process of their own.
NOT_IMPORTED = ("api/wsgi.py", "workers/farm/app.py", "api/gunicorn_conf.py", "deploy/client/")  # fmt: skip

# Overridden: class and attribute, and where it is documented that subclasses define it.
EXTENSION_POINTS: Mapping[str, str] = {
    "setuptools.command.build_py.build_py.run": "setuptools, Extending or Customizing, cmdclass",
    "setuptools.Command.run": "setuptools, Extending or Customizing, cmdclass",
    "werkzeug.routing.converters.BaseConverter.regex": "Werkzeug, URL Routing, Custom Converters",
    "werkzeug.routing.converters.BaseConverter.weight": "Werkzeug, URL Routing, Custom Converters",
    "werkzeug.routing.converters.BaseConverter.part_isolating": "Werkzeug, URL Routing, Custom Converters",
    "prometheus_client.registry.Collector.collect": "prometheus_client, Custom Collectors",
    "celery.bootsteps.StartStopStep.start": "Celery, Extensions and Bootsteps",
    "celery.bootsteps.StartStopStep.stop": "Celery, Extensions and Bootsteps",
    "celery.bootsteps.StartStopStep.name": "Celery, Extensions and Bootsteps",
    "celery.bootsteps.Step.name": "Celery, Extensions and Bootsteps",
    "celery.bootsteps.Step.requires": "Celery, Extensions and Bootsteps",
    "celery.app.task.Task.abstract": "Celery, Tasks, Custom task classes",
    "celery.app.task.Task.acks_late": "Celery, Tasks, List of Options",
    "celery.app.task.Task.ignore_result": "Celery, Tasks, List of Options",
    "celery.app.task.Task.reject_on_worker_lost": "Celery, Tasks, List of Options",
    "celery.app.task.Task.typing": "Celery, Tasks, Argument checking",
    "celery.app.task.Task.on_failure": "Celery, Tasks, Handlers",
    "kombu.transport.virtual.base.Channel.Message": "kombu, kombu.transport.virtual, Channel.Message",
    "kombu.transport.virtual.base.Channel.do_restore": "kombu, kombu.transport.virtual, Channel.do_restore",
    "kombu.transport.virtual.base.Transport.Channel": "kombu, kombu.transport.virtual, Transport.Channel",
    "kombu.transport.redis.Transport.Channel": "kombu, kombu.transport.virtual, Transport.Channel",
    "kombu.transport.pyamqp.Channel.Message": "kombu, kombu.transport.pyamqp, Channel.Message",
    "kombu.transport.pyamqp.Connection.Channel": "kombu, kombu.transport.pyamqp, Connection.Channel",
    "kombu.transport.pyamqp.Transport.Connection": "kombu, kombu.transport.pyamqp, Transport.Connection",
    "amqp.connection.Connection.Channel": "amqp, amqp.connection, Connection.Channel",
    "kombu.transport.base.Transport.connection_errors": "kombu, kombu.transport.base, Transport.connection_errors",
    "kombu.transport.redis.Transport.connection_errors": "the same",
    "sqlalchemy.sql.type_api.TypeDecorator.process_bind_param": "SQLAlchemy, Augmenting Existing Types",
    "sqlalchemy.sql.type_api.TypeDecorator.process_result_value": "SQLAlchemy, Augmenting Existing Types",
    "sqlalchemy.sql.type_api.ExternalType.cache_ok": "SQLAlchemy, ExternalType.cache_ok",
    "pyhanko.sign.timestamps.api.TimeStamper.async_request_tsa_response": "pyHanko, TimeStamper: for subclasses",
    "pyhanko.sign.signers.pdf_cms.Signer.async_sign_raw": "pyHanko, Extending Signer",
    "pikepdf._core.StreamParser.handle_object": "pikepdf, Support models, StreamParser: must be subclassed",
    "pikepdf._core.StreamParser.handle_eof": "the same",
}
# Overridden without a clause that says so; decision 0380 names each, and the test that would notice.
EXCEPTIONS: Mapping[str, str] = {
    "jinja2.lexer.Lexer.wrap": "tests/engine/tree: positions and line breaks of expressions",
    "jinja2.environment.Environment.lexer": "the same",
    "kombu.transport.virtual.base.Channel.basic_reject": "tests/farm/test_redis_restart.py: a stall (decision 0311)",
    "psycopg.Connection.wait": "tests/system/services/test_postgresql.py: a stopped server (decision 0380)",
    "gunicorn.workers.base.Worker.handle_error": "tests/api/sockets: JSON for what gunicorn refuses (decision 0310)",
    "gunicorn.http.body.ChunkedReader.read": "tests/api/sockets: a connection ends after a broken body (decision 0310)",
    "gunicorn.http.body.ChunkedReader.parse_chunk_size": "tests/api/sockets: chunks are bounded (decision 0310)",
}
# Assigned: what is on the left, and where it is documented as a setting.
SETTINGS: Mapping[str, str] = {
    "flask.g": "Flask, The Application Context: a namespace for the application's own values",
    "PIL.Image.MAX_IMAGE_PIXELS": "Pillow, Image.open: the limit may be changed",
    "reportlab.rl_config.useA85": "ReportLab User Guide, Site Configuration; its chapter on fonts assigns",
    "prometheus_client.values.ValueClass": "client_python 509; the docstring of MultiProcessValue",
    "context.sslsocket_class": "Python, ssl, SSLContext.sslsocket_class",
}
# Special methods that others call; to construct and to compare is each class's own.
_CALLED = frozenset(
    {"__call__", "__getattr__", "__getattribute__", "__setattr__", "__enter__", "__exit__"}
    | {"__iter__", "__next__", "__getitem__", "__setitem__"}
)


def sources() -> Iterator[tuple[str, Path]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            yield name, path


def is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in ROOMS and top not in sys.stdlib_module_names


@pytest.mark.long
def test_no_method_of_a_dependency_is_overridden_outside_its_extension_points():
    found: dict[str, list[str]] = {}
    for name, path in sources():
        if name.startswith(NOT_IMPORTED) or path.name == "__main__.py":
            continue
        module = importlib.import_module(
            name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        )
        for own, overridden in overrides(module):
            found.setdefault(overridden, []).append(f"{name}: {own}")
    allowed = EXTENSION_POINTS.keys() | EXCEPTIONS.keys()
    new = {key: places for key, places in found.items() if key not in allowed}
    assert new == {}, "use what the dependency documents, or say why not in deploy/decisions/0380"
    assert allowed - found.keys() == set(), "no longer overridden"


def overrides(module: Any) -> Iterator[tuple[str, str]]:
    """Yield each attribute that a class of a module has instead of one of a dependency's class."""
    for kind in vars(module).values():
        if not inspect.isclass(kind) or kind.__module__ != module.__name__:
            continue
        for base in kind.__mro__[1:]:
            if is_foreign(base.__module__):
                for name in vars(kind).keys() & vars(base).keys():
                    if is_overriding(name, vars(kind)[name]):
                        yield f"{kind.__name__}.{name}", f"{base.__module__}.{base.__name__}.{name}"


def is_overriding(name: str, value: Any) -> bool:
    """Return whether the name is in the source, rather than being added by Python."""
    if name.startswith("__"):
        return name in _CALLED and inspect.isfunction(value)
    return name not in ("_abc_impl", "_is_protocol")


@pytest.mark.long
def test_no_attribute_of_a_dependency_is_assigned():
    found = {
        target: f"{name}:{line}" for name, path in sources() for target, line in assignments(path)
    }
    new = {target: place for target, place in found.items() if target not in SETTINGS}
    assert new == {}, "use what the dependency documents, or say why not in deploy/decisions/0380"
    assert SETTINGS.keys() - found.keys() == set(), "no longer assigned"


def assignments(path: Path) -> Iterator[tuple[str, int]]:
    """Yield what is assigned of imported modules and classes, and functions put on other objects."""
    tree = ast.parse(path.read_text())
    imported = find_imported(tree)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    own = {node.name for node in tree.body if isinstance(node, kinds)}
    own |= {f"self.{node.name}" for node in ast.walk(tree) if is_method(node)}
    for node in ast.walk(tree):
        for target, value in find_targets(node):
            root = target
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value  # type: ignore[assignment]
            if not isinstance(root, ast.Name) or root.id in ("self", "cls"):
                continue
            if root.id in imported:
                foreign = imported[root.id]
                if is_foreign(foreign):
                    yield (
                        foreign if foreign in SETTINGS else f"{foreign}.{target.attr}",
                        node.lineno,
                    )
            elif is_code(value, own) or (
                target.attr.startswith("__") and target.attr != "__cause__"
            ):
                yield ast.unparse(target), node.lineno


def find_imported(tree: ast.AST) -> dict[str, str]:
    """Return what each imported name represents."""
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                imported[each.asname or each.name.partition(".")[0]] = each.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                imported[each.asname or each.name] = f"{node.module}.{each.name}"
    return imported


def find_targets(node: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """Yield the attributes that a statement assigns, or a call of `setattr`, and what to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=value):
            targets = [target]
        case ast.Delete(targets=targets):
            value = None
        case ast.Call(
            func=ast.Name(id="setattr" | "delattr"), args=[held, ast.Constant(value=name), *rest]
        ):
            targets, value = [ast.Attribute(held, name)], rest[0] if rest else None
        case _:
            return
    for target in targets:
        parts = list(target.elts) if isinstance(target, ast.Tuple) else [target]
        is_unpacked = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        values = list(value.elts) if is_unpacked else [value] * len(parts)
        for part, given in zip(parts, values, strict=True):
            if isinstance(part, ast.Attribute):
                yield part, given


def is_code(value: ast.expr | None, own: set[str]) -> bool:
    """Return whether a function, a method or a class of this file is assigned."""
    match value:
        case ast.Lambda() | ast.Call(func=ast.Name(id="type" | "partial")):
            return True
        case ast.Name() | ast.Attribute():
            return ast.unparse(value) in own
        case _:
            return False


def is_method(node: ast.AST) -> bool:
    """Return whether a node is a function; a property is a value."""
    return isinstance(node, ast.FunctionDef) and "property" not in map(
        ast.unparse, node.decorator_list
    )
