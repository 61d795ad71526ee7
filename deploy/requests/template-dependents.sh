#!/bin/sh
# GET /v2/templates/{id}/dependents: list the templates that extend or import one
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: template-dependents.sh ID}/dependents" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
