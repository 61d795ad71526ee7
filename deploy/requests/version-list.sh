#!/bin/sh
# GET /v2/templates/{id}/versions: list the newest versions
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: version-list.sh ID}/versions" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
