"""Messages as kombu's Redis transport has them in a list, for tests that look at or change them."""

from __future__ import annotations

import base64
import json
from typing import Any


def read_body(message: bytes | str) -> Any:
    """Return arguments, named arguments and what is to follow."""
    return json.loads(base64.b64decode(json.loads(message)["body"]))


def read_argument(message: bytes | str) -> Any:
    """Return the one argument of a task of the farm."""
    (argument,), _, _ = read_body(message)
    return argument


def write_body(message: bytes | str, body: bytes | str) -> str:
    """Return the message with another body."""
    data = body.encode() if isinstance(body, str) else body
    return json.dumps({**json.loads(message), "body": base64.b64encode(data).decode()})


def read_message(message: bytes | str) -> tuple[str, Any]:
    """Return the name of the task of a message, and its one argument."""
    return json.loads(message)["headers"]["task"], read_argument(message)


def read_task_id(message: bytes | str) -> str:
    """Return the id of a task, which is that of its job."""
    return str(json.loads(message)["headers"]["id"])
