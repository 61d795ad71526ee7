"""Checks shared by all uploads: names, base64 data, digests."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Final

from api.admission.body import Body
from api.admission.json_body import decode_string
from shared.errors import ServiceError
from shared.identifiers import IMAGE_NAME
from shared.limits import KB, MB

MAX_DATA_BYTES: Final = 20 * MB  # of the base64 form, decoded
_CHUNK_BYTES: Final = 64 * KB


def check_upload_name(name: str, *, kind: str) -> None:
    """Check the name of an `image` or a `font`.

    Raises:
        ServiceError: 400, with the violated rule.
    """
    if not 3 <= len(name) <= 64:
        rule = f"it has {len(name)} characters, accepted are 3 to 64"
    elif not IMAGE_NAME.match(name):
        rule = "accepted are lowercase letters, digits and single hyphens, no hyphen at an end"
    else:
        return
    raise ServiceError(400, f"Invalid {kind} name '{name[:100]}': {rule}.")


def read_upload_name(fields: Mapping[str, bytes], *, kind: str) -> str:
    """Return the name in a JSON body.

    Raises:
        ServiceError: 400, it is missing or violates a rule.
    """
    name = decode_string("name", fields.get("name", b""))
    if name is None:
        raise ServiceError(400, "The field name is required and must be a string.")
    check_upload_name(name, kind=kind)
    return name


def decode_data(field: bytes, *, kind: str, larger_hint: str) -> bytes:
    """Decode the JSON of a base64 field; `larger_hint` says how to send larger files.

    Raises:
        ServiceError: 400, not base64; 413, too large.
    """
    text = decode_string("data", field)
    if text is None:
        raise ServiceError(400, f"The field data must be a string: the {kind} in base64.")
    if len(text) > (MAX_DATA_BYTES + 2) // 3 * 4:
        raise _data_too_large(larger_hint)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ServiceError(
            400, "The field data must be base64 with padding and without line breaks."
        ) from error
    if len(data) > MAX_DATA_BYTES:
        raise _data_too_large(larger_hint)
    return data


def compute_sha256(body: Body) -> str:
    """Return the SHA-256 of an upload in hexadecimal; its file is at its start before and after."""
    digest = hashlib.sha256()
    while chunk := body.file.read(_CHUNK_BYTES):
        digest.update(chunk)
    body.file.seek(0)
    return digest.hexdigest()


def _data_too_large(larger_hint: str) -> ServiceError:
    return ServiceError(
        413, f"The field data is larger than {MAX_DATA_BYTES // MB} MB decoded; {larger_hint}."
    )
