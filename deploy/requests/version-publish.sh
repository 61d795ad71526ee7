#!/bin/sh
# POST /v2/templates/{id}/versions: publish the live content; MESSAGE is JSON text without its quotes
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/templates/${1:?usage: version-publish.sh ID [MESSAGE]}/versions" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"message\": \"${2:-}\"}"
