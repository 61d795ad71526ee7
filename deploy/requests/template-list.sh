#!/bin/sh
# GET /v2/templates: list the templates of the account by id
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates?limit=${1:-100}" -H "Authorization: Bearer $PRESSROOM_KEY"
