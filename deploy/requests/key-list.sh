#!/bin/sh
# GET /v2/keys: list the keys of the account
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/keys" -H "Authorization: Bearer $PRESSROOM_KEY"
