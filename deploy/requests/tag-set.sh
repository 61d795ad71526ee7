#!/bin/sh
# PUT /v2/templates/{id}/tags/{tag}: point a tag at a version
set -eu
curl -sS --fail-with-body -X PUT "$PRESSROOM_URL/v2/templates/${1:?usage: tag-set.sh ID TAG VERSION}/tags/$2" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" \
    --data "{\"version\": $3}"
