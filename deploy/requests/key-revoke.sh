#!/bin/sh
# DELETE /v2/keys/{key_id}: revoke a key of the account permanently
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/keys/${1:?usage: key-revoke.sh ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
