#!/bin/sh
# GET /v2/templates/{id}/tags/{tag}: read the version a tag points to
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: tag-read.sh ID TAG}/tags/$2" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
