#!/bin/sh
# POST /v2/keys: create a key, with one scope or all; prints the secret, which is returned only here
set -eu
name="${1:?usage: key-create.sh NAME [SCOPE]}"
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/keys" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"name\": \"$name\"${2:+, \"scopes\": [\"$2\"]}}"
