"""Parameters of a request, checked by the schemas that describe them: step 4 of the order of checks (deploy/docs/api.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf

from flask import Request

from api.http import quote, read_query
from api.operations.model import Operation, Parameter
from api.operations.parameters import CHECKED_IN_PATHS, find_path_parameter
from shared.errors import ServiceError


def read_parameters(
    operation: Operation, in_path: Mapping[str, str], request: Request
) -> Mapping[str, str]:
    """Check the parameters of a request, and return those of its query.

    Raises:
        ServiceError: 400, a value does not have the form that the description says, or a parameter is missing,
            unknown, repeated or malformed.
    """
    query = read_query(request, tuple(parameter.name for parameter in operation.query))
    for name in in_path.keys() & CHECKED_IN_PATHS:
        check_value(find_path_parameter(operation, name), in_path[name])
    for parameter in operation.query:
        if parameter.name in query:
            check_value(parameter, query[parameter.name])
        elif parameter.is_required:
            raise ServiceError(
                400, f"The query parameter {parameter.name} is required. {parameter.description}"
            )
    return query


def check_value(parameter: Parameter, text: str) -> None:
    """Check a value by the schema of its parameter.

    Raises:
        ServiceError: 400, with the name, the value and what is accepted.
    """
    schema = parameter.schema
    if "enum" in schema:
        is_accepted, rule = text in schema["enum"], f"one of {', '.join(schema['enum'])}"
    elif schema["type"] == "integer":
        low, high = schema["minimum"], schema["maximum"]
        is_accepted = re.fullmatch("[0-9]{1,10}", text) is not None and low <= int(text) <= high
        rule = f"a whole number from {low} to {high}"
    else:
        low, high = schema.get("minLength", 0), schema.get("maxLength", inf)
        pattern = schema.get("pattern", r"[\s\S]*")
        is_accepted = low <= len(text) <= high and re.fullmatch(pattern, text) is not None
        described = schema.get("description", parameter.description).removesuffix(".")
        rule = described[0].lower() + described[1:]
        rule += f"; {low} to {high} characters" if high < inf else ""
    if not is_accepted:
        raise ServiceError(400, f"Invalid {parameter.name} {quote(text)}: accepted is {rule}.")
