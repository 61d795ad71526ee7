#!/bin/sh
# POST /v2/slugs: assign a slug to a template
set -eu
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/slugs" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"slug\": \"${1:?usage: slug-assign.sh SLUG ID}\", \"template\": \"$2\"}"
