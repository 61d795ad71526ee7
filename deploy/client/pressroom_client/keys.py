"""Keys of an account: `Pressroom.keys`."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom_client.records import read_record
from pressroom_client.schemas import Key
from pressroom_client.transport import Transport, omit_none, resource_path


class Keys:
    """The API keys of the account. The secret of a key is returned only when it is created."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> list[Key]:
        """Return all keys, including revoked and expired ones."""
        response = self._transport.request_json("GET", "/v2/keys")
        return [read_record(Key, each) for each in response["keys"]]

    def create(
        self,
        *,
        name: str | None = None,
        expires_at: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> Key:
        """Create a key; `expires_at` is an ISO 8601 timestamp. The secret is the record's `key`.

        `scopes` are of `read`, `render`, `templates` and `account`; by default those of this client's key.
        """
        fields: dict[str, object] = {**omit_none({"name": name, "expires_at": expires_at})}
        if scopes is not None:
            fields["scopes"] = [*scopes]
        return read_record(Key, self._transport.send_json("POST", "/v2/keys", fields))

    def revoke(self, key_id: str) -> None:
        """Revoke a key permanently."""
        self._transport.request("DELETE", resource_path("keys", key_id))
