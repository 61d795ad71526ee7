"""Keys of an account: `Pressroom.keys`."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom_client.schemas import Key
from pressroom_client.transport import Transport, resource_path


class Keys:
    """The API keys of the account. The secret of a key is returned only when it is created."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> list[Key]:
        """Return all keys, including revoked and expired ones."""
        return self._transport.read_page(Key, "/v2/keys", "keys")

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
        given = {"name": name, "expires_at": expires_at, "scopes": scopes and [*scopes]}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._transport.read(Key, "POST", "/v2/keys", fields=fields)

    def revoke(self, key_id: str) -> None:
        """Revoke a key permanently."""
        self._transport.request("DELETE", resource_path("keys", key_id))
