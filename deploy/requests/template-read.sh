#!/bin/sh
# GET /v2/templates/{ref}: read a record and its content
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: template-read.sh REFERENCE}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
