#!/bin/sh
# GET /v2/templates/{id}/tags/{tag}/history: read the history of a tag
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: tag-history.sh ID TAG}/tags/$2/history" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
