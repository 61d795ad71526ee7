"""Operations of the API: each is declared by a decorator of its view, whose docstring describes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import partial
from string import Template
from typing import Any, ClassVar, Final, TypeVar

from flask import Blueprint, Response, g

from api.ports import Ports
from shared.auth.scopes import Scope
from shared.errors import ErrorCode

Schema = dict[str, Any]
TIMESTAMPS: Final = " ISO 8601, UTC, milliseconds."  # ends their descriptions

# White space, control characters and backslashes, in which parsers of addresses differ, are refused.
URL_PATTERN: Final = r"^https?://[^\x00-\x20\x7f\\@/?#][^\x00-\x20\x7f\\]*$"
PRINTABLE_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f]*$"


def ref(name: str) -> Schema:
    """Return a reference to a schema among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_schema(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return an object schema of a response; a later version may add fields."""
    left_out = frozenset(optional)
    required = [name for name in fields if name not in left_out]
    return {"type": "object", "properties": fields, "required": required}


def strict_object(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return an object schema of a request, which allows no other fields."""
    return {**object_schema(fields, optional=optional), "additionalProperties": False}


def array_of(name: str, **rules: Any) -> Schema:
    """Return an array schema over a schema among the components."""
    return {"type": "array", "items": ref(name), **rules}


def string(description: str, **rules: Any) -> Schema:
    """Return a string schema."""
    return {"type": "string", "description": description, **rules}


def enum_of(kinds: type[StrEnum], **rules: Any) -> Schema:
    """Return a string schema of an enum's values."""
    return {"type": "string", "enum": [kind.value for kind in kinds], **rules}


def integer(description: str, **rules: Any) -> Schema:
    """Return an integer schema; its minimum is 0 by default."""
    return {"type": "integer", "minimum": 0, "description": description, **rules}


def number(description: str, **rules: Any) -> Schema:
    """Return a number schema."""
    return {"type": "number", "description": description, **rules}


def boolean(description: str) -> Schema:
    """Return a boolean schema."""
    return {"type": "boolean", "description": description}


def date_time(description: str) -> Schema:
    """Return a string schema of a timestamp."""
    return string(description + TIMESTAMPS, format="date-time")


ErrorStatuses = Mapping[int, tuple[ErrorCode, ...]]
BODY_ERRORS: Final[ErrorStatuses] = {413: (), 415: ()}
_OF_FLASK: Final = str.maketrans("{}", "<>")
View = TypeVar("View", bound=Callable[..., Response])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path, query or header parameter (OpenAPI 3.1, 4.8.12)."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request body: its schema by content type."""

    content: Mapping[str, Schema]
    description: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class OperationResponse:
    """A successful response; `headers` maps its own headers to their descriptions."""

    description: str
    content: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method at one path, `/v2/templates/{template}`.

    The name of its view is that of the operation, in other capitals, unless `name` is set. `errors` lists its own,
    in addition to those of every operation with a key and to those that follow from its headers and its body.
    Of its `scopes` the key of a request must have one; by default they are those of its feature.
    """

    method: str
    path: str
    responses: Mapping[int, OperationResponse]
    path_parameters: tuple[Parameter, ...] = ()  # where they differ from PATH_PARAMETERS
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()  # of the request
    body: RequestBody | None = None
    errors: ErrorStatuses = field(default_factory=dict)
    scopes: frozenset[Scope] = frozenset()
    name: str = ""
    tag: str = ""
    summary: str = ""
    description: str = ""
    is_strict: bool = False  # the path has no other spelling, with a slash at its end
    is_described: bool = True
    is_operator: bool = False  # of /v2/admin, for keys of an operator
    reads: str = ""  # the kind of stored content that it sends, which an operator may have logged

    def __call__(self, view: View) -> View:
        """Declare a view to be of this operation."""
        view.operation = self  # type: ignore[attr-defined] # of a function
        return view

    @property
    def needs_key(self) -> bool:
        """Whether requests must have a key: those of every path under /v2."""
        return self.path.startswith("/v2/")

    @property
    def all_errors(self) -> ErrorStatuses:
        """The errors that follow from headers and body, and its own."""
        errors: dict[int, tuple[ErrorCode, ...]] = {}
        if self.takes("Idempotency-Key"):
            errors |= dict.fromkeys((409, 410, 422), ())
        if self.takes("If-Match") or self.takes("If-None-Match"):
            errors[412] = ()
        if self.body is not None:
            errors |= BODY_ERRORS
        return errors | dict(self.errors)

    def takes(self, header: str) -> bool:
        """Return whether requests may have a header."""
        return any(each.name == header for each in self.headers)


def json_content(name: str) -> Mapping[str, Schema]:
    """Return JSON content of a schema among the components."""
    return {"application/json": ref(name)}


def binary_content(*types: str) -> Mapping[str, Any]:
    """Return binary content of any of the types."""
    return {media: {"type": "string", "format": "binary"} for media in types}


def json_response(
    description: str, name: str, headers: Mapping[str, str] | None = None
) -> OperationResponse:
    """Return a response with JSON of a schema among the components."""
    return OperationResponse(description, json_content(name), headers or {})


class Routes:
    """The views of a feature, over the ports of this process.

    `words` replace `$name` in the paths and texts of operations. `scopes` are those of which a key must have one
    (decision 0378); for GET `read` suffices as well, unless `is_readable` is false. Without scopes each key is refused.
    """

    tag: ClassVar[str]
    scopes: ClassVar[frozenset[Scope]] = frozenset()
    is_readable: ClassVar[bool] = True
    is_operator: ClassVar[bool] = False
    words: ClassVar[Mapping[str, str]] = {}

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    @classmethod
    def operations(cls) -> Iterator[tuple[str, Operation]]:
        """Yield the name of each view with its operation, in the order of their definition."""
        for each in reversed(cls.__mro__):
            for name, view in vars(each).items():
                if hasattr(view, "operation"):
                    yield name, cls._describe(view, view.operation)

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint(type(self).__name__, __name__)
        for name, operation in self.operations():
            routes.add_url_rule(
                operation.path.translate(_OF_FLASK),
                endpoint=name,
                view_func=partial(_call, getattr(self, name), operation),
                methods=[operation.method],
                strict_slashes=operation.is_strict or None,
            )
        return routes

    @classmethod
    def _describe(cls, view: Callable[..., Response], operation: Operation) -> Operation:
        summary, _, description = (inspect.getdoc(view) or "").partition("\n\n")
        first, *others = view.__name__.split("_")
        described = replace(
            operation,
            name=operation.name or first + "".join(map(str.capitalize, others)),
            tag=cls.tag,
            scopes=operation.scopes or cls._scopes_of(operation.method),
            is_operator=cls.is_operator,
            summary=summary.removesuffix("."),
            description=" ".join(description.split()),
        )
        return _fill(described, cls.words) if cls.words else described

    @classmethod
    def _scopes_of(cls, method: str) -> frozenset[Scope]:
        reads = method == "get" and cls.is_readable and cls.scopes
        return cls.scopes | {Scope.READ} if reads else cls.scopes


def current_query() -> Mapping[str, str]:
    """Return the query parameters of the request, which are of its operation."""
    query: Mapping[str, str] = g.query
    return query


def find_operation(view: Any) -> Operation | None:
    """Return the operation of a view of an app, None if it belongs to none."""
    match view:
        case partial(args=(_, Operation() as operation)):
            return operation
    return None


def _call(view: Callable[..., Response], operation: Operation, **values: str) -> Response:
    del operation  # that of `find_operation`
    return view(*values.values())  # in the order of the path


def _fill(value: Any, words: Mapping[str, str]) -> Any:
    match value:
        case str():
            return Template(value).safe_substitute(words)
        case Mapping():
            return {_fill(name, words): _fill(each, words) for name, each in value.items()}
        case Operation() | OperationResponse() | RequestBody():
            filled = {each.name: _fill(getattr(value, each.name), words) for each in fields(value)}
            return replace(value, **filled)
        case _:
            return value


get: Final = partial(Operation, "get")
post: Final = partial(Operation, "post")
put: Final = partial(Operation, "put")
patch: Final = partial(Operation, "patch")
delete: Final = partial(Operation, "delete")
