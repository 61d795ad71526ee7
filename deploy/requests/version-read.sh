#!/bin/sh
# GET /v2/templates/{id}/versions/{version}: read a version and its content
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: version-read.sh ID VERSION}/versions/$2" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
